import type { Market } from '../../catalog/types.ts';
import { toFixedHalfUp } from '../../shared/decimal.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { priceAsOfMs } from '../market/price-age.ts';
import type { ComposedMarket, RunningIncentive } from '../market/types.ts';
import type { Strategy } from './types.ts';

export interface LinkTemplates {
  /** Base URL of the app, without a trailing slash. */
  readonly appUrl?: string | undefined;
  /** URL of a market in the lending protocol's own app, with `{chainId}` and `{marketId}`; absent where it has none. */
  readonly marketUrlTemplate?: string | undefined;
}

/** A strategy under construction: optional fields are added once they are known. */
export type StrategyDraft = { -readonly [K in keyof Strategy]: Strategy[K] };

/** End of the shown campaign that ends first, ms; of a restricted one where nothing else runs. */
export function firstEndMs({ campaigns, restricted }: RunningIncentive): number {
  return Math.min(...(campaigns.length > 0 ? campaigns : restricted).map(({ endsAtMs }) => endsAtMs));
}

/**
 * Add the optional values of a market to its strategy: USD amounts with cents, the quarterly borrow APY and the points program.
 */
export function addMarketFields(strategy: StrategyDraft, market: ComposedMarket): void {
  const { supplyUsd, liquidityUsd, publicAllocatorLiquidityUsd } = market;
  if (supplyUsd) strategy.supplyUsd = toFixedHalfUp(supplyUsd, 2);
  if (liquidityUsd) strategy.liquidityUsd = toFixedHalfUp(liquidityUsd, 2);
  if (publicAllocatorLiquidityUsd) {
    strategy.publicAllocatorLiquidityUsd = toFixedHalfUp(publicAllocatorLiquidityUsd, 2);
  }
  const { quarterlyBorrowApyPct } = market.averaged.formatted;
  if (quarterlyBorrowApyPct) strategy.quarterlyBorrowApyPct = quarterlyBorrowApyPct;
  const { points } = market.market.collateral;
  if (points !== undefined) {
    const { program, ...evidence } = points;
    strategy.pointsIncentive = program && { ...program, ...evidence };
  }
  const oraclePriceAsOfMs = priceAsOfMs(market.facts.oracle.value.feeds);
  if (oraclePriceAsOfMs !== undefined) strategy.oraclePriceAsOfMs = oraclePriceAsOfMs;
}

/** One hundredth of a percent in WAD. */
const HUNDREDTH = 10n ** 14n;
const HALF_HUNDREDTH = HUNDREDTH / 2n;

/** Render a fraction in WAD as a percentage with 2 decimals, half-up. */
export function wadPct(fraction: bigint): string {
  const hundredths = ((fraction + HALF_HUNDREDTH) / HUNDREDTH).toString().padStart(3, '0');
  return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`;
}

const NO_YIELD_PAGE = gap('links.yieldSourceUrl', 'NOT_MEASURED', 'The curators have not provided it.');
const NO_APP = gap('links.appUrl', 'NOT_MEASURED', 'No app URL is configured.');
const NO_MARKET_PAGE = gap('links.marketUrl', 'NOT_MEASURED', 'No market page is configured for this chain.');

/** Make the links of a strategy from the templates, and explain the missing ones. */
export function linksOf(
  id: Strategy['id'],
  market: Market,
  { appUrl, marketUrlTemplate }: LinkTemplates,
  gaps: Gap[],
): NonNullable<Strategy['links']> | undefined {
  if (appUrl === undefined) gaps.push(NO_APP);
  if (marketUrlTemplate === undefined) gaps.push(NO_MARKET_PAGE);
  gaps.push(NO_YIELD_PAGE);
  if (appUrl === undefined && marketUrlTemplate === undefined) return undefined;
  const app = appUrl && `${appUrl}/strategies/${id}?chainId=${market.chainId}`;
  const page = marketUrlTemplate?.replaceAll('{chainId}', String(market.chainId)).replaceAll('{marketId}', market.id);
  return { app, market: page };
}
