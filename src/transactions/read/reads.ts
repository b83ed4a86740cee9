import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
} from 'viem';
import { multicall3Abi } from '../../abi/multicall3.ts';
import { requireBlockTime } from '../../chain/block-time.ts';
import type { BlockName, Reading } from '../../chain/reading.ts';
import { ChainReadError, toChainReadError } from '../../chain/rpc/errors.ts';
import type { Session } from '../../chain/rpc/nodes.ts';
import type { BlockRef, Call } from '../../chain/types.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Address, Hex } from '../../shared/ids.ts';

/** One contract read as data: what to ask, and how to understand the answer. */
export interface Read<T> extends Call {
  readonly decode: (data: Hex) => T;
}

/** Plan one read of a view function. */
export function readOf<
  const A extends Abi,
  F extends ContractFunctionName<A, 'view' | 'pure'>,
  const P extends ContractFunctionArgs<A, 'view' | 'pure', F>,
>(to: Address, abi: A, functionName: F, args: P): Read<ContractFunctionReturnType<A, 'view' | 'pure', F, P>> {
  const named = { abi: abi as Abi, functionName: functionName as string };
  return {
    to,
    data: encodeFunctionData({ ...named, args: args as readonly unknown[] }),
    decode: (data) => decodeFunctionResult({ ...named, data }) as ContractFunctionReturnType<A, 'view' | 'pure', F, P>,
  };
}

/** A read whose call reverted, or whose answer is not what was asked, is `undefined`. */
type Answers<P extends readonly Read<unknown>[]> = {
  readonly [K in keyof P]: P[K] extends Read<infer T> ? T | undefined : never;
};

/** The block of a reading; without a number where that may be another block by now. */
export type SeenBlock = Pick<BlockRef, 'timestamp'> & Partial<BlockRef>;

export interface LatestReader {
  /** Read everything at the block of the session, in one request. @throws ChainReadError when nothing can be read, `implausible` when that block is of the future */
  read<const P extends readonly Read<unknown>[]>(
    plan: P,
  ): Promise<{ readonly block: SeenBlock; readonly answers: Answers<P> }>;
  /**
   * Read the same at the block of the session and at the newest final one, in one request. What both say can be remembered: no
   * reorganization takes it back. `final` is absent where the node does not tell which block is final, or has no state of it.
   * @throws ChainReadError when nothing can be read at the session's block
   */
  readSettled<const P extends readonly Read<unknown>[]>(
    plan: P,
  ): Promise<{ readonly answers: Answers<P>; readonly final?: Answers<P> }>;
}

/** Create the reader of one session for building: all of its answers are of the session's block. */
export function createLatestReader(session: Session, multicall3: Address, clock: Clock): LatestReader {
  const timeCall: Call = {
    to: multicall3,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' }),
  };
  const readAt = async <P extends readonly Read<unknown>[]>(
    { client }: Reading,
    plan: P,
    block: BlockName | 'finalized',
  ) => {
    const calls = [timeCall, ...plan].map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
    const answer = await client
      .request({ method: 'eth_call', params: [{ to: multicall3, data }, block as Hex] })
      .catch((error: unknown) => {
        throw toChainReadError(error);
      });
    const rows = attempt(() => decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer }));
    const [time, ...rest] = rows ?? [];
    if (!time?.success || rest.length !== plan.length) throw new ChainReadError('malformed');
    const answers = plan.map((read, i) => {
      const row = rest[i];
      return row?.success ? attempt(() => read.decode(row.returnData)) : undefined;
    });
    const timestamp = requireBlockTime(BigInt(time.returnData), clock);
    return { timestamp, answers: answers as Answers<P> };
  };
  return {
    read: (plan) =>
      session.run(async (reading) => {
        const { timestamp, answers } = await readAt(reading, plan, reading.at);
        const { number, timestamp: named } = reading.block;
        // A number may have become another block since it was told; what is named by its hash cannot.
        return { block: timestamp === named ? { number, timestamp } : { timestamp }, answers };
      }),
    readSettled: (plan) =>
      session.run(async (reading) => {
        const [{ answers }, final] = await Promise.all([
          readAt(reading, plan, reading.at),
          readAt(reading, plan, 'finalized').catch((error: unknown) => {
            if (error instanceof ChainReadError) return undefined;
            throw error;
          }),
        ]);
        return { answers, ...(final ? { final: final.answers } : {}) };
      }),
  };
}

/** Insist on an answer without which nothing can be built. @throws ChainReadError */
export function required<T>(answer: T | undefined): T {
  if (answer === undefined) throw new ChainReadError('reverted');
  return answer;
}

function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
