import { encodeFunctionData, size } from 'viem';
import { multicall3Abi } from '../abi/multicall3.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId, Hex } from '../shared/ids.ts';
import { betweenEvents, eachStep, runInSlices, type Slicing } from '../shared/slices.ts';
import { requireBlockTime } from './block-time.ts';
import { decodeAggregate, encodeAggregate } from './lens/words.ts';
import type { Reading } from './reading.ts';
import { callAt } from './rpc/call.ts';
import { ChainReadError } from './rpc/errors.ts';
import type { BlockRef, Call, CallResult, ReadOptions } from './types.ts';

export interface ExecutorDeps {
  readonly chainId: ChainId;
  readonly multicall3: Address;
  readonly clock: Clock;
  /** Calldata of one multicall at most; default 64 kB. */
  readonly maxCalldataBytes?: number;
  /** How questions and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

export interface Execution {
  readonly block: BlockRef;
  /** In the order of the calls. */
  readonly results: readonly CallResult[];
}

export interface Executor {
  /** Read everything at the block of the reading. One (batched) request. @throws ChainReadError when nothing at all can be read, `implausible` for a block of the future */
  execute(reading: Reading, calls: readonly Call[], options?: ReadOptions): Promise<Execution>;
}

/** About 290 small calls: some 20 million gas, under the 50 million that nodes allow a call. */
const MAX_CALLDATA_BYTES = 64 * 1024;
/** Target, flag, two offsets and a length around each call's data. */
const CALL_OVERHEAD_BYTES = 5 * 32;

/**
 * Create the executor of plans that are read by multicall: calls become `aggregate3` chunks, all chunks leave in one JSON-RPC batch, all at
 * one block. A call that reverts fails alone. The block's number comes from the node and not from the contract, because on
 * rollups `block.number` may be the parent chain's; its time, and the chain's id as a check, come with the first chunk.
 */
export function createExecutor(deps: ExecutorDeps): Executor {
  const { chainId, multicall3, clock, maxCalldataBytes = MAX_CALLDATA_BYTES, slicing = betweenEvents } = deps;
  const frame: readonly Call[] = [
    { to: multicall3, data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' }) },
    { to: multicall3, data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getChainId' }) },
  ];

  return {
    execute: async (reading, calls, options = {}) => {
      const chunks = await runInSlices(chunksOf([...frame, ...calls], maxCalldataBytes), slicing);
      // All encoded before the first is sent: what is sent in one turn is one request.
      const data = await runInSlices(eachStep(chunks, encodeAggregate), slicing);
      options.signal?.throwIfAborted();
      const answers = await Promise.allSettled(
        data.map((text) => callAt(reading, { to: multicall3, data: text }, options)),
      );
      const read = (answer: (typeof answers)[number], i: number): readonly CallResult[] => {
        const count = chunks[i]?.length ?? 0;
        try {
          if (answer.status === 'rejected') throw answer.reason;
          return resultsOf(answer.value, count);
        } catch (error) {
          if (i === 0 || !(error instanceof ChainReadError)) throw error;
          return Array.from({ length: count }, () => ({ ok: false, reason: error.reason }));
        }
      };
      const results = (await runInSlices(eachStep(answers, read), slicing)).flat();
      const [timestamp, id, ...rest] = results;
      if (uintOf(id) !== BigInt(chainId)) throw new ChainReadError('implausible');
      const { number } = reading.block;
      return { block: { number, timestamp: requireBlockTime(uintOf(timestamp), clock) }, results: rest };
    },
  };
}

/** Split calls into runs whose calldata stays under the limit, step by step; a call larger than it stands alone. */
export function* chunksOf(
  calls: readonly Call[],
  maxBytes: number,
): Generator<void, readonly (readonly Call[])[], void> {
  const chunks: Call[][] = [];
  let room = 0;
  for (const call of calls) {
    // Two digits a byte, behind 0x.
    const bytes = CALL_OVERHEAD_BYTES + Math.ceil((call.data.length - 2) / 64) * 32;
    const open = chunks.at(-1);
    if (open && bytes <= room) {
      open.push(call);
      room -= bytes;
    } else {
      chunks.push([call]);
      room = maxBytes - bytes;
    }
    yield;
  }
  return chunks;
}

function resultsOf(answer: Hex, count: number): readonly CallResult[] {
  let rows: readonly (Hex | null)[];
  try {
    rows = decodeAggregate(answer);
  } catch {
    throw new ChainReadError('malformed');
  }
  if (rows.length !== count) throw new ChainReadError('malformed');
  return rows.map((data) => (data === null ? { ok: false, reason: 'reverted' } : { ok: true, data }));
}

function uintOf(result: CallResult | undefined): bigint {
  if (!result?.ok || size(result.data) !== 32) throw new ChainReadError('malformed');
  return BigInt(result.data);
}
