import { cutToInteger, Decimal, shifted } from '../../shared/decimal.ts';

/** Exact running sums of decimals. `units[i]` is the sum of the first `i` values, counted in 10^-places. */
export interface RunningSums {
  readonly places: number;
  readonly units: readonly bigint[];
}

/** Places up to which a value is a safe integer of its last place. */
const CUT_PLACES = 14;

/** Add up values one after another. */
export function runningSums(values: readonly Decimal[]): RunningSums {
  const places = values.reduce((most, value) => Math.max(most, value.decimalPlaces() ?? 0), 0);
  const units: bigint[] = [0n];
  let total = 0n;
  for (const value of values) {
    total += unitsOf(value, places);
    units.push(total);
  }
  return { places, units };
}

/** Add up the values from index `from` up to, but without, index `to`. */
export function sumBetween({ places, units }: RunningSums, from: number, to: number): Decimal {
  return shifted(new Decimal((units[to] ?? 0n) - (units[from] ?? 0n)), -places);
}

function unitsOf(value: Decimal, places: number): bigint {
  const cut = places <= CUT_PLACES ? cutToInteger(value, places) : undefined;
  return cut === undefined ? BigInt(value.toFixed(places).replace('.', '')) : BigInt(cut);
}
