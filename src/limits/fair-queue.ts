/** Admits requests that block the event loop, in rotation of the clients. */
export interface FairQueue {
  /** Wait for the client's turn. Resolves at once while the current iteration of the event loop has time left. */
  enter(identity: string): Promise<void>;
}

export interface FairQueueDeps {
  /** Clock for measuring work, ms. */
  readonly now: () => number;
  /** Run a callback after pending I/O. */
  readonly later: (work: () => void) => void;
}

/**
 * Time in which an iteration of the event loop starts work, ms. Started work is finished, so the last request comes on top.
 */
const SLICE_MS = 5;

/**
 * Spread work over iterations of the event loop. Otherwise all requests that arrive together would run before the next I/O,
 * and every other request would wait for all of them. Each iteration starts work for `SLICE_MS`, and with a queue one request,
 * with the clients in rotation: a client with many requests delays only itself.
 */
export function createFairQueue({ now, later }: FairQueueDeps): FairQueue {
  const waiting = new Map<string, (() => void)[]>();
  let beganMs: number | null = null;

  const next = (): void => {
    beganMs = null;
    const [first] = waiting;
    if (first === undefined) return;
    const [identity, queue] = first;
    waiting.delete(identity);
    const go = queue.shift();
    // The client goes to the end of the rotation.
    if (queue.length > 0) waiting.set(identity, queue);
    begin();
    go?.();
  };
  const begin = (): void => {
    beganMs = now();
    later(next);
  };

  return {
    enter(identity) {
      if (beganMs === null) begin();
      if (waiting.size === 0 && now() - (beganMs ?? 0) < SLICE_MS) return Promise.resolve();
      return new Promise((resolve) => {
        const queue = waiting.get(identity);
        if (queue) queue.push(resolve);
        else waiting.set(identity, [resolve]);
      });
    },
  };
}
