import type { EquityPosition } from '../../domain/equity/position.ts';
import { formatPct } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltBatch, DepositPreview } from '../../transactions/equity/index.ts';
import { formatCalls } from '../common/calls.ts';
import type { AppContext } from '../common/context.ts';
import {
  absences,
  depositEstimate,
  type Estimate,
  estimateGaps,
  planGaps,
  type ShownPlanBase,
  shownCosts,
} from '../transaction/estimate.ts';
import { type DepositArgs, depositInput, type ExitArgs, exitInput } from '../transaction/input.ts';
import { EQUITY_PATHS, sentence, shownIssues, told } from '../transaction/wording.ts';

/** A previewed deposit into a vault. */
export interface ShownDepositPreview extends Estimate {
  readonly deposit: DepositPreview;
  readonly note: string;
}

export interface ShownDepositPlan extends ShownPlanBase {
  readonly deposit: DepositPreview;
}

export interface ShownExitPlan extends ShownPlanBase {
  /** The vault that is left, as it stands. */
  readonly position: EquityPosition;
  /** Indexes of the loops that are closed, in order. */
  readonly closes: readonly number[];
}

/** Preview a deposit into a vault, without a wallet. @throws the refusals of the builders */
export function vaultDepositPreview(input: DepositArgs, ctx: AppContext): Promise<ShownDepositPreview> {
  return told(ctx, EQUITY_PATHS, async () => {
    const { terms, slippage, note, ...previewed } = await ctx.live().equity.preview(depositInput(input, ctx));
    const issues = shownIssues(previewed.issues, ctx);
    const estimate = depositEstimate(terms.preview, { slippage: slippage.value, issues });
    return { ...estimate, deposit: terms.preview, note: sentence(note, ctx) };
  });
}

/** Build a deposit into a vault. @throws the refusals of the builders */
export function vaultDepositPlan(wallet: Address, input: DepositArgs, ctx: AppContext): Promise<ShownDepositPlan> {
  return told(ctx, EQUITY_PATHS, async () => {
    const built = await ctx.live().equity.deposit(depositInput(input, ctx), wallet);
    const { preview } = built.terms;
    const batch = shownBatch(built, ctx);
    const issues = shownIssues(built.issues, ctx);
    const estimate = depositEstimate(preview, { slippage: built.slippage.value, issues });
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
export function vaultExitPlan(wallet: Address, input: ExitArgs, ctx: AppContext): Promise<ShownExitPlan> {
  return told(ctx, EQUITY_PATHS, async () => {
    const built = await ctx.live().equity.exit(exitInput(input, ctx), wallet);
    const { terms, position, priced, slippage, totalSwapCostPctOfEquity: pct } = built;
    const { equity, paidOut } = built.worstCase;
    const common = {
      costs: shownCosts(built.costs),
      totalSwapCostPctOfEquity: pct ? formatPct(pct) : null,
      worstCase: { equity: equity.toFixed(), paidOut: paidOut.toFixed(), ltvPct: null, yieldLtvPct: null },
      priced,
    };
    const received = built.received ?? null;
    const batch = shownBatch(built, ctx);
    return {
      ...common,
      ...batch,
      chainId: terms.vault.chainId,
      strategyId: terms.vault.id,
      action: 'equity_exit' as const,
      slippage: slippage.value,
      issues: shownIssues(built.issues, ctx),
      position,
      closes: terms.loops.map(({ positionId }) => positionId),
      received,
      gaps: [...estimateGaps(common), ...planGaps({ ...batch, received })],
    };
  });
}

function shownBatch({ user, calls, expiresAtMs, signingUrl, instructions, gasUsed }: BuiltBatch, ctx: AppContext) {
  return {
    user,
    calls: formatCalls(calls, user),
    atomicRequired: true,
    expiresAtMs,
    signingUrl: signingUrl ?? null,
    instructions: sentence(instructions, ctx),
    gasUsed: gasUsed ?? null,
  };
}
