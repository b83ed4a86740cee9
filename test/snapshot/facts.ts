import type { Fact, FailureReason, UsdPrice } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { KeepItem } from '../../src/snapshot/merge.ts';
import type { Publication } from '../../src/snapshot/types.ts';

/** A USD price measured at `asOfMs`. */
export function price(usd: string, asOfMs: number, source = 'coingecko'): Fact<UsdPrice> {
  return { value: { usd: new Decimal(usd) }, asOfMs, source };
}

/** One refresh: its values and its failures. */
export function publication<T>(
  attemptedAtMs: number,
  items: Readonly<Record<string, Fact<T>>> = {},
  failures: Readonly<Record<string, FailureReason>> = {},
): Publication<T> {
  return {
    attemptedAtMs,
    items: new Map(Object.entries(items)),
    failures: new Map(Object.entries(failures).map(([key, reason]) => [key, { reason, source: 'coingecko' }])),
  };
}

export const keepAll: KeepItem = () => true;
