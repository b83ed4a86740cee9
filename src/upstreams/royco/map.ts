import type { CollateralApy } from '../../domain/facts.ts';
import { APY_PCT, type ParsedValue, readDecimal } from '../readings.ts';
import { historyOf, readSeries, withoutLeadingZeros } from '../series.ts';
import type { Chart, Info } from './schema.ts';

/** 7-day APY and its chart, converted from fractions to percent. */
export function mapVault(
  info: Info,
  chart: Chart,
  nowMs: number,
): { readonly apy: ParsedValue<CollateralApy>; readonly dropped: number } {
  const apy = readDecimal(info.apy7d, APY_PCT, 2);
  if (!apy.ok) return { apy, dropped: 0 };
  const series = readSeries(
    chart.data.map(({ blockTimestamp, value }) => ({ at: blockTimestamp, value })),
    { time: 'sec', within: APY_PCT, decimalShift: 2, nowMs },
  );
  const history = historyOf(withoutLeadingZeros(series.points));
  return { apy: { ok: true, value: { apyPct: apy.value, history } }, dropped: series.dropped };
}
