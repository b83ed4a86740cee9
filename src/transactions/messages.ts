import { type Decimal, formatUnitsPlain, toFixedHalfUp } from '../shared/decimal.ts';
import type { EffectiveSlippage } from './input.ts';
import { worstOutput } from './quote/planned.ts';
import type { Issue, PlannedSwap, PositionPreview, TokenAmount } from './types.ts';

/** Show base units as whole tokens with the symbol. */
export function formatAmount(units: bigint, { decimals, symbol }: { decimals: number; symbol: string }): string {
  return `${formatUnitsPlain(units, decimals)} ${symbol}`;
}

/** Name a slippage that was lowered to the cap; nothing otherwise. */
export function slippageNote({ value, cappedFrom, tightenedFrom }: EffectiveSlippage): readonly string[] {
  if (!cappedFrom) return [];
  return [`Slippage ${cappedFrom.toFixed()} was lowered to the cap ${(tightenedFrom ?? value).toFixed()}.`];
}

/** Say what a swap is expected to give, and at least. */
export function swapNote(swap: PlannedSwap): string {
  const { quote, tokenIn, tokenOut, expectedOut } = swap;
  return `${quote.source} swaps ${formatAmount(quote.amountIn, tokenIn)} into about ${formatAmount(expectedOut, tokenOut)}, at least ${formatUnitsPlain(worstOutput(swap), tokenOut.decimals)}.`;
}

/** Say that a borrow incentive is counted as it is paid now; nothing where none is. */
export function incentiveNote(isPaid: boolean): readonly string[] {
  if (!isPaid) return [];
  return ['A borrow incentive is counted as it is paid now: how far the new debt dilutes it is not known.'];
}

/** Whether a borrow incentive is in the APY of a preview. */
export function countsIncentive(preview: PositionPreview | undefined): boolean {
  return preview?.expectedLeverageApyPct !== undefined && (preview.rates?.incentiveAprPct.gt(0) ?? false);
}

/** Say what the wallet had more after a simulation. */
export function receivedNote({ token, amount }: TokenAmount): string {
  return `In simulation ${formatAmount(amount, token)} is paid out.`;
}

export interface InstructionsInput {
  readonly user: string;
  readonly approvals: number;
  readonly swaps: readonly PlannedSwap[];
  readonly slippage: EffectiveSlippage;
  readonly notes: readonly string[];
  readonly issues: readonly Issue[];
  readonly expiresAtMs: number | undefined;
  readonly signingUrl: string | undefined;
}

/** Write what a person does with a bundle, in the order in which it is done. */
export function instructionsOf(input: InstructionsInput): string {
  const { user, approvals, swaps, slippage, notes, issues, expiresAtMs, signingUrl } = input;
  const first = issues.filter(({ kind }) => kind !== 'APPROVAL_NEEDED').map(({ message }) => message);
  const sign =
    approvals === 0
      ? `Sign and send "tx" from ${user}; no approval is needed.`
      : `From ${user}: sign and send ${approvals === 1 ? 'the one entry' : `the ${approvals} entries`} of "approvals" in order and wait until mined, then sign and send "tx".`;
  return [
    ...first,
    sign,
    ...(expiresAtMs === undefined
      ? []
      : [`The swap price holds until ${new Date(expiresAtMs).toISOString()}: build again after that.`]),
    ...swaps.map(swapNote),
    ...slippageNote(slippage),
    ...notes,
    ...(signingUrl === undefined ? [] : [`Or review and sign in the app: ${signingUrl}`]),
  ].join(' ');
}

/** Show a ratio such as 0.0012 as percent. */
export function formatPercent(pct: Decimal): string {
  return `${toFixedHalfUp(pct, 2)} %`;
}
