import type { IndexedStrategy } from './keys.ts';

/** Fields with a measurement time. Every refresh changes them. */
export const MOMENTS: ReadonlySet<string> = new Set(['asOfMs', 'sinceMs', 'lastSuccessMs', 'lastAttemptMs']);

/**
 * Serialize the visible content of a strategy: two texts are equal when a reader would see no difference. Measurement times
 * are left out, because every refresh changes them; whether a group is at last-good stays. Computed once per version and
 * shared by all readers.
 */
export function fingerprintOf(entry: IndexedStrategy): string {
  const { strategy, market } = entry;
  const { borrowIncentive, collateralIncentive, collateralPrice, loanPrice, facts } = market;
  const { exitLiquidity } = facts;
  const shown = { strategy, borrowIncentive, collateralIncentive, collateralPrice, loanPrice, exitLiquidity };
  entry.fingerprint ??= JSON.stringify(shown, (key, value: unknown) => {
    if (MOMENTS.has(key)) return undefined;
    return typeof value === 'bigint' ? value.toString() : value;
  });
  return entry.fingerprint;
}
