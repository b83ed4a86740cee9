import type { Clock } from '../../shared/clock.ts';
import type { ChainId, Hex } from '../../shared/ids.ts';
import { betweenEvents, eachStep, runInSlices, type Slicing } from '../../shared/slices.ts';
import { requireBlockTime } from '../block-time.ts';
import type { Reading } from '../reading.ts';
import { callAt } from '../rpc/call.ts';
import { ChainReadError } from '../rpc/errors.ts';
import type { BlockRef, CallResult, ReadOptions } from '../types.ts';
import { decodeLensHeader, type LensHeader } from './lens-words.ts';

export interface LensDeps {
  readonly chainId: ChainId;
  readonly clock: Clock;
  /** How answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

/** One call of the lens. */
export interface LensCall {
  readonly data: Hex;
  /** Markets that it asks about. */
  readonly count: number;
}

export interface LensReading {
  readonly block: BlockRef;
  /** In the order of the calls; data is as the lens returned it, and about as many markets as were asked. */
  readonly results: readonly CallResult[];
}

/**
 * Run calls of the lens at one block, in one batch. A call that fails, fails alone.
 * @throws ChainReadError when none is answered; `implausible` when the node is another chain's, the block is of the future, or the answers do not tell the same time
 */
export type AskLens = (reading: Reading, calls: readonly LensCall[], options?: ReadOptions) => Promise<LensReading>;

type Answer =
  | { readonly data: Hex; readonly header: LensHeader; readonly error?: never }
  | { readonly error: ChainReadError };

/**
 * Create the executor of lens calls: creation code that nobody deploys, run by the node for what its constructor returns.
 * The block's number comes from whoever asks, its time and the chain's id from every answer.
 */
export function createLens({ chainId, clock, slicing = betweenEvents }: LensDeps): AskLens {
  const read = (settled: PromiseSettledResult<Hex>, { count }: LensCall): Answer => {
    if (settled.status === 'fulfilled') return answerOf(settled.value, count);
    // What is no failure of the chain is an abort.
    if (!(settled.reason instanceof ChainReadError)) throw settled.reason;
    return { error: settled.reason };
  };

  return async (reading, calls, options) => {
    options?.signal?.throwIfAborted();
    const settled = await Promise.allSettled(calls.map(({ data }) => callAt(reading, { data }, options)));
    const answers = await runInSlices(
      eachStep(calls, (call, i) => read(settled[i] as PromiseSettledResult<Hex>, call)),
      slicing,
    );
    const [first, ...others] = answers.filter(isAnswered).map(({ header }) => header);
    if (!first) throw answers[0]?.error ?? new ChainReadError('malformed');
    const { timestamp } = first;
    // The same number with another time is another block: the chain was reorganized between the calls.
    const isOther = (header: LensHeader) => header.timestamp !== timestamp || header.chainId !== first.chainId;
    if (first.chainId !== BigInt(chainId) || others.some(isOther)) throw new ChainReadError('implausible');
    return {
      block: { number: reading.block.number, timestamp: requireBlockTime(timestamp, clock) },
      results: answers.map((answer) =>
        answer.error ? { ok: false, reason: answer.error.reason } : { ok: true, data: answer.data },
      ),
    };
  };
}

function answerOf(data: Hex, count: number): Answer {
  try {
    const header = decodeLensHeader(data);
    if (header.count === count) return { data, header };
  } catch {
    // Said below.
  }
  return { error: new ChainReadError('malformed') };
}

function isAnswered(answer: Answer): answer is Extract<Answer, { readonly data: Hex }> {
  return answer.error === undefined;
}
