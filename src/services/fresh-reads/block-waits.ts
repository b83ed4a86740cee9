import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { HeadReading, ReadHead, TransactionSlot, TransactionState } from '../../chain/transactions.ts';
import { RateLimitedError } from '../../limits/budgets.ts';
import { createSlots } from '../../limits/slots.ts';
import { WINDOW_SEC } from '../../limits/tier-limits.ts';
import type { BlockWaitsPort, WaitOutcome, WaitStatus, WaitTarget } from '../../resolvers/common/read-services.ts';
import { RETRY_AFTER_SEC } from '../../shared/calls/wait-timeout.ts';
import { BadRequestError, NotReadyError } from '../../shared/errors.ts';
import type { ChainId, Hex } from '../../shared/ids.ts';
import type { Timers } from '../../shared/timers.ts';
import { createHeadPolls, type HeadPolls } from './head-polls.ts';

export interface BlockWaitsDeps {
  readonly readers: ReadonlyMap<ChainId, ReadHead>;
  /** Timers of the waits. */
  readonly timers: Timers;
  /** Milliseconds that do not go backwards. */
  readonly elapsedMs: () => number;
  /** Longest wait, ms. */
  readonly maxWaitMs: number;
  /** Waits of one client at a time. */
  readonly perClient: number;
  /** Waits of all clients at a time, shared by the tiers. */
  readonly max: number;
  /** Called at the end of each wait, for metrics: the status, or the code of the error. */
  readonly onEnd?: ((outcome: string) => void) | undefined;
}

export interface BlockWaits extends BlockWaitsPort {
  /** Waits under way. */
  readonly count: number;
  /** End all waits: the process stops. */
  stop(): void;
}

/** How far ahead of the newest block a requested one may be: 10 s of a chain with a block every 0.1 s, the default of READ_WAIT_SEC. */
const MAX_BLOCKS_AHEAD = 100n;

/** Create the waits for blocks. All waits of a chain share one poll of its newest block. */
export function createBlockWaits(deps: BlockWaitsDeps): BlockWaits {
  const { readers, timers, elapsedMs, maxWaitMs, perClient, max, onEnd } = deps;
  const polls = new Map([...readers].map(([chainId, read]) => [chainId, createHeadPolls(read, timers)]));
  const slots = createSlots({ max, perClient: () => perClient });
  const ends = new Set<(why: Error) => void>();

  const waitFor: BlockWaitsPort['wait'] = async (target, chainIds, { signal }) => {
    signal?.throwIfAborted();
    const startedMs = elapsedMs();
    const observer = createObserver(target, chainIds, polls, readers);
    return new Promise<WaitOutcome>((resolve, reject) => {
      const unfollow: (() => void)[] = [];
      const end = (settle: () => void): void => {
        for (const stop of unfollow.splice(0)) stop();
        timers.clearTimeout(deadline);
        ends.delete(fail);
        signal?.removeEventListener('abort', left);
        settle();
      };
      const fail = (why: Error): void => end(() => reject(why));
      const left = (): void => fail(asError(signal?.reason));
      const done = (outcome: Omit<WaitOutcome, 'waitedMs'>): void =>
        end(() => resolve({ ...outcome, waitedMs: Math.max(0, Math.round(elapsedMs() - startedMs)) }));
      const settled = (work: () => Omit<WaitOutcome, 'waitedMs'> | null): void => {
        try {
          const outcome = work();
          if (outcome) done(outcome);
        } catch (error) {
          fail(asError(error));
        }
      };
      const deadline = timers.setTimeout(() => settled(() => observer.atDeadline()), maxWaitMs);
      ends.add(fail);
      signal?.addEventListener('abort', left, { once: true });
      unfollow.push(...observer.follow((work) => settled(work)));
    });
  };

  return {
    get count() {
      return ends.size;
    },
    async wait(target, chainIds, client) {
      const place = slots.take(client);
      if ('limit' in place) {
        onEnd?.('rate_limited');
        const details = { scope: 'waits', policy: client.tier, limit: place.limit, windowSec: WINDOW_SEC } as const;
        throw new RateLimitedError(details, RETRY_AFTER_SEC);
      }
      try {
        const outcome = await waitFor(target, chainIds, client);
        onEnd?.(outcome.status);
        return outcome;
      } catch (error) {
        onEnd?.(client.signal?.aborted ? 'left' : error instanceof ChainReadError ? error.code : 'refused');
        throw error;
      } finally {
        place.free();
      }
    },
    stop() {
      for (const fail of [...ends]) fail(new NotReadyError('This process is stopping. Send the request again.', []));
    },
  };
}

type Found = Omit<WaitOutcome, 'waitedMs'>;
type Settle = (work: () => Found | null) => void;

interface Observer {
  /** Follow the heads of the chains; returns the functions that stop it. */
  follow(settle: Settle): (() => void)[];
  /** The outcome when the time is over. @throws ChainReadError */
  atDeadline(): Found;
}

function createObserver(
  target: WaitTarget,
  chainIds: readonly ChainId[],
  polls: ReadonlyMap<ChainId, HeadPolls>,
  readers: BlockWaitsDeps['readers'],
): Observer {
  return target.kind === 'block'
    ? blockObserver(target.number, chainIds, polls)
    : transactionObserver(target.hash, chainIds, polls, readers);
}

function blockObserver(number: bigint, chainIds: readonly ChainId[], polls: ReadonlyMap<ChainId, HeadPolls>): Observer {
  let failure: ChainReadError | undefined;
  let latest: HeadReading['block'] | undefined;
  const [chainId] = chainIds;
  const base = { chainId: chainId ?? null, targetBlock: number };
  return {
    follow: (settle) =>
      chainIds.flatMap((id) => {
        const stop = polls.get(id)?.follow(undefined, (head) =>
          settle(() => {
            if (head instanceof ChainReadError) {
              failure = head;
              return null;
            }
            const { block } = head;
            latest = block;
            if (number > block.number + MAX_BLOCKS_AHEAD) throw tooFarAhead(id, number, block.number);
            return block.number >= number ? { ...base, status: 'reached', block } : null;
          }),
        );
        return stop ?? [];
      }),
    atDeadline() {
      if (!latest) throw failure ?? new ChainReadError('timeout', RETRY_AFTER_SEC);
      return { ...base, status: 'not_reached', block: latest };
    },
  };
}

function transactionObserver(
  hash: Hex,
  chainIds: readonly ChainId[],
  polls: ReadonlyMap<ChainId, HeadPolls>,
  readers: BlockWaitsDeps['readers'],
): Observer {
  const states = new Map<ChainId, TransactionState | ChainReadError>();
  const slots = new Map<ChainId, TransactionSlot>();
  const blocks = new Map<ChainId, HeadReading['block']>();
  const without = (status: WaitStatus, chainId: ChainId | null): Found => {
    const block = chainId === null ? null : (blocks.get(chainId) ?? null);
    return { status, chainId, targetBlock: null, block };
  };
  let isElsewhereAsked = false;

  const judge = (chainId: ChainId, head: HeadReading): Found | null => {
    const state = head.transactions.get(hash) ?? { kind: 'unknown' };
    states.set(chainId, state);
    blocks.set(chainId, head.block);
    if (state.kind === 'pending') slots.set(chainId, state);
    if (state.kind === 'replaced') return without('replaced', chainId);
    if (state.kind !== 'included' || head.block.number < state.blockNumber) return null;
    const status = state.succeeded ? 'included' : 'reverted';
    return { status, chainId, targetBlock: state.blockNumber, block: head.block };
  };
  /** Ask the other chains once, as soon as the asked ones do not know the transaction. */
  const askElsewhere = (settle: Settle): void => {
    const all = chainIds.map((chainId) => states.get(chainId));
    if (isElsewhereAsked || !all.every((state) => state && !(state instanceof Error) && state.kind === 'unknown'))
      return;
    isElsewhereAsked = true;
    for (const [chainId, read] of readers) {
      if (chainIds.includes(chainId)) continue;
      read([{ hash }]).then(
        ({ transactions }) =>
          settle(() => {
            const kind = transactions.get(hash)?.kind ?? 'unknown';
            if (kind === 'included' || kind === 'pending') throw onOtherChain(hash, chainId);
            return null;
          }),
        () => {},
      );
    }
  };

  return {
    follow: (settle) =>
      chainIds.flatMap((chainId) => {
        const asked = () => ({ hash, slot: slots.get(chainId) });
        const stop = polls.get(chainId)?.follow(asked, (head) =>
          settle(() => {
            if (head instanceof ChainReadError) {
              if (!states.has(chainId)) states.set(chainId, head);
              return null;
            }
            const found = judge(chainId, head);
            if (found === null) askElsewhere(settle);
            return found;
          }),
        );
        return stop ?? [];
      }),
    atDeadline() {
      const failure = [...states.values()].find((state) => state instanceof ChainReadError);
      for (const [chainId, state] of states) {
        if (state instanceof ChainReadError) continue;
        // Its block is known, but no node that answers has reached it: an answer would be of before the transaction.
        if (state.kind === 'included') throw new ChainReadError('missing', RETRY_AFTER_SEC);
        if (state.kind === 'pending') return without('pending', chainId);
      }
      if (failure || states.size === 0) throw failure ?? new ChainReadError('timeout', RETRY_AFTER_SEC);
      const [dropped] = slots.keys();
      if (dropped !== undefined) return without('dropped', dropped);
      const [only, ...others] = chainIds;
      return without('unknown', others.length === 0 ? (only ?? null) : null);
    },
  };
}

function tooFarAhead(chainId: ChainId, wanted: bigint, head: bigint): BadRequestError {
  const max = head + MAX_BLOCKS_AHEAD;
  return new BadRequestError(
    `minBlock ${wanted} is too far ahead of chain ${chainId}, whose newest block is ${head}. Send at most ${max}.`,
    { field: 'minBlock', value: String(wanted), limit: { head: String(head), max: String(max) } },
  );
}

function onOtherChain(hash: Hex, chainId: ChainId): BadRequestError {
  return new BadRequestError(
    `The transaction ${hash} is on chain ${chainId}, which is not asked. Ask for that chain.`,
    {
      field: 'afterTx',
      value: hash,
      limit: { oneOf: [chainId] },
    },
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the wait ended', { cause: error });
}
