import { numberToHex, size } from 'viem';
import { decodeAggregate3, encodeAggregate3, type Returned } from '../abi/aggregate3.ts';
import { encodeFunctionData } from '../abi/calldata.ts';
import { multicall3Abi } from '../abi/multicall3.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId, Hex } from '../shared/ids.ts';
import { letOthersRun } from '../shared/turns.ts';
import { requireBlockTime } from './block-time.ts';
import { MAX_GAS, multicallsOf, sendingsOf } from './chunks.ts';
import type { Reading } from './reading.ts';
import { callAt } from './rpc/call.ts';
import { BlockMissingError, ChainReadError } from './rpc/errors.ts';
import type { BlockRef, Call, CallResult, ReadOptions } from './types.ts';

export interface ReadAtDeps {
  readonly chainId: ChainId;
  readonly multicall3: Address;
  readonly clock: Clock;
}

export interface ReadAtOptions extends ReadOptions {
  /** Read at the newest final block instead of the reading's block. */
  readonly finalized?: boolean | undefined;
  /** Retry failed calls that another call of their multicall may have broken: in small multicalls, and finally alone. */
  readonly isolate?: boolean | undefined;
}

export interface ReadResult {
  readonly block: BlockRef;
  /** In the order of the plan. */
  readonly results: readonly CallResult[];
}

/**
 * Read contracts at one block. One HTTP request for about 8,000 small calls. A call that reverts fails alone, and so does a
 * multicall that fails as a whole.
 * @throws ChainReadError when nothing can be read; `implausible` when the node is of another chain, the block is in the
 * future, or the answers are of different blocks
 */
export type BlockReader = (reading: Reading, plan: readonly Call[], options?: ReadAtOptions) => Promise<ReadResult>;

/** Calls before those of the plan in each multicall. */
const FRAME = (['getCurrentBlockTimestamp', 'getChainId'] as const).map((functionName) =>
  encodeFunctionData({ abi: multicall3Abi, functionName }),
);
const FRAME_CALLS = FRAME.length;
/** Calls per multicall in the retries: first a few, then one. */
const ISOLATED_CALLS = [20, 1] as const;
/** Maximum number of multicalls to retry, so that a node that is down does not get thousands of requests. */
const MAX_ISOLATED = 500;
/** Failures of a whole multicall that one of its calls may have caused: the node answered, but could not execute it. */
const CAUSED_BY_A_CALL: readonly string[] = ['server_error', 'malformed', 'timeout'];

/** Result of one call. */
interface Row {
  readonly result: CallResult;
  /** Whether another call of its multicall may have caused the failure. */
  readonly isSuspect: boolean;
}

interface Round {
  /** In the order of the calls. */
  readonly rows: readonly Row[];
  /** Block time, unix seconds; `undefined` = no multicall was answered. */
  readonly timestamp: bigint | undefined;
  readonly error: ChainReadError | undefined;
}

/** Create the reader of contracts at a block. Calls become multicalls, split by gas and payload, in one JSON-RPC batch. */
export function createReadAt({ chainId, multicall3, clock }: ReadAtDeps): BlockReader {
  const frame: readonly Call[] = FRAME.map((data) => ({ to: multicall3, data }));

  const ask = async (
    reading: Reading,
    chunks: readonly (readonly Call[])[],
    { signal, finalized }: ReadAtOptions,
  ): Promise<Round> => {
    const { callGas, batchSize } = reading.limits;
    const gas = callGas === null ? {} : { gas: numberToHex(gasOf(reading)) };
    const data = await inTurns(chunks, (chunk) => encodeAggregate3([...frame, ...chunk]));
    signal?.throwIfAborted();
    const settled: PromiseSettledResult<Hex>[] = [];
    for (const batch of sendingsOf(data, batchSize)) {
      const calls = batch.map((text) => callAt(reading, { to: multicall3, data: text, ...gas }, { signal, finalized }));
      settled.push(...(await Promise.allSettled(calls)));
    }
    const answers = await inTurns(settled, (answer, i) => answerOf(answer, chunks[i] ?? []));
    let timestamp: bigint | undefined;
    for (const answer of answers) {
      if (answer.error) continue;
      timestamp ??= answer.timestamp;
      if (answer.chainId !== BigInt(chainId)) throw new ChainReadError('implausible');
      // A different time for the same number means a reorganization between the calls.
      if (answer.timestamp !== timestamp) throw new BlockMissingError('implausible');
    }
    return {
      rows: answers.flatMap(({ rows }) => rows),
      timestamp,
      error: answers.find(({ error }) => error !== undefined)?.error,
    };
  };

  /** Retry suspects until each has failed or succeeded alone. */
  const isolate = async (
    reading: Reading,
    plan: readonly Call[],
    first: Round,
    options: ReadAtOptions,
  ): Promise<Round> => {
    let round = first;
    for (const callsPerMulticall of ISOLATED_CALLS) {
      const again = round.rows.flatMap(({ isSuspect }, i) => (isSuspect ? [i] : []));
      if (again.length === 0 || again.length > callsPerMulticall * MAX_ISOLATED) break;
      if (again.length <= callsPerMulticall && callsPerMulticall > 1) continue;
      const calls = again.flatMap((i) => plan[i] ?? []);
      const retried = await ask(reading, multicallsOf(calls, gasOf(reading), callsPerMulticall), options);
      // Without any answer the node is down, and no call is at fault.
      if (retried.timestamp === undefined) break;
      if (round.timestamp !== undefined && retried.timestamp !== round.timestamp)
        throw new BlockMissingError('implausible');
      const rows = [...round.rows];
      for (const [i, row] of (callsPerMulticall === 1 ? revertFailedAlone(retried.rows) : retried.rows).entries()) {
        rows[again[i] ?? 0] = row;
      }
      round = { rows, timestamp: retried.timestamp, error: undefined };
    }
    return round;
  };

  return async (reading, plan, options = {}) => {
    const first = await ask(reading, multicallsOf(plan, gasOf(reading)), options);
    const round = options.isolate && plan.length > 1 ? await isolate(reading, plan, first, options) : first;
    if (round.timestamp === undefined) throw round.error ?? new ChainReadError('malformed');
    // The block of this number has changed, or the node ignores the requested block.
    if (!options.finalized && round.timestamp !== reading.block.timestamp) throw new BlockMissingError('implausible');
    return {
      block: { number: reading.block.number, timestamp: requireBlockTime(round.timestamp, clock) },
      results: round.rows.map(({ result }) => result),
    };
  };
}

function gasOf({ limits: { callGas } }: Reading): bigint {
  return callGas !== null && callGas < MAX_GAS ? callGas : MAX_GAS;
}

type Answer =
  | { readonly rows: readonly Row[]; readonly timestamp: bigint; readonly chainId: bigint; readonly error?: undefined }
  | { readonly rows: readonly Row[]; readonly error: ChainReadError };

function answerOf(settled: PromiseSettledResult<Hex>, chunk: readonly Call[]): Answer {
  try {
    if (settled.status === 'rejected') throw settled.reason;
    const [time, id, ...rows] = decode(settled.value, FRAME_CALLS + chunk.length);
    const [timestamp, chainId] = [uintOf(time), uintOf(id)];
    // A call that runs out of gas fails without data, and another one may have used the gas up.
    const isShort = chunk.length > 1 && rows.some((row, i) => isWithoutData(row) && !chunk[i]?.mayBeAbsent);
    return {
      timestamp,
      chainId,
      rows: rows.map((row) => ({
        result: row.success ? { ok: true, data: row.returnData } : { ok: false, reason: 'reverted' },
        isSuspect: isShort && isWithoutData(row),
      })),
    };
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    const { reason } = error;
    const row: Row = { result: { ok: false, reason }, isSuspect: CAUSED_BY_A_CALL.includes(reason) };
    return { error, rows: chunk.map(() => row) };
  }
}

function decode(data: Hex, calls: number): readonly Returned[] {
  try {
    return decodeAggregate3(data, calls);
  } catch {
    throw new ChainReadError('malformed');
  }
}

function isWithoutData({ success, returnData }: Returned): boolean {
  return !success && returnData === '0x';
}

function uintOf(row: Returned | undefined): bigint {
  if (!row?.success || size(row.returnData) !== 32) throw new ChainReadError('malformed');
  return BigInt(row.returnData);
}

/** A call that also fails alone while most others succeed is at fault itself and counts as reverted. */
function revertFailedAlone(rows: readonly Row[]): readonly Row[] {
  const suspects = rows.filter(({ isSuspect }) => isSuspect).length;
  if (suspects * 2 >= rows.length) return rows;
  return rows.map((row) => (row.isSuspect ? { result: { ok: false, reason: 'reverted' }, isSuspect: false } : row));
}

/** Process a list with one item per turn of the event loop. */
async function inTurns<T, R>(items: readonly T[], work: (item: T, index: number) => R): Promise<readonly R[]> {
  const done: R[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0) await letOthersRun();
    done.push(work(item, i));
  }
  return done;
}
