import type { EquityVault } from '../../catalog/types.ts';
import { slippageNote } from '../messages.ts';
import { slippageIssues } from '../quote/slippage.ts';
import type { EffectiveSlippage } from '../types.ts';
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

/** Name an authorization that is taken back first: something left it behind. */
export function leftoverNote(isAuthorized: boolean, { stock }: EquityVault): readonly string[] {
  if (!isAuthorized) return [];
  return [
    `The router may act on the wallet's lending positions already, ${stock.symbol} included: the first call of the batch that touches it takes that back.`,
  ];
}
