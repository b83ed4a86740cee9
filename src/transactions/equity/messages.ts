import type { EquityVault } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { EffectiveSlippage } from '../input.ts';
import { slippageNote, swapNote } from '../messages.ts';
import { slippageIssues } from '../quote/slippage.ts';
import type { Issue, PlannedSwap } from '../types.ts';
import type { DepositPreview } from './types.ts';

/** Say what a previewed deposit assumes (`notes`: beside its own numbers), and that a slippage was capped. */
export function previewNote(preview: DepositPreview, slippage: EffectiveSlippage, notes: readonly string[]): string {
  const { stock } = preview;
  return [
    'Numbers hold when every swap gives what it is quoted at; nothing was signed or sent.',
    `The borrow is sized on the least stock that the swap may give (${stock.minReceived} ${stock.symbol}), so the LTV never ends above ${stock.requestedLtvPct} %.`,
    ...(preview.netApyBeforePct === preview.netApyPct
      ? []
      : [
          `Its own borrowing moves the rates: the net APY is ${preview.netApyPct} % after it; at the rates of now it would be ${preview.netApyBeforePct} %.`,
        ]),
    ...notes,
    ...slippageNote(slippage),
    ...slippageIssues(slippage).map(({ message }) => message),
  ].join(' ');
}

export interface BatchWords {
  readonly user: Address;
  readonly calls: number;
  readonly swaps: readonly PlannedSwap[];
  readonly slippage: EffectiveSlippage;
  readonly issues: readonly Issue[];
  readonly notes: readonly string[];
  readonly expiresAtMs: number;
  readonly signingUrl: string | undefined;
}

/** Write what a person does with a batch, in the order in which it is done. */
export function batchInstructions(input: BatchWords): string {
  const { user, calls, swaps, slippage, issues, notes, expiresAtMs, signingUrl } = input;
  return [
    ...issues.map(({ message }) => message),
    `From ${user}: send all ${calls} calls as one atomic batch (EIP-5792 wallet_sendCalls with atomicRequired).`,
    'A wallet that cannot batch sends them one by one in order, waits for each, and always sends the last one, even when one before it failed: it revokes what the router was granted.',
    `The swap prices hold until ${new Date(expiresAtMs).toISOString()}: build again after that.`,
    ...swaps.map(swapNote),
    ...slippageNote(slippage),
    ...notes,
    ...(signingUrl === undefined ? [] : [`Or review and sign in the app: ${signingUrl}`]),
  ].join(' ');
}

/** Name an authorization that is taken back first: something left it behind. */
export function leftoverNote(isAuthorized: boolean, { stock }: EquityVault): readonly string[] {
  if (!isAuthorized) return [];
  return [
    `The router may act on the wallet's lending positions already, ${stock.symbol} included: the first call of the batch that touches it takes that back.`,
  ];
}
