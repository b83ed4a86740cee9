import type { ChainId } from '../shared/ids.ts';

export interface KeyedMutex {
  /** Run a task once every task before it on the same chain has ended, also with a failure. */
  <T>(chainId: ChainId, task: () => Promise<T>): Promise<T>;
  /** Resolves when everything begun so far is done. */
  settled(): Promise<void>;
}

/** Run one task at a time per chain: between reading the facts and writing the next ones nothing else may write. */
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
