import type { Hex } from '../shared/ids.ts';
import type { Call } from './types.ts';

/** Gas that one multicall is given, below the 50 million that nodes usually allow a call. */
export const MAX_GAS = 30_000_000n;
/** Calldata of one multicall: some 280 small calls, which take a few milliseconds to encode or decode. */
const MAX_BYTES = 64 * 1024;
/** Multicalls of one HTTP request as text, below the 5 MB that geth takes. */
const MAX_TEXT = 3 * 1024 * 1024;
/** HTTP requests at a time to a node that takes few calls in one. */
const REQUESTS_AT_A_TIME = 6;
/** Target, flag, two offsets and a length around each call's data. */
const OVERHEAD_BYTES = 5 * 32;
/** A view of a few storage slots. */
const USUAL_GAS = 20_000n;

/** Cut calls into multicalls, by their gas, their payload and, where it is given, their number. At least one, which may be empty. */
export function multicallsOf(
  calls: readonly Call[],
  maxGas: bigint,
  maxCalls = Number.POSITIVE_INFINITY,
): readonly (readonly Call[])[] {
  const cuts = cut(calls, [Number(maxGas), MAX_BYTES, maxCalls], ({ data, gas = USUAL_GAS }) => [
    Number(gas),
    // Two digits a byte, behind 0x.
    OVERHEAD_BYTES + Math.ceil((data.length - 2) / 64) * 32,
    1,
  ]);
  return cuts.length === 0 ? [[]] : cuts;
}

/** Cut multicalls into what is sent at a time. */
export function sendingsOf(multicalls: readonly Hex[], batchSize: number): readonly (readonly Hex[])[] {
  return cut(multicalls, [MAX_TEXT, REQUESTS_AT_A_TIME * batchSize], ({ length }) => [length, 1]);
}

/** Cut a list into runs that keep every limit; what is beyond one by itself stands alone. */
function cut<T>(
  items: readonly T[],
  limits: readonly number[],
  weigh: (item: T) => readonly number[],
): readonly (readonly T[])[] {
  const runs: T[][] = [];
  let used: readonly number[] = limits;
  for (const item of items) {
    const more = weigh(item);
    const sum = more.map((weight, i) => weight + (used[i] ?? 0));
    const open = runs.at(-1);
    if (open && sum.every((weight, i) => weight <= (limits[i] ?? 0))) {
      open.push(item);
      used = sum;
    } else {
      runs.push([item]);
      used = more;
    }
  }
  return runs;
}
