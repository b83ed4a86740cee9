import type { Gap } from '../../domain/freshness/types.ts';
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
import { type ManageArgs, manageInput, type OpenArgs, openInput, PLAN_LIFE_MS } from './input.ts';
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
import { formatIssues, managePathsOf, OPEN_PATHS, withSurfaceNames } from './surface-names.ts';

/** A previewed open. */
export interface LeveragePreviewView extends Estimate {
  readonly terms: OpenTerms;
  readonly position: PositionPreviewView;
  readonly note: string;
}

/** A plan that opens or manages a position. */
export interface LeveragePlanView extends PlanBaseView {
  readonly plan: Plan;
  readonly path: Path;
  readonly position: PositionPreviewView | null;
  /** Whole tokens. */
  readonly amountFlashLoan: string | null;
  readonly minTokenOut: string | null;
  readonly depositBasisBefore: string | null;
}

/** Preview an open without a wallet. @throws the refusals of the builders */
export async function previewLeverage(input: OpenArgs, ctx: AppContext): Promise<LeveragePreviewView> {
  return withSurfaceNames(ctx, OPEN_PATHS, async () => {
    const prepared = await ctx.live().leverage.preview(openInput(input, ctx));
    const { terms } = prepared;
    const issues = formatIssues(prepared.issues, ctx);
    const position = positionOfOpen(prepared);
    const swaps = [...(terms.entrySwap ? [terms.entrySwap] : []), terms.leverageSwap];
    const note = [
      'A preview on current prices; building takes fresh quotes.',
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
    return {
      ...common,
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
        ...absences(['reallocationFeeWei', reallocationFeeOf(terms), 'NOT_APPLICABLE', 'No liquidity is moved.']),
      ],
    };
  });
}

/** The fee of vaults for moving liquidity into the market, wei; `null` = none is moved. */
export function reallocationFeeOf({ reallocations }: OpenTerms): bigint | null {
  return reallocations.length === 0 ? null : reallocations.reduce((sum, { feeWei }) => sum + feeWei, 0n);
}

/** Build an open. @throws the refusals of the builders */
export function openPosition(wallet: Address, input: OpenArgs, ctx: AppContext): Promise<LeveragePlanView> {
  return withSurfaceNames(ctx, OPEN_PATHS, async () =>
    formatPlan(await ctx.live().leverage.open(openInput(input, ctx), wallet), ctx),
  );
}

/** Build a manage or close transaction. @throws the refusals of the builders */
export function managePosition(wallet: Address, input: ManageArgs, ctx: AppContext): Promise<LeveragePlanView> {
  const given = manageInput(wallet, input, ctx);
  const paths = managePathsOf(given, input.position.id != null);
  return withSurfaceNames(ctx, paths, async () => formatPlan(await ctx.live().leverage.manage(given), ctx));
}

function formatPlan(plan: Plan, ctx: AppContext): LeveragePlanView {
  const { chain, market, swaps } = plan;
  const position = positionOfPlan(plan);
  const last = swaps.at(-1);
  const fields = planFields(plan, [...plan.approvals, plan.tx], ctx);
  const { common } = estimateOfPlan(plan, ctx);
  const view = {
    ...common,
    chainId: chain.chainId,
    strategyId: market.id as string as StrategyId,
    action: plan.action,
    ...fields,
    atomicRequired: false,
    expiresAtMs: plan.expiresAtMs ?? secondOf(ctx) + PLAN_LIFE_MS,
    plan,
    path: plan.path,
    position,
    amountFlashLoan: plan.amountFlashLoan === undefined ? null : loanAmount(plan, plan.amountFlashLoan),
    minTokenOut: last ? formatUnitsPlain(last.minOut, last.tokenOut.decimals) : null,
    depositBasisBefore: plan.basisBefore === undefined ? null : loanAmount(plan, plan.basisBefore),
    received: plan.received ?? null,
  };
  return { ...view, gaps: leveragePlanGaps(view) };
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

function leveragePlanGaps(view: Omit<LeveragePlanView, 'gaps'>): readonly Gap[] {
  const { plan, position } = view;
  const opens = 'An open has no position before it.';
  const swapless = 'Nothing is swapped.';
  const [reason, why] = plan.before
    ? (['NONE', 'The position owes nothing.'] as const)
    : (['NOT_APPLICABLE', opens] as const);
  return [
    ...estimateGaps(view),
    ...planGaps(view),
    ...absences(
      ['position', position, 'NOT_APPLICABLE', 'No position is left.'],
      ['positionIndex', plan.held, 'NOT_APPLICABLE', opens],
      [
        'ltvBeforePct',
        ltvBeforeOf(plan),
        'NOT_APPLICABLE',
        plan.before ? 'The oracle says that the collateral is worth nothing.' : opens,
      ],
      ['depositBasisBefore', view.depositBasisBefore, 'NOT_APPLICABLE', opens],
      ['liquidationBefore', liquidationBeforeOf(plan), reason, why],
      ['amountFlashLoan', view.amountFlashLoan, 'NOT_APPLICABLE', 'No flash loan is taken.'],
      ['minTokenOut', view.minTokenOut, 'NOT_APPLICABLE', swapless],
      ['quotesExpireAt', plan.expiresAtMs, 'NOT_APPLICABLE', swapless],
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
