/** Lets clients do work that holds the event loop up one after the other. */
export interface Turns {
  /** Wait until it is this client's turn. Resolves at once while nobody has used much of the running turn of the loop. */
  take(identity: string): Promise<void>;
}

export interface TurnsDeps {
  /** A clock that counts work, ms. */
  readonly now: () => number;
  /** Run something after what has arrived meanwhile was looked at. */
  readonly later: (work: () => void) => void;
}

/** Work that one turn of the loop may begin, ms. What was begun is finished, so the last one comes on top. */
const SLICE_MS = 5;

/**
 * Spread work over turns of the event loop. Requests that arrive together would all be worked on before the next look at the
 * sockets, and everybody else would wait for all of them. Here the loop begins work for `SLICE_MS`, and then one client's
 * request per turn, clients in rotation: whoever sends much waits for himself.
 */
export function createTurns({ now, later }: TurnsDeps): Turns {
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
    take(identity) {
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
