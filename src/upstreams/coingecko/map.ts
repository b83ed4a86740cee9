import type { Token } from '../../catalog/types.ts';
import type { UsdPrice } from '../../domain/facts.ts';
import { MAX_CHART_POINTS } from '../../shared/contract/list-bounds.ts';
import { parsePrice } from '../prices.ts';
import { MAX_CHART_AMOUNT, MAX_CHART_PRICE, type ParsedValue, readObservedMs } from '../readings.ts';
import { type PriceChart, priceKey } from '../types.ts';
import type { MarketChart, SimplePrice } from './schema.ts';

export function mapPrices(
  tokens: readonly Token[],
  answer: SimplePrice,
  nowMs: number,
): readonly (readonly [string, ParsedValue<UsdPrice>])[] {
  return tokens.map((token) => {
    const coin = answer[token.coingeckoId ?? ''];
    return [priceKey(token), parsePrice(coin?.usd, coin?.last_updated_at, nowMs)];
  });
}

/** The three series, oldest first. Rows other than `[time until now, plausible number ≥ 0]` are left out. */
export function mapPriceChart(
  answer: MarketChart,
  nowMs: number,
): { readonly chart: PriceChart; readonly dropped: number } {
  const prices = mapPoints(answer.prices, MAX_CHART_PRICE, nowMs);
  const marketCaps = mapPoints(answer.market_caps, MAX_CHART_AMOUNT, nowMs);
  const totalVolumes = mapPoints(answer.total_volumes, MAX_CHART_AMOUNT, nowMs);
  return {
    chart: { prices: prices.points, marketCaps: marketCaps.points, totalVolumes: totalVolumes.points },
    dropped: prices.dropped + marketCaps.dropped + totalVolumes.dropped,
  };
}

function mapPoints(
  rows: readonly unknown[],
  max: number,
  nowMs: number,
): {
  readonly points: readonly (readonly [number, number])[];
  readonly dropped: number;
} {
  const byTime = new Map<number, number>();
  let dropped = 0;
  for (const row of rows) {
    const [time, value] = Array.isArray(row) ? (row as readonly unknown[]) : [];
    const at = readObservedMs(time, 'ms', nowMs);
    if (at.ok && typeof value === 'number' && value >= 0 && value <= max) byTime.set(at.value, value);
    else dropped += 1;
  }
  const points = [...byTime].sort(([a], [b]) => a - b).slice(-MAX_CHART_POINTS);
  return { points, dropped: dropped + byTime.size - points.length };
}
