import type { IndexedStrategy } from './keys.ts';

/** Fields that say when something was measured: every refresh moves them. */
export const MOMENTS: ReadonlySet<string> = new Set(['asOfMs', 'sinceMs', 'lastSuccessMs', 'lastAttemptMs']);

/**
 * Write what a strategy shows as one text: two are equal when a reader would see no difference. When its values were
 * measured is left out, because every refresh moves that without saying anything new; whether a group is at last-good stays.
 * It is made once per version, however many readers compare it.
 */
export function fingerprintOf(entry: IndexedStrategy): string {
  entry.fingerprint ??= JSON.stringify(entry.strategy, (key, value: unknown) => {
    if (MOMENTS.has(key)) return undefined;
    return typeof value === 'bigint' ? value.toString() : value;
  });
  return entry.fingerprint;
}
