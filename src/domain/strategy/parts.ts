import { type Decimal, formatPct, toFixedHalfUp } from '../../shared/decimal.ts';
import { WINDOWS_DAYS, type WindowMeans } from '../apy/series.ts';
import type { Fact, IncentiveCampaign, UsdPrice } from '../facts.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { ComposedMarket, RunningIncentive } from '../market/types.ts';
import type { Incentive, Strategy, TrailingAverages } from './types.ts';

/** Digits after the point of a USD price that is derived rather than quoted. */
const PRICE_PLACES = 12;

export interface LinkTemplates {
  /** Base URL of the app, without a trailing slash. */
  readonly appUrl?: string;
  /** Page of a market at the lending protocol's own app, with `{chainId}` and `{marketId}`; absent where it has none. */
  readonly marketUrlTemplate?: string;
}

/** Show a price and who gave it. */
export function priceFields(price: Fact<UsdPrice> | undefined): { priceUsd?: string; priceSource?: string } {
  return price ? { priceUsd: price.value.usd.decimalPlaces(PRICE_PLACES).toFixed(), priceSource: price.source } : {};
}

/** Show an incentive with one line per reward symbol. */
export function incentiveOf(incentive: RunningIncentive): Incentive {
  const bySymbol = new Map<string, Decimal>();
  for (const { symbol, aprPct } of incentive.campaigns) {
    bySymbol.set(symbol, bySymbol.get(symbol)?.plus(aprPct) ?? aprPct);
  }
  const campaignUrl = incentive.campaigns.find((campaign) => campaign.url !== undefined)?.url;
  return {
    aprPct: formatPct(incentive.aprPct),
    breakdown: [...bySymbol].map(([symbol, aprPct]) => ({ symbol, aprPct: formatPct(aprPct) })),
    ...(campaignUrl === undefined ? {} : { campaignUrl }),
    endsAtMs: Math.min(...incentive.campaigns.map((campaign: IncentiveCampaign) => campaign.endsAtMs)),
  };
}

/** Show both incentives of a market: absent when not measured, `null` when none runs. */
export function incentiveFields(market: ComposedMarket): Pick<Strategy, 'borrowIncentive' | 'collateralIncentive'> {
  const { borrowIncentive: borrow, collateralIncentive: collateral } = market;
  return {
    ...(borrow === undefined ? {} : { borrowIncentive: borrow && incentiveOf(borrow) }),
    ...(collateral === undefined ? {} : { collateralIncentive: collateral && incentiveOf(collateral) }),
  };
}

/** Show trailing means; `undefined` when no window is covered. */
export function averagesOf(means: WindowMeans | undefined): TrailingAverages | undefined {
  if (!means) return undefined;
  const shown: Record<string, string> = {};
  for (const days of WINDOWS_DAYS) {
    const mean = means[days];
    if (mean) shown[`avg${days}d`] = formatPct(mean);
  }
  return Object.keys(shown).length === 0 ? undefined : shown;
}

/** Show the USD amounts of a market with cents; those that are not known are absent. */
export function usdFields(
  market: ComposedMarket,
): Pick<Strategy, 'supplyUsd' | 'liquidityUsd' | 'publicAllocatorLiquidityUsd'> {
  const { supplyUsd, liquidityUsd, publicAllocatorLiquidityUsd } = market;
  return {
    ...(supplyUsd ? { supplyUsd: toFixedHalfUp(supplyUsd, 2) } : {}),
    ...(liquidityUsd ? { liquidityUsd: toFixedHalfUp(liquidityUsd, 2) } : {}),
    ...(publicAllocatorLiquidityUsd
      ? { publicAllocatorLiquidityUsd: toFixedHalfUp(publicAllocatorLiquidityUsd, 2) }
      : {}),
  };
}

/** Render a fraction in WAD as a percentage with 2 decimals, half-up. */
export function wadPct(fraction: bigint): string {
  const hundredths = ((fraction + 5n * 10n ** 13n) / 10n ** 14n).toString().padStart(3, '0');
  return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`;
}

/** Make the links of a strategy from the templates, and explain the missing ones. */
export function linksOf(
  strategy: Pick<Strategy, 'id' | 'chainId' | 'marketId'>,
  templates: LinkTemplates,
  gaps: Gap[],
): NonNullable<Strategy['links']> | undefined {
  const { appUrl, marketUrlTemplate } = templates;
  gaps.push(gap('links.yieldSource', 'NOT_MEASURED', 'The curators have not established it.'));
  if (appUrl === undefined) gaps.push(gap('links.app', 'NOT_MEASURED', 'No app URL is configured.'));
  if (marketUrlTemplate === undefined) {
    gaps.push(gap('links.market', 'NOT_MEASURED', 'No market page is configured for this chain.'));
  }
  if (appUrl === undefined && marketUrlTemplate === undefined) return undefined;
  return {
    ...(appUrl === undefined ? {} : { app: `${appUrl}/strategies/${strategy.id}?chainId=${strategy.chainId}` }),
    ...(marketUrlTemplate === undefined
      ? {}
      : {
          market: marketUrlTemplate
            .replaceAll('{chainId}', String(strategy.chainId))
            .replaceAll('{marketId}', strategy.marketId),
        }),
  };
}
