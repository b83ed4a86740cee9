import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
} from 'viem';
import type { BlockReader, ReadAtOptions } from '../../chain/read-at.ts';
import type { Reading } from '../../chain/reading.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { Session } from '../../chain/rpc/nodes.ts';
import type { BlockRef, Call } from '../../chain/types.ts';
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

export interface LatestReader {
  /** Read everything at the block of the session, in one request. @throws ChainReadError when nothing can be read, `implausible` when that block is of the future */
  read<const P extends readonly Read<unknown>[]>(
    plan: P,
  ): Promise<{ readonly block: BlockRef; readonly answers: Answers<P> }>;
  /**
   * Read the same at the block of the session and at the newest final one, in one request. What both say can be remembered: no
   * reorganization takes it back. `final` is absent where the node does not tell which block is final, or has no state of it.
   * @throws ChainReadError when nothing can be read at the session's block
   */
  readSettled<const P extends readonly Read<unknown>[]>(
    plan: P,
  ): Promise<{ readonly answers: Answers<P>; readonly final?: Answers<P> | undefined }>;
}

/** Create the reader of one session for building: all of its answers are of the session's block. */
export function createLatestReader(session: Session, readAt: BlockReader): LatestReader {
  const answersAt = async <P extends readonly Read<unknown>[]>(reading: Reading, plan: P, options?: ReadAtOptions) => {
    const { block, results } = await readAt(reading, plan, options);
    const answers = plan.map((read, i) => {
      const result = results[i];
      return result?.ok ? attempt(() => read.decode(result.data)) : undefined;
    });
    return { block, answers: answers as Answers<P> };
  };
  return {
    read: (plan) => session.run((reading) => answersAt(reading, plan)),
    readSettled: (plan) =>
      session.run(async (reading) => {
        const [{ answers }, final] = await Promise.all([
          answersAt(reading, plan),
          answersAt(reading, plan, { finalized: true }).catch((error: unknown) => {
            if (error instanceof ChainReadError) return undefined;
            throw error;
          }),
        ]);
        return { answers, final: final?.answers };
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
