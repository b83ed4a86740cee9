import { Decimal, formatPct } from '../../shared/decimal.ts';

/*
 * Facts of markets that several rows of the contract show in a form of their own.
 */

interface Incentive {
  readonly aprPct: string;
  readonly endsAt: string;
  readonly campaigns: readonly {
    readonly symbol: string;
    readonly aprPct: string;
    readonly url: string | null;
  }[];
  readonly lowerBound: boolean;
  readonly restricted: readonly {
    readonly symbol: string;
    readonly reason: string;
    readonly aprPct: string | null;
    readonly endsAt: string;
  }[];
}

/** Show an incentive with 2 places and one line per reward symbol. */
export function projectIncentive(incentive: Incentive | null) {
  if (incentive === null) return null;
  const bySymbol = new Map<string, Decimal>();
  for (const { symbol, aprPct } of incentive.campaigns) {
    bySymbol.set(symbol, new Decimal(aprPct).plus(bySymbol.get(symbol) ?? 0));
  }
  return {
    aprPct: formatPct(new Decimal(incentive.aprPct)),
    breakdown: [...bySymbol].map(([symbol, aprPct]) => ({ symbol, aprPct: formatPct(aprPct) })),
    campaignUrl: incentive.campaigns.find(({ url }) => url !== null)?.url ?? null,
    endsAt: incentive.endsAt,
    lowerBound: incentive.lowerBound || null,
    restricted: listOrNone(
      incentive.restricted.map(({ symbol, reason, aprPct, endsAt }) => ({
        symbol,
        reason: reason.toLowerCase(),
        aprPct: aprPct && formatPct(new Decimal(aprPct)),
        endsAt,
      })),
    ),
  };
}

/** An optional list is absent without entries. */
export function listOrNone<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

interface ExitLiquidity {
  readonly source: string;
  readonly freshness: { readonly asOf: string | null };
  readonly slippages: readonly { readonly sizeUsd: string; readonly slippagePct: string | null }[];
}

/** Show the loss by size; `null` = no route at that size. */
export function slippageBySize(exit: ExitLiquidity, places?: number): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    exit.slippages.map(({ sizeUsd, slippagePct }) => [
      sizeUsd,
      slippagePct === null || places === undefined ? slippagePct : formatPct(new Decimal(slippagePct), places),
    ]),
  );
}

/** Format the measured cost of selling the collateral, or its absence. */
export function projectExit(exit: ExitLiquidity | null) {
  if (exit === null) return { measured: false };
  return {
    measured: true,
    asOf: exit.freshness.asOf,
    method: `${exit.source} quotes`,
    direction: 'collateral to stable',
    slippagePct: slippageBySize(exit, 2),
  };
}

interface Freshness {
  readonly asOf: string | null;
  readonly staleAfterSec: number;
  readonly staleForSec: number | null;
}

/** The epoch: the time of a value that was never measured. */
const NEVER = '1970-01-01T00:00:00.000Z';

/** Show an age as the contract has it, that of something never measured from the begin of time. */
export function projectAge(freshness: Freshness | null) {
  return freshness && { ...freshness, asOf: freshness.asOf ?? NEVER };
}

/** Digits after the point of a USD price that is derived rather than quoted. */
const PRICE_PLACES = 12;

/** Show the price of a token of a strategy. */
export function projectPrice(price: { readonly usd: string } | null): string | null {
  return price && new Decimal(price.usd).decimalPlaces(PRICE_PLACES).toFixed();
}
