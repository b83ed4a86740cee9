import type { EquityVault } from '../../catalog/types.ts';
import type { Issue } from '../types.ts';
import type { DepositPreview } from './types.ts';

/** Name the assumptions of a previewed deposit (`notes`: beside its own numbers), and its issues. */
export function previewNote(
  preview: DepositPreview,
  { issues, notes }: { readonly issues: readonly Issue[]; readonly notes: readonly string[] },
): string {
  const { stock } = preview;
  return [
    'Numbers assume that every swap fills at its quote; nothing was signed or sent.',
    `The borrow is sized on the least stock that the swap may give (${stock.minReceived} ${stock.symbol}), so the LTV never ends above ${stock.requestedLtvPct} %.`,
    ...(preview.netApyBeforePct === preview.netApyPct
      ? []
      : [
          `Its own borrowing moves the rates: the net APY is ${preview.netApyPct} % after it; at the rates of now it would be ${preview.netApyBeforePct} %.`,
        ]),
    ...notes,
    ...issues.map(({ message }) => message),
  ].join(' ');
}

/** Name an authorization that is taken back first: something left it behind. */
export function leftoverNote(isAuthorized: boolean, { stock }: EquityVault): readonly string[] {
  if (!isAuthorized) return [];
  return [
    `The router may act on the wallet's lending positions already, ${stock.symbol} included: the first call of the batch that touches it takes that back.`,
  ];
}
