import type { CollateralApy } from '../../domain/facts.ts';
import { APY_PCT, type ParsedValue } from '../readings.ts';
import { historyOf, readSeries } from '../series.ts';
import type { Chart } from './schema.ts';

/**
 * The latest daily point is the value, with its own time; all usable points are the history. An unusable latest point is not
 * replaced by an older one.
 */
export function mapApyChart(
  chart: Chart,
  nowMs: number,
): { readonly apy: ParsedValue<CollateralApy>; readonly dropped: number } {
  const series = readSeries(
    chart.data.map(({ timestamp, apy }) => ({ at: timestamp, value: apy })),
    { time: 'any', within: APY_PCT, nowMs },
  );
  const { latest, dropped } = series;
  if (!latest.ok) return { apy: latest, dropped };
  const history = historyOf(series.points);
  const { value: apyPct, measuredMs } = latest;
  return {
    apy: { ok: true, value: { apyPct, history }, measuredMs },
    dropped,
  };
}
