import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
} from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import type { BlockReader, ReadAtOptions } from '../../chain/read-at.ts';
import type { Reading } from '../../chain/reading.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { Session } from '../../chain/rpc/session.ts';
import type { BlockRef, Call } from '../../chain/types.ts';
import type { Address, Hex } from '../../shared/ids.ts';

/** One contract read as data: the call and the decoder of its answer. */
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

/** Reads that belong together, and the value of their answers. */
export interface ReadPlan<T> {
  readonly reads: readonly Read<unknown>[];
  /** @throws ChainReadError when an answer is missing without which nothing can be built */
  fold(answers: readonly unknown[], block: BlockOfReading): T;
}

/** The block of a reading, or of a simulation, which has no number yet. */
export type BlockOfReading = Pick<BlockRef, 'timestamp'> & Partial<BlockRef>;

type Plans = Readonly<Record<string, ReadPlan<unknown>>>;
/** Each plan is folded on demand, so that the caller decides the order of refusals. */
type Folded<P extends Plans> = { readonly [K in keyof P]: () => ReturnType<P[K]['fold']> };

/** A plan without calls. */
export const NO_READS: ReadPlan<undefined> = { reads: [], fold: () => undefined };

/** A plan of one read; `undefined` = it has no answer. */
export function planOne<T>(read: Read<T>): ReadPlan<T | undefined> {
  return { reads: [read], fold: ([answer]) => answer as T | undefined };
}

/** Read several plans at one block in one request. @throws ChainReadError when nothing can be read */
export async function readPlans<P extends Plans>(reader: LatestReader, plans: P): Promise<Folded<P>> {
  const { answers, block } = await reader.read(Object.values(plans).flatMap(({ reads }) => reads));
  return foldPlans(plans, answers, block);
}

/** Hand each plan its share of the answers. */
export function foldPlans<P extends Plans>(plans: P, answers: readonly unknown[], block: BlockOfReading): Folded<P> {
  let from = 0;
  const folded = Object.entries(plans).map(([key, plan]) => {
    const own = answers.slice(from, from + plan.reads.length);
    from += plan.reads.length;
    return [key, () => plan.fold(own, block)] as const;
  });
  return Object.fromEntries(folded) as Folded<P>;
}

/** A read whose call reverted, or whose answer cannot be decoded, is `undefined`. */
type Answers<P extends readonly Read<unknown>[]> = {
  readonly [K in keyof P]: P[K] extends Read<infer T> ? T | undefined : never;
};

export interface LatestReader {
  /** Read everything at the block of the session, in one request. @throws ChainReadError when nothing can be read, `implausible` when that block is of the future */
  read<const P extends readonly Read<unknown>[]>(
    plan: P,
  ): Promise<{ readonly block: BlockRef; readonly answers: Answers<P> }>;
  /**
   * Read the same at the block of the session and at the newest final one, in one request. Equal answers can be remembered: no
   * reorganization changes them. `final` is absent where the node reports no final block, or has no state of it.
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

/** Require an answer without which nothing can be built. @throws ChainReadError */
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
