import type { Hex } from '../shared/ids.ts';
import type { Call } from './types.ts';

/** Gas limit of one multicall, below the 50 million that nodes usually allow a call. */
export const MAX_GAS = 30_000_000n;
/** Calldata limit of one multicall: some 280 small calls, which are encoded or decoded in a few milliseconds. */
const MAX_BYTES = 64 * 1024;
/** Size limit of one HTTP request, below the 5 MB that geth accepts. */
const MAX_TEXT = 3 * 1024 * 1024;
/** Concurrent HTTP requests to a node with a small batch limit. */
const REQUESTS_AT_A_TIME = 6;
/** Target, flag, two offsets and a length per call. */
const OVERHEAD_BYTES = 5 * 32;
/** Gas of a view of a few storage slots. */
const USUAL_GAS = 20_000n;

/** Split calls into multicalls, by gas, payload and, where given, their number. At least one, which may be empty. */
export function multicallsOf(
  calls: readonly Call[],
  maxGas: bigint,
  maxCalls = Number.POSITIVE_INFINITY,
): readonly (readonly Call[])[] {
  const cuts = cut(calls, [Number(maxGas), MAX_BYTES, maxCalls], ({ data, gas = USUAL_GAS }) => [
    Number(gas),
    // Two hex digits per byte, after 0x.
    OVERHEAD_BYTES + Math.ceil((data.length - 2) / 64) * 32,
    1,
  ]);
  return cuts.length === 0 ? [[]] : cuts;
}

/** Group multicalls into rounds of concurrent HTTP requests. */
export function sendingsOf(multicalls: readonly Hex[], batchSize: number): readonly (readonly Hex[])[] {
  return cut(multicalls, [MAX_TEXT, REQUESTS_AT_A_TIME * batchSize], ({ length }) => [length, 1]);
}

/** Split a list into chunks within every limit. An item above a limit is a chunk of its own. */
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
