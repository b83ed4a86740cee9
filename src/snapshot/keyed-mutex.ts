import type { ChainId } from '../shared/ids.ts';

export interface Turns {
  /** Do something once everything before it on the same chain is done, also if that failed. */
  <T>(chainId: ChainId, task: () => Promise<T>): Promise<T>;
  /** Resolves when everything begun so far is done. */
  settled(): Promise<void>;
}

/** One thing at a time per chain: whoever reads the facts and writes the next ones must not be overtaken in between. */
export function createTurns(): Turns {
  const queues = new Map<ChainId, Promise<unknown>>();
  const inTurn = <T>(chainId: ChainId, task: () => Promise<T>): Promise<T> => {
    const result = (queues.get(chainId) ?? Promise.resolve()).then(task);
    queues.set(
      chainId,
      result.catch(() => {}),
    );
    return result;
  };
  return Object.assign(inTurn, {
    async settled() {
      await Promise.all(queues.values());
    },
  });
}
