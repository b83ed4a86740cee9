import type { Strategy } from './types.ts';

/** Fields that say when something was measured: every refresh moves them. */
export const MOMENTS: ReadonlySet<string> = new Set(['asOfMs', 'sinceMs', 'lastSuccessMs', 'lastAttemptMs']);

const known = new WeakMap<Strategy, string>();

/**
 * Write what a strategy shows as one text: two are equal when a reader would see no difference. When its values were
 * measured is left out, because every refresh moves that without saying anything new; whether a group is at last-good stays.
 */
export function fingerprint(strategy: Strategy): string {
  const before = known.get(strategy);
  if (before !== undefined) return before;
  const text = JSON.stringify(strategy, (key, value: unknown) => (MOMENTS.has(key) ? undefined : value));
  known.set(strategy, text);
  return text;
}
