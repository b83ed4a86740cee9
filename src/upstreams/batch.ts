import type { FailureReason } from '../domain/facts.ts';
import { UpstreamError } from './errors.ts';
import type { ParsedValue } from './readings.ts';
import type { Batch } from './types.ts';

/** Collect one reading per key. */
export function toBatch<T>(readings: Iterable<readonly [string, ParsedValue<T>]>): Batch<T> {
  const values = new Map<string, T>();
  const failures = new Map<string, FailureReason>();
  const measuredMs = new Map<string, number>();
  for (const [key, reading] of readings) {
    if (!reading.ok) {
      failures.set(key, reading.reason);
      continue;
    }
    values.set(key, reading.value);
    if (reading.measuredMs !== undefined) measuredMs.set(key, reading.measuredMs);
  }
  return withTimes({ values, failures }, measuredMs);
}

/**
 * Request groups of keys, a few at a time. A group whose request fails affects its own keys only. When every request failed,
 * the provider is down: the first error is thrown, with its `retryAfterSec`. An error other than `UpstreamError` is thrown at
 * once.
 */
export async function gather<G, T>(
  groups: readonly G[],
  keysOf: (group: G) => readonly string[],
  ask: (group: G) => Promise<Batch<T>>,
  parallel = 4,
): Promise<Batch<T>> {
  const results: (Batch<T> | UpstreamError)[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < groups.length; index = next++) {
      const group = groups[index] as G;
      results[index] = await ask(group).catch((thrown: unknown) => {
        if (thrown instanceof UpstreamError) return thrown;
        next = groups.length;
        throw thrown;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, groups.length) }, worker));
  const errors = results.filter((result) => result instanceof UpstreamError);
  if (errors[0] !== undefined && errors.length === results.length) throw errors[0];
  const values = new Map<string, T>();
  const failures = new Map<string, FailureReason>();
  const measuredMs = new Map<string, number>();
  for (const [index, result] of results.entries()) {
    if (result instanceof UpstreamError) {
      for (const key of keysOf(groups[index] as G)) failures.set(key, result.reason);
    } else {
      for (const [key, value] of result.values) values.set(key, value);
      for (const [key, reason] of result.failures) failures.set(key, reason);
      for (const [key, atMs] of result.measuredMs ?? []) measuredMs.set(key, atMs);
    }
  }
  return withTimes({ values, failures }, measuredMs);
}

/** Add the measurement times of a batch's values, if any is known. */
function withTimes<T>(batch: Batch<T>, measuredMs: ReadonlyMap<string, number>): Batch<T> {
  return measuredMs.size === 0 ? batch : { ...batch, measuredMs };
}

/** Split into chunks of at most `size`. */
export function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
