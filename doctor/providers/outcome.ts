import type { Batch } from '../../src/upstreams/types.ts';
import type { CheckOutcome, Measure, ReportedValue } from './types.ts';

/** Turn an adapter's batch into an outcome. */
export function outcomeOf<T>(
  { values, failures }: Batch<T>,
  measure: (value: T, key: string) => readonly Measure[],
): CheckOutcome {
  return new Map<string, ReportedValue>([
    ...[...values].map(([key, value]) => [key, { ok: true, value, measures: measure(value, key) }] as const),
    ...[...failures].map(([key, reason]) => [key, { ok: false, reason }] as const),
  ]);
}

/** The outcome of a single item. */
export function single(key: string, value: unknown, measures: readonly Measure[] = []): CheckOutcome {
  return new Map([[key, value === null ? { ok: false, reason: 'missing' } : { ok: true, value, measures }]]);
}

/** Options of a port's call. */
export function optional(signal: AbortSignal | undefined): { readonly signal: AbortSignal } | undefined {
  return signal && { signal };
}
