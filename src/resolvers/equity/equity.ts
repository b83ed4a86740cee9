import type { EquityPosition } from '../../domain/equity/position.ts';
import type { DepositArgs, ExitArgs } from '../../schema/equity/equity-inputs.ts';
import { formatPct } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltBatch, BuiltExit, DepositPreview } from '../../transactions/equity/index.ts';
import type { QuoteAge } from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';
import {
  absences,
  depositEstimate,
  type Estimate,
  estimateGaps,
  formatCosts,
  type PlanBaseView,
  planFields,
  planGaps,
  type WorstCaseView,
} from '../transaction/estimate.ts';
import { depositInput, exitInput, type OnChain } from '../transaction/input.ts';
import { PREVIEW_NOTE, type PreviewView, previewGaps, quotesAsOf } from '../transaction/previewed.ts';
import { equityPaths, inNamesOf, inputIn, spelled } from '../transaction/request-names.ts';

/** A previewed deposit into a vault. */
export interface DepositPreviewView extends PreviewView {
  readonly worstCase: WorstCaseView;
  readonly deposit: DepositPreview;
}

/** A previewed exit from a vault. */
export interface ExitPreviewView extends PreviewView, ExitView {
  readonly worstCase: WorstCaseView;
}

export interface DepositPlanView extends PlanBaseView {
  readonly worstCase: WorstCaseView;
  readonly deposit: DepositPreview;
}

export interface ExitPlanView extends PlanBaseView, ExitView {
  readonly worstCase: WorstCaseView;
}

/** The part of an exit that its plan and its preview have. */
export interface ExitView extends Estimate {
  readonly worstCase: WorstCaseView;
  /** The vault before the exit. */
  readonly position: EquityPosition;
  /** Indexes of the loops that are closed, in order. */
  readonly closes: readonly number[];
}

/** Preview a deposit into a vault; a wallet is needed only for its own stock leg. @throws the refusals of the builders */
export function vaultDepositPreview(
  wallet: Address | null | undefined,
  input: OnChain<DepositArgs>,
  age: QuoteAge,
  ctx: AppContext,
): Promise<DepositPreviewView> {
  const at = inputIn(ctx, 'equityDeposit');
  return inNamesOf(ctx, equityPaths(at), async () => {
    const given = { ...depositInput(input, ctx, at), user: wallet ?? undefined };
    const { terms, slippage, note, stockBefore, stockMarket, ...previewed } = await ctx
      .live()
      .equity.preview(given, age);
    const { vault, swaps, preview } = terms;
    const issues = spelled(previewed.issues, ctx);
    const estimate = depositEstimate(preview, { slippage: slippage.value, issues });
    const [market, { price }] = [vault.stockMarket, stockMarket];
    const held = stockBefore ?? { collateral: 0n, debt: 0n };
    const state = { collateral: held.collateral + swaps.stock.expectedOut, debt: held.debt + terms.stockBorrow };
    const parts = {
      before: held.collateral > 0n || held.debt > 0n ? { market, state: held, price, apyPct: null } : null,
      after: { market, state, price, apyPct: held.collateral > 0n ? null : preview.netApyPct },
      amounts: { token: vault.depositToken, smallest: 'quotes', largest: 'quotes' } as const,
      quotesAsOfMs: quotesAsOf([swaps.stock, swaps.zap, swaps.leverage]),
    };
    return {
      ...estimate,
      ...parts,
      deposit: preview,
      note: spelled(note, ctx),
      gaps: [
        ...estimate.gaps,
        ...previewGaps(parts, { before: 'No wallet with a stock leg is named.', after: NOTHING_LEFT, amounts: WHOLE }),
      ],
    };
  });
}

const NOTHING_LEFT = 'Nothing of the vault is left.';
const WHOLE = 'The whole vault is left.';

/** Build a deposit into a vault. @throws the refusals of the builders */
export function vaultDepositPlan(
  wallet: Address,
  input: OnChain<DepositArgs>,
  ctx: AppContext,
): Promise<DepositPlanView> {
  return inNamesOf(ctx, equityPaths(), async () => {
    const built = await ctx.live().equity.deposit(depositInput(input, ctx), wallet);
    const { preview } = built.terms;
    const batch = batchFields(built, ctx);
    const estimate = depositEstimate(preview, batch);
    return {
      ...estimate,
      ...batch,
      received: null,
      deposit: preview,
      gaps: [
        ...estimate.gaps,
        ...planGaps({ ...batch, received: true }),
        ...absences(['received', null, 'NOT_APPLICABLE', 'A deposit pays nothing out.']),
      ],
    };
  });
}

/** Preview the exit from a vault. @throws the refusals of the builders */
export function vaultExitPreview(
  wallet: Address,
  input: OnChain<ExitArgs>,
  age: QuoteAge,
  ctx: AppContext,
): Promise<ExitPreviewView> {
  const at = inputIn(ctx, 'equityExit');
  return inNamesOf(ctx, equityPaths(at), async () => {
    const built = await ctx.live().equity.previewExit(exitInput(wallet, input, ctx, at), wallet, age);
    const view = exitView(built);
    const { stockPrice: price, stockBefore, position } = built;
    const market = built.terms.vault.stockMarket;
    const apyPct = position.currentNetApyPct ?? null;
    const parts = {
      before: { market, state: stockBefore, price, apyPct },
      after: null,
      amounts: null,
      quotesAsOfMs: quotesAsOf(built.swaps),
    };
    const issues = spelled(built.issues, ctx);
    return {
      ...view,
      ...parts,
      slippage: built.slippage.value,
      issues,
      note: [PREVIEW_NOTE, ...built.notes, ...issues.map(({ message }) => message)].join(' '),
      gaps: [
        ...estimateGaps(view),
        ...previewGaps(parts, { before: NOTHING_LEFT, after: NOTHING_LEFT, amounts: WHOLE }),
      ],
    };
  });
}

/** Build the exit from a vault. @throws the refusals of the builders */
export function vaultExitPlan(wallet: Address, input: OnChain<ExitArgs>, ctx: AppContext): Promise<ExitPlanView> {
  return inNamesOf(ctx, equityPaths(), async () => {
    const built = await ctx.live().equity.exit(exitInput(wallet, input, ctx), wallet);
    const view = exitView(built);
    const received = built.received ?? null;
    const batch = batchFields(built, ctx);
    return { ...view, ...batch, received, gaps: [...estimateGaps(view), ...planGaps({ ...batch, received })] };
  });
}

/** Everything that an exit decides beside its calls. */
function exitView(built: BuiltExit): Omit<ExitView, 'gaps' | 'slippage' | 'issues'> {
  const { terms, position, priced, totalSwapCostPctOfEquity: pct } = built;
  const { equity, paidOut } = built.worstCase;
  return {
    costs: formatCosts(built.costs),
    totalSwapCostPctOfEquity: pct ? formatPct(pct) : null,
    worstCase: { equity: equity.toFixed(), paidOut: paidOut.toFixed(), ltvPct: null, yieldLtvPct: null },
    priced,
    chainId: terms.vault.chainId,
    strategyId: terms.vault.id,
    action: 'equity_exit',
    position,
    closes: terms.loops.map(({ positionId }) => positionId),
  };
}

function batchFields(built: BuiltBatch, ctx: AppContext) {
  return { ...planFields(built, built.calls, ctx), atomicRequired: true, expiresAtMs: built.expiresAtMs };
}
