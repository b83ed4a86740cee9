import type { EquityPosition } from '../../domain/equity/position.ts';
import { formatPct } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltBatch, DepositPreview } from '../../transactions/equity/index.ts';
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
import { type DepositArgs, depositInput, type ExitArgs, exitInput } from '../transaction/input.ts';
import { EQUITY_PATHS, formatIssues, namesOf, withSurfaceNames } from '../transaction/surface-names.ts';

/** A previewed deposit into a vault. */
export interface DepositPreviewView extends Estimate {
  readonly worstCase: WorstCaseView;
  readonly deposit: DepositPreview;
  readonly note: string;
}

export interface DepositPlanView extends PlanBaseView {
  readonly worstCase: WorstCaseView;
  readonly deposit: DepositPreview;
}

export interface ExitPlanView extends PlanBaseView {
  readonly worstCase: WorstCaseView;
  /** The vault before the exit. */
  readonly position: EquityPosition;
  /** Indexes of the loops that are closed, in order. */
  readonly closes: readonly number[];
}

/** Preview a deposit into a vault, without a wallet. @throws the refusals of the builders */
export function vaultDepositPreview(input: DepositArgs, ctx: AppContext): Promise<DepositPreviewView> {
  return withSurfaceNames(ctx, EQUITY_PATHS, async () => {
    const { terms, slippage, note, ...previewed } = await ctx.live().equity.preview(depositInput(input, ctx));
    const issues = formatIssues(previewed.issues, ctx);
    const estimate = depositEstimate(terms.preview, { slippage: slippage.value, issues });
    return { ...estimate, deposit: terms.preview, note: note(namesOf(ctx)) };
  });
}

/** Build a deposit into a vault. @throws the refusals of the builders */
export function vaultDepositPlan(wallet: Address, input: DepositArgs, ctx: AppContext): Promise<DepositPlanView> {
  return withSurfaceNames(ctx, EQUITY_PATHS, async () => {
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

/** Build the exit from a vault. @throws the refusals of the builders */
export function vaultExitPlan(wallet: Address, input: ExitArgs, ctx: AppContext): Promise<ExitPlanView> {
  return withSurfaceNames(ctx, EQUITY_PATHS, async () => {
    const built = await ctx.live().equity.exit(exitInput(wallet, input, ctx), wallet);
    const { terms, position, priced, totalSwapCostPctOfEquity: pct } = built;
    const { equity, paidOut } = built.worstCase;
    const common = {
      costs: formatCosts(built.costs),
      totalSwapCostPctOfEquity: pct ? formatPct(pct) : null,
      worstCase: { equity: equity.toFixed(), paidOut: paidOut.toFixed(), ltvPct: null, yieldLtvPct: null },
      priced,
    };
    const received = built.received ?? null;
    const batch = batchFields(built, ctx);
    return {
      ...common,
      ...batch,
      chainId: terms.vault.chainId,
      strategyId: terms.vault.id,
      action: 'equity_exit' as const,
      position,
      closes: terms.loops.map(({ positionId }) => positionId),
      received,
      gaps: [...estimateGaps(common), ...planGaps({ ...batch, received })],
    };
  });
}

function batchFields(built: BuiltBatch, ctx: AppContext) {
  return { ...planFields(built, built.calls, ctx), atomicRequired: true, expiresAtMs: built.expiresAtMs };
}
