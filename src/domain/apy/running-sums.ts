import { cutToInteger, Decimal, shifted } from '../../shared/decimal.ts';

/**
 * Exact running sums of decimals, packed: a chain keeps two hundred of them per market, and as objects they would be most
 * of its memory. `units[i]` is the sum of the first `i` values, counted in 10^-places.
 */
export interface RunningSums {
  readonly places: number;
  readonly units: BigInt64Array | readonly bigint[];
}

/** Places and size up to which every value and every sum is a 64-bit integer. */
const PACKED_PLACES = 14;
const PACKED_MAX = 2n ** 62n;

/** Add up values one after another. */
export function runningSums(values: readonly Decimal[]): RunningSums {
  const places = values.reduce((most, value) => Math.max(most, value.decimalPlaces() ?? 0), 0);
  const units: bigint[] = [0n];
  let total = 0n;
  let packed = places <= PACKED_PLACES;
  for (const value of values) {
    total += unitsOf(value, places);
    units.push(total);
    packed &&= total < PACKED_MAX && total > -PACKED_MAX;
  }
  return { places, units: packed ? BigInt64Array.from(units) : units };
}

/** Add up the values from index `from` up to, but without, index `to`. */
export function sumBetween({ places, units }: RunningSums, from: number, to: number): Decimal {
  return shifted(new Decimal((units[to] ?? 0n) - (units[from] ?? 0n)), -places);
}

function unitsOf(value: Decimal, places: number): bigint {
  const cut = places <= PACKED_PLACES ? cutToInteger(value, places) : undefined;
  return cut === undefined ? BigInt(value.toFixed(places).replace('.', '')) : BigInt(cut);
}
