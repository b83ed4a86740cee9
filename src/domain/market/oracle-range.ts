import type { CollateralCategory } from '../../catalog/schema.ts';
import type { Market } from '../../catalog/types.ts';
import { Decimal } from '../../shared/decimal.ts';

/** Bounds of the value of a whole token, USD. */
export interface PossibleRange {
  readonly min: Decimal;
  readonly max: Decimal;
}

const range = (min: string, max: string): PossibleRange => ({ min: new Decimal(min), max: new Decimal(max) });

/**
 * A token that follows its loan token is that token, or a share with an initial price of one that earns: factor 2 is ten years
 * at 7 %. A vault that lost assets can be below one, by up to 10 % here.
 */
const SHARE = range('0.9', '2');
/**
 * A principal token redeems at one, and is discounted until then by at most this yield a year. Both with a tolerance of 10 %.
 */
const PRINCIPAL = range('0.9', '1.1');
const PRINCIPAL_MAX_YIELD = 1;
/**
 * Tokens that float against their loan token, by kind, USD: wide enough for any market, and narrow enough to detect wrong
 * decimals.
 */
const FLOATING: Readonly<Record<CollateralCategory, PossibleRange>> = {
  stable: SHARE,
  'stable-PT': SHARE,
  ETH: range('100', '100000'),
  BTC: range('1000', '10000000'),
  stocks: range('1', '10000'),
  Other: range('0.000000001', '1000000'),
};
const FOLLOWING: ReadonlySet<CollateralCategory> = new Set(['stable', 'stable-PT', 'ETH', 'BTC']);
const YEAR_MS = 365 * 86_400_000;

/**
 * Return the bounds of a whole collateral token's value at a time, by its kind and the price of the loan token that it
 * follows.
 */
export function possibleRange(market: Market, loanUsd: Decimal, atMs: number): PossibleRange {
  const { category, maturity } = market.collateral;
  if (!market.correlated || !FOLLOWING.has(category)) return FLOATING[category];
  if (maturity === undefined) return inUsd(SHARE, loanUsd);
  const years = Math.max(0, maturity * 1_000 - atMs) / YEAR_MS;
  const discounted = PRINCIPAL.min.div((1 + PRINCIPAL_MAX_YIELD) ** years);
  return inUsd({ min: discounted, max: PRINCIPAL.max }, loanUsd);
}

/** Return the bound that a value in USD exceeds; `undefined` = it is within the bounds. */
export function exceededBound(market: Market, usd: Decimal, loanUsd: Decimal, atMs: number): Decimal | undefined {
  const { min, max } = possibleRange(market, loanUsd, atMs);
  if (usd.gt(max)) return max;
  return usd.lt(min) ? min : undefined;
}

/** Whole tokens that one whole token of a market is worth at most, either way: the cheapest and the dearest traded ones are 10^11 apart. */
const MAX_RATIO = 10n ** 18n;

/**
 * Return whether a price of an oracle, scaled by 1e36, is possible for the tokens of a market: without a USD price, so that it
 * holds for past blocks too. A price of 0 is not.
 */
export function isPossiblePrice(price: bigint, { collateral, loan }: Pick<Market, 'collateral' | 'loan'>): boolean {
  const collateralUnit = 10n ** BigInt(collateral.decimals);
  const loanUnit = 10n ** BigInt(36 + loan.decimals);
  const scaled = price * collateralUnit;
  return price > 0n && scaled * MAX_RATIO >= loanUnit && scaled <= loanUnit * MAX_RATIO;
}

const inUsd = ({ min, max }: PossibleRange, usd: Decimal): PossibleRange => ({
  min: min.times(usd),
  max: max.times(usd),
});
