import { BadRequestError, NotReadyError } from '../shared/errors.ts';
import { RateLimitedError } from './budgets.ts';
import type { CountedClient } from './clients.ts';
import { createRotation } from './rotation.ts';
import { createSlots, shareOf } from './slots.ts';
import { WINDOW_SEC } from './tier-limits.ts';

/** The signal of a client's departure, made when it is needed; absent = not known. */
export type Left = (() => AbortSignal | undefined) | undefined;

/** Admits requests that block the event loop, in rotation of the tiers, and of the clients of each. */
export interface FairQueue {
  /**
   * Wait for the client's turn. Resolves at once while the current iteration of the event loop has time left.
   * @throws CallerLeftError once nobody waits for the request; NotReadyError for a request that has not begun and would wait for
   * too long; RateLimitedError when its tier has no place left
   */
  enter(client: CountedClient, left?: Left): Promise<void>;
  /**
   * The same for a request that a cache may answer without a turn: instead of waiting for too long it goes on at once, with the
   * refusal for the case that no cache has the answer; `null` = it has its turn.
   */
  enterOrRefusal(client: CountedClient, left?: Left): Promise<NotReadyError | null>;
}

export interface FairQueueDeps {
  /** Clock for measuring work, ms. */
  readonly now: () => number;
  /** Run a callback after pending I/O. */
  readonly later: (work: () => void) => void;
  /** Maximum number of waiting requests, shared by the tiers. */
  readonly maxWaiting: number;
  /** A request that would wait longer for its first turn is refused, ms; most need three turns. 0 or absent = never. */
  readonly maxTurnWaitMs?: number | undefined;
  /** Told when the first new request is refused, and when nothing waits any more. */
  readonly onOverload?: ((isOverloaded: boolean) => void) | undefined;
}

/** The client has disconnected, so that nobody gets the answer. */
export class CallerLeftError extends BadRequestError {
  constructor() {
    super('The connection ended before the answer. Send the request again.', { field: 'connection' });
  }
}

/**
 * Time in which an iteration of the event loop starts work, ms. Started work is finished, so the last request comes on top.
 */
const SLICE_MS = 5;
const RETRY_AFTER_SEC = 1;
/** Maximum number of requests that an iteration starts at once: they may arrive in one packet. */
const AT_ONCE = 2;
/** Clients that fill the places of a tier together. */
const CLIENTS = 4;
/** Weight of the latest turn in the mean of their durations. */
const LATEST_TURN = 0.1;
/** A turn counts as so much at most, so that one pause says nothing about the next turns, ms. */
const LONGEST_TURN_MS = 500;

interface Waiter {
  readonly go: () => void;
}

/**
 * Spread work over iterations of the event loop. Otherwise all requests that arrive together would run before the next I/O,
 * and every other request would wait for all of them. Each iteration starts work for `SLICE_MS`, and with a queue one request,
 * with the tiers, their networks and clients in rotation: a client with many requests delays only itself, and many clients
 * without a key do not delay those with one. A request whose client has left is dropped.
 *
 * When requests come faster than they can be answered, all of them would wait until their callers have left. So a new request is
 * refused when the turns before its own, at their mean duration, take too long; what has begun is finished. Answers that need no
 * turn, such as cached ones, are always given. Time in which a request waits for a node or a provider is no turn.
 */
export function createFairQueue({ now, later, maxWaiting, maxTurnWaitMs, onOverload }: FairQueueDeps): FairQueue {
  const waiting = createRotation<Waiter>();
  const places = createSlots({ max: maxWaiting, perClient: (tier) => Math.ceil(shareOf(tier, maxWaiting) / CLIENTS) });
  /** Requests that have had a turn, by the signals of their exchanges. */
  const begun = new WeakSet<AbortSignal>();
  let beganMs: number | null = null;
  let meanTurnMs = 0;
  let isOverloaded = false;
  const report = (value: boolean): void => {
    if (value !== isOverloaded) onOverload?.(value);
    isOverloaded = value;
  };
  /** Requests that were admitted at once in this iteration: requests that arrive together have not worked yet. */
  let admitted = 0;

  const next = (): void => {
    const tookMs = Math.min(now() - (beganMs ?? now()), LONGEST_TURN_MS);
    beganMs = null;
    const first = waiting.next();
    meanTurnMs = first === undefined ? 0 : meanTurnMs + LATEST_TURN * (tookMs - meanTurnMs);
    if (first === undefined) {
      report(false);
      return;
    }
    begin();
    first.go();
  };
  const begin = (): void => {
    beganMs = now();
    admitted = 0;
    later(next);
  };
  const wait = (client: CountedClient, signal: AbortSignal | undefined): Promise<NotReadyError | null> => {
    const { tier, identity, network = identity } = client;
    const path = [tier, network, identity];
    const isNew = signal !== undefined && !begun.has(signal);
    if (isNew && maxTurnWaitMs && waiting.turnsOf(path) * meanTurnMs > maxTurnWaitMs) {
      report(true);
      return Promise.resolve(overloaded());
    }
    const place = places.take(client);
    if ('limit' in place) throw full(client, place.limit);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        place.free();
        signal?.removeEventListener('abort', leave);
        settle();
      };
      const remove = waiting.add(path, { go: () => end(() => resolve(null)) });
      const leave = (): void => {
        remove();
        end(() => reject(new CallerLeftError()));
      };
      signal?.addEventListener('abort', leave, { once: true });
    });
  };

  const enterOrRefusal = async (client: CountedClient, left?: Left): Promise<NotReadyError | null> => {
    if (beganMs === null) begin();
    const signal = left?.();
    if (signal?.aborted) throw new CallerLeftError();
    if (waiting.isEmpty && admitted < AT_ONCE && now() - (beganMs ?? 0) < SLICE_MS) {
      admitted += 1;
    } else {
      const refusal = await wait(client, signal);
      if (refusal !== null) return refusal;
      // It may have left in the turn that began its work.
      if (signal?.aborted) throw new CallerLeftError();
    }
    if (signal) begun.add(signal);
    return null;
  };
  return {
    enterOrRefusal,
    async enter(client, left) {
      const refusal = await enterOrRefusal(client, left);
      if (refusal !== null) throw refusal;
    },
  };
}

function overloaded(): NotReadyError {
  const message = `This process has more requests than it can answer in time. Send the request again in ${RETRY_AFTER_SEC} s.`;
  return new NotReadyError(message, ['turn'], RETRY_AFTER_SEC);
}

function full({ tier }: CountedClient, limit: number): RateLimitedError {
  return new RateLimitedError({ scope: 'queue', policy: tier, limit, windowSec: WINDOW_SEC }, RETRY_AFTER_SEC);
}
