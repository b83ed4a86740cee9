/** Cost of an operation per point of the budget, rounded up: most queries cost one point, the largest about 100. */
export const COST_PER_POINT = 100;

/** Points of one request to a /v1 path, and of the persisted operation behind it, by surface. */
export const SURFACE_POINTS = { Public: 1, Partner: 10, Ops: 10, Status: 0 } as const;

/** Public root fields that ask an upstream on demand cost more than those that are answered from memory. */
export const ON_DEMAND_POINTS: Readonly<Record<string, number>> = { priceChart: 5, candles: 5 };

/** Public root fields that compute for long from memory: 20 ms of CPU are a point at most. */
export const COMPUTED_POINTS: Readonly<Record<string, number>> = { bestStrategies: 10 };

/** Root fields of operations that are not named like them: the name of an operation is part of the OpenAPI document. */
const ROOT_FIELDS: Readonly<Record<string, string>> = { Ohlcv: 'candles', BestStrategyRanking: 'bestStrategies' };

/** Bytes of a cached answer per point, because an answer occupies memory until its reader has taken it. */
export const BYTES_PER_POINT = 2 ** 20;

/** Points that every request costs on admission, so that early refusals are not free. */
export const ADMISSION_POINTS = 1;

/** Points of a persisted operation: it is named like its root field, or listed. */
export function pointsOf(operation: string, surface: keyof typeof SURFACE_POINTS): number {
  const root = ROOT_FIELDS[operation] ?? `${operation.charAt(0).toLowerCase()}${operation.slice(1)}`;
  return ON_DEMAND_POINTS[root] ?? COMPUTED_POINTS[root] ?? SURFACE_POINTS[surface];
}
