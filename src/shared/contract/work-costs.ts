/**
 * Cost of fields that compute for long from memory, beside that of a field, in units of query cost: 20 ms of CPU are a point of
 * 100 units at most. It is counted once for each time that the field is executed, and is not returned when the answer is short.
 */
export const WORK_COSTS = {
  stress: 25,
  leveragedApyHistory: 25,
  borrowApyHistory: 10,
  collateralApyHistory: 10,
  borrowIncentiveHistory: 10,
  series: 10,
} as const;

/** A context that prices fields without their work. */
export interface PricedContext {
  readonly withoutWork?: boolean | undefined;
}

/** The complexity of a field with work: the cost of the field itself, and its work. */
export const withWork =
  (name: keyof typeof WORK_COSTS, field: number) =>
  (_args: object, { withoutWork }: PricedContext): { readonly field: number } => ({
    field: withoutWork === true ? field : field + WORK_COSTS[name],
  });
