/** Name a part of a start while it runs. */
export type During = <T>(what: string, work: Promise<T>) => Promise<T>;

const EVERY_MS = 1_000;

/** Tell people once a second what a start is waiting for. */
export function tellProgress(say: (text: string) => void): During {
  const startedMs = performance.now();
  const running = new Set<string>();
  setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    if (running.size > 0) say(`${seconds} s: waiting for ${[...running].join(', ')}.`);
  }, EVERY_MS).unref();
  return async (what, work) => {
    running.add(what);
    try {
      return await work;
    } finally {
      running.delete(what);
    }
  };
}

/** Tell nobody. */
export const inSilence: During = (_what, work) => work;
