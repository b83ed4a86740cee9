import { compacted, Decimal } from '../shared/decimal.ts';
import type { RateHistory } from '../shared/rate-history.ts';

const NUMBER = String.raw`-?\d+(?:\.\d+)?`;
const STEPS = new RegExp(`^(?:${NUMBER}:${NUMBER}(?:,${NUMBER}:${NUMBER})*)?$`);

/** Format rates for a text column: `atMs:ratePct`, separated by commas. */
export function writeSteps(points: RateHistory): string {
  return points.map(({ atMs, ratePct }) => `${atMs}:${ratePct.toFixed()}`).join(',');
}

/** Parse the output of `writeSteps`; `undefined` = the column has other content. */
export function readSteps(text: unknown): RateHistory | undefined {
  if (typeof text !== 'string' || !STEPS.test(text)) return undefined;
  if (text === '') return [];
  return text.split(',').map((point) => {
    const colon = point.indexOf(':');
    return { atMs: Number(point.slice(0, colon)), ratePct: compacted(new Decimal(point.slice(colon + 1))) };
  });
}
