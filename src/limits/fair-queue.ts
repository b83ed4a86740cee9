/** Admits work that blocks the event loop, one client after the other. */
export interface FairQueue {
  /** Wait for the turn of a client. Resolves at once while little of the running iteration of the event loop is used. */
  enter(identity: string): Promise<void>;
}

export interface FairQueueDeps {
  /** A clock that counts work, ms. */
  readonly now: () => number;
  /** Run something after what has arrived meanwhile was looked at. */
  readonly later: (work: () => void) => void;
}

/** Work that one iteration of the event loop may begin, ms. What was begun is finished, so the last request comes on top. */
const SLICE_MS = 5;

/**
 * Spread work over iterations of the event loop. Requests that arrive together would all be worked on before the next look at the
 * sockets, and everybody else would wait for all of them. The loop begins work for `SLICE_MS`, and then one request per
 * iteration, clients in rotation: a client that sends much waits for itself.
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
    // Behind the other clients.
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
