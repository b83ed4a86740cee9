import type { ChainId } from '../shared/ids.ts';

export interface KeyedMutex {
  /** Run a task after every earlier task on the same chain has ended, even with a failure. */
  <T>(chainId: ChainId, task: () => Promise<T>): Promise<T>;
  /** Resolves when every task so far has ended. */
  settled(): Promise<void>;
}

/** Create a mutex per chain: nothing else may write between reading the facts and writing the next ones. */
export function createKeyedMutex(): KeyedMutex {
  const queues = new Map<ChainId, Promise<unknown>>();
  const run = <T>(chainId: ChainId, task: () => Promise<T>): Promise<T> => {
    const result = (queues.get(chainId) ?? Promise.resolve()).then(task);
    queues.set(
      chainId,
      result.catch(() => {}),
    );
    return result;
  };
  return Object.assign(run, {
    async settled() {
      await Promise.all(queues.values());
    },
  });
}
