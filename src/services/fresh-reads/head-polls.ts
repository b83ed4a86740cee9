import { type ChainReadError, toChainReadError } from '../../chain/rpc/errors.ts';
import type { AskedTransaction, HeadReading, ReadHead } from '../../chain/transactions.ts';
import type { Timers } from '../../shared/timers.ts';

/** Pause between two polls: a block of the fastest chain. */
const POLL_MS = 250;

export interface HeadPolls {
  /**
   * Be called with every poll from now on; a poll reads the given transaction too. The first poll begins at once, unless one
   * is under way.
   * @returns the function that stops it
   */
  follow(asked: (() => AskedTransaction) | undefined, onHead: (head: HeadReading | ChainReadError) => void): () => void;
}

interface Follower {
  readonly asked: (() => AskedTransaction) | undefined;
  readonly onHead: (head: HeadReading | ChainReadError) => void;
}

/** Create the polls of one chain: one reading at a time for all waits, and none without a wait. */
export function createHeadPolls(read: ReadHead, timers: Timers): HeadPolls {
  const followers = new Set<Follower>();
  let isRunning = false;
  let wake: (() => void) | null = null;

  const pause = () =>
    new Promise<void>((resolve) => {
      const handle = timers.setTimeout(() => {
        wake = null;
        resolve();
      }, POLL_MS);
      wake = () => {
        wake = null;
        timers.clearTimeout(handle);
        resolve();
      };
    });
  const poll = async (): Promise<void> => {
    const asking = [...followers];
    const transactions = new Map(
      asking.flatMap(({ asked }) => {
        const one = asked?.();
        return one ? [[one.hash, one] as const] : [];
      }),
    );
    const head = await read([...transactions.values()]).catch((error: unknown) => toChainReadError(error));
    for (const follower of asking) if (followers.has(follower)) follower.onHead(head);
  };
  const run = async (): Promise<void> => {
    isRunning = true;
    while (followers.size > 0) {
      await poll();
      if (followers.size > 0) await pause();
    }
    isRunning = false;
  };

  return {
    follow(asked, onHead) {
      const follower: Follower = { asked, onHead };
      followers.add(follower);
      if (!isRunning) void run();
      return () => {
        followers.delete(follower);
        // No caller waits any more: the pause ends with its timer.
        if (followers.size === 0) wake?.();
      };
    },
  };
}
