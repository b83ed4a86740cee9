import type { Gap } from '../../domain/freshness/types.ts';
import type { ManageArgs, OpenArgs } from '../../schema/transaction/leverage-inputs.ts';
import { PLAN_EXPIRY_SEC } from '../../shared/contract/plan-expiry.ts';
import { type Decimal, formatPct, formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address, StrategyId } from '../../shared/ids.ts';
import {
  type Cost,
  countsIncentive,
  feeNotes,
  incentiveNote,
  type OpenTerms,
  type Path,
  type Plan,
  pricedAt,
  type QuoteAge,
  swapNote,
} from '../../transactions/index.ts';
import { secondOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import {
  absences,
  type Estimate,
  estimateGaps,
  formatCosts,
  type PlanBaseView,
  planFields,
  planGaps,
  type WorstCaseView,
} from './estimate.ts';
import { manageInput, type OnChain, openInput } from './input.ts';
import {
  basisOfPlan,
  costsOf,
  liquidationBeforeOf,
  loanAmount,
  ltvBeforeOf,
  type PositionPreviewView,
  positionGaps,
  positionOfOpen,
  positionOfPlan,
  type WorstCase,
  worstCaseOf,
  worstCaseOfPlan,
} from './position-preview.ts';
import { PREVIEW_NOTE, type PreviewView, previewGaps, quotesAsOf, type SideView, WORTHLESS } from './previewed.ts';
import { inNamesOf, inputIn, managePathsOf, openPaths, spelled } from './request-names.ts';

/** A previewed open. */
export interface LeveragePreviewView extends PreviewView {
  readonly terms: OpenTerms;
  readonly position: PositionPreviewView;
}

/** A previewed action on a position. */
export interface ManagePreviewView extends PreviewView, PlannedLeverageView {}

/** A plan that opens or manages a position. */
export interface LeveragePlanView extends PlanBaseView, PlannedLeverageView {}

/** The part of a plan that its preview has as well. */
export interface PlannedLeverageView extends Estimate {
  readonly plan: Plan;
  readonly path: Path;
  readonly position: PositionPreviewView | null;
  /** Whole tokens. */
  readonly amountFlashLoan: string | null;
  readonly minTokenOut: string | null;
  readonly depositBasisBefore: string | null;
}

/** Preview an open without a wallet. @throws the refusals of the builders */
export async function previewLeverage(
  input: OnChain<OpenArgs>,
  age: QuoteAge,
  ctx: AppContext,
): Promise<LeveragePreviewView> {
  const at = inputIn(ctx, 'openLeverage');
  return inNamesOf(ctx, openPaths(at), async () => {
    const prepared = await ctx.live().leverage.preview(openInput(input, ctx, at), age);
    const { terms } = prepared;
    const issues = spelled(prepared.issues, ctx);
    const position = positionOfOpen(prepared);
    const swaps = [...(terms.entrySwap ? [terms.entrySwap] : []), terms.leverageSwap];
    const note = [
      PREVIEW_NOTE,
      ...swaps.map(swapNote),
      ...feeNotes(prepared),
      ...incentiveNote(countsIncentive(terms.preview), true),
      ...issues.map(({ message }) => message),
    ].join(' ');
    const common = {
      costs: formatCosts(costsOf(position, ctx)),
      totalSwapCostPctOfEquity: pctText(position.basis.totalSwapCostPctOfEquity),
      worstCase: formatWorstCase(worstCaseOf(position)),
      priced: pricedAt(prepared.live),
    };
    const parts = {
      before: null,
      after: sideAfter(position),
      amounts: { token: terms.payToken, smallest: 'quotes', largest: 'quotes' } as const,
      quotesAsOfMs: quotesAsOf(swaps),
    };
    return {
      ...common,
      ...parts,
      chainId: terms.chainId,
      strategyId: terms.strategyId,
      action: 'open_leverage',
      slippage: terms.slippage.value,
      issues,
      terms,
      position,
      note,
      gaps: [
        ...estimateGaps(common),
        ...positionGaps(position),
        ...previewGaps(parts, { before: OPENS, after: NONE_LEFT, amounts: NO_AMOUNT }),
        ...absences(['reallocationFeeWei', reallocationFeeOf(terms), 'NOT_APPLICABLE', 'No liquidity is moved.']),
      ],
    };
  });
}

const OPENS = 'An open has no position before it.';
const NONE_LEFT = 'No position is left.';
const NO_AMOUNT = 'The action takes a target in place of an amount.';

function sideAfter({ market, preview, live: { price } }: PositionPreviewView): SideView {
  return { market, state: preview.after, price, apyPct: pctText(preview.expectedLeverageApyPct) };
}

/** Preview an action on a position. @throws the refusals of its build */
export function previewManage(
  wallet: Address | null | undefined,
  input: ManageArgs,
  age: QuoteAge,
  ctx: AppContext,
): Promise<ManagePreviewView> {
  const at = inputIn(ctx, 'manageLeverage');
  const given = manageInput(wallet, input, ctx, at);
  return inNamesOf(ctx, managePathsOf(given, at), async () => {
    const plan = await ctx.live().leverage.previewManage(given, age);
    const view = plannedView(plan, ctx);
    const { market, live, before } = plan;
    const parts = {
      before: before ? { market, state: before, price: live.price, apyPct: pctText(plan.apyBeforePct) } : null,
      after: view.position && sideAfter(view.position),
      amounts: plan.amounts ?? null,
      quotesAsOfMs: quotesAsOf(plan.swaps),
    };
    const messages = view.issues.map(({ message }) => message);
    return {
      ...view,
      ...parts,
      note: [PREVIEW_NOTE, ...plan.notes, ...messages].join(' '),
      gaps: [
        ...estimateGaps(view),
        ...plannedGaps(view),
        ...previewGaps(parts, { before: OPENS, after: NONE_LEFT, amounts: NO_AMOUNT }),
      ],
    };
  });
}

/** The fee of vaults for moving liquidity into the market, wei; `null` = none is moved. */
export function reallocationFeeOf({ reallocations }: OpenTerms): bigint | null {
  return reallocations.length === 0 ? null : reallocations.reduce((sum, { feeWei }) => sum + feeWei, 0n);
}

/** Build an open. @throws the refusals of the builders */
export function openPosition(wallet: Address, input: OnChain<OpenArgs>, ctx: AppContext): Promise<LeveragePlanView> {
  return inNamesOf(ctx, openPaths(), async () =>
    formatPlan(await ctx.live().leverage.open(openInput(input, ctx), wallet), ctx),
  );
}

/** Build a manage or close transaction. @throws the refusals of the builders */
export function managePosition(wallet: Address, input: ManageArgs, ctx: AppContext): Promise<LeveragePlanView> {
  const given = manageInput(wallet, input, ctx);
  const paths = managePathsOf(given);
  return inNamesOf(ctx, paths, async () => formatPlan(await ctx.live().leverage.manage(given), ctx));
}

function formatPlan(plan: Plan, ctx: AppContext): LeveragePlanView {
  const view = {
    ...plannedView(plan, ctx),
    ...planFields(plan, [...plan.approvals, plan.tx], ctx),
    atomicRequired: false,
    // Without quotes: its worst case is that of a minute later.
    expiresAtMs: plan.expiresAtMs ?? secondOf(ctx) + PLAN_EXPIRY_SEC * 1_000,
    received: plan.received ?? null,
  };
  const [reason, why] = plan.before
    ? (['NONE', 'The position owes nothing.'] as const)
    : (['NOT_APPLICABLE', OPENS] as const);
  return {
    ...view,
    gaps: [
      ...estimateGaps(view),
      ...planGaps(view),
      ...plannedGaps(view),
      ...absences(
        ['ltvBeforePct', ltvBeforeOf(plan), 'NOT_APPLICABLE', plan.before ? WORTHLESS : OPENS],
        ['liquidationBefore', liquidationBeforeOf(plan), reason, why],
        ['quotesExpireAt', plan.expiresAtMs, 'NOT_APPLICABLE', SWAPLESS],
      ),
    ],
  };
}

/** Everything that a plan decides beside its calls. */
function plannedView(plan: Plan, ctx: AppContext): Omit<PlannedLeverageView, 'gaps'> {
  const { chain, market, swaps } = plan;
  const last = swaps.at(-1);
  return {
    ...estimateOfPlan(plan, ctx).common,
    chainId: chain.chainId,
    strategyId: market.id as string as StrategyId,
    action: plan.action,
    slippage: plan.slippage.value,
    issues: spelled(plan.issues, ctx),
    plan,
    path: plan.path,
    position: positionOfPlan(plan),
    amountFlashLoan: plan.amountFlashLoan === undefined ? null : loanAmount(plan, plan.amountFlashLoan),
    minTokenOut: last ? formatUnitsPlain(last.minOut, last.tokenOut.decimals) : null,
    depositBasisBefore: plan.basisBefore === undefined ? null : loanAmount(plan, plan.basisBefore),
  };
}

/** The part of an estimate that follows from a plan, and its costs before they are formatted. */
export function estimateOfPlan(
  plan: Plan,
  ctx: AppContext,
): {
  readonly costs: readonly Cost[];
  readonly common: Pick<Estimate, 'costs' | 'totalSwapCostPctOfEquity' | 'worstCase' | 'priced'>;
} {
  const { chain, market, live } = plan;
  const basis = basisOfPlan(plan);
  const worst = worstCaseOfPlan(plan);
  const costs = costsOf({ chain, market, basis }, ctx);
  return {
    costs,
    common: {
      costs: formatCosts(costs),
      totalSwapCostPctOfEquity: pctText(basis.totalSwapCostPctOfEquity),
      worstCase: worst && formatWorstCase(worst),
      priced: pricedAt(live),
    },
  };
}

const SWAPLESS = 'Nothing is swapped.';

function plannedGaps(view: Omit<PlannedLeverageView, 'gaps'>): readonly Gap[] {
  const { plan, position } = view;
  return [
    ...absences(
      ['position', position, 'NOT_APPLICABLE', NONE_LEFT],
      ['positionIndex', plan.held, 'NOT_APPLICABLE', OPENS],
      ['depositBasisBefore', view.depositBasisBefore, 'NOT_APPLICABLE', OPENS],
      ['amountFlashLoan', view.amountFlashLoan, 'NOT_APPLICABLE', 'No flash loan is taken.'],
      ['minTokenOut', view.minTokenOut, 'NOT_APPLICABLE', SWAPLESS],
    ),
    ...(position ? positionGaps(position) : []),
  ];
}

function pctText(pct: Decimal | undefined): string | null {
  return pct === undefined ? null : formatPct(pct);
}

function formatWorstCase({ equity, paidOut, ltvPct }: WorstCase): WorstCaseView {
  return {
    equity: equity.toFixed(),
    paidOut: paidOut?.toFixed() ?? null,
    ltvPct: ltvPct ? formatPct(ltvPct) : null,
    yieldLtvPct: null,
  };
}
