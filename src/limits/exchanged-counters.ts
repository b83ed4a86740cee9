import { LRUCache } from 'lru-cache';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import type { CounterOptions, Exchange, LocalCounters } from './counters.ts';

export interface ExchangedOptions extends CounterOptions {
  /** Who used so many points since it was last told of is told of soon. */
  readonly urgentPoints: number;
}

export interface ExchangedDeps {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly onExchange?: (ok: boolean) => void;
}

export interface ExchangedCounters extends LocalCounters {
  /** Exchange nothing more. */
  close(): void;
}

/** What processes do not know of each other is what was used in this time, and `urgentPoints`. */
export const EXCHANGE_MS = 250;
/** Between two exchanges, however urgent. */
export const URGENT_MS = 20;
/** Identities told of at once: the store is busy with them for a millisecond or two. */
export const MAX_TOLD = 1_000;
/** Identities that wait to be told of; of more than these is not told, they are counted here alone. */
const MAX_WAITING = 20_000;

interface Window {
  readonly identity: string;
  used: number;
  endsAtMs: number;
  /** Points that nobody else was told of. */
  untold: number;
  waiting: boolean;
}

/**
 * Count in this process, at once, and exchange the counts with other processes in the background: what was used here since
 * the last time for what was used everywhere. Only what was used since then is looked at, and while the exchange fails
 * counting goes on here.
 */
export function createExchangedCounters(
  { windowSec, max, urgentPoints }: ExchangedOptions,
  { exchange, clock, timers, logger, onExchange }: ExchangedDeps,
): ExchangedCounters {
  const windows = new LRUCache<string, Window>({ max });
  let waiting: Window[] = [];
  let timer: unknown = null;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let exchanging = false;
  let hurried = false;
  let works = true;
  let closed = false;

  const noteState = (ok: boolean): void => {
    onExchange?.(ok);
    if (ok !== works) {
      if (ok) logger.info({}, 'addresses are counted together again');
      else logger.warn({}, 'addresses are counted by this process alone');
    }
    works = ok;
  };
  const exchangeIn = (ms: number): void => {
    const atMs = clock.now() + ms;
    if (exchanging || closed || atMs >= timerAtMs) return;
    if (timer !== null) timers.clearTimeout(timer);
    timerAtMs = atMs;
    timer = timers.setTimeout(() => {
      timer = null;
      timerAtMs = Number.POSITIVE_INFINITY;
      void exchangeNow();
    }, ms);
  };
  const wait = (window: Window): void => {
    if (waiting.length >= MAX_WAITING) return;
    window.waiting = true;
    waiting.push(window);
    exchangeIn(EXCHANGE_MS);
  };

  const exchangeNow = async (): Promise<void> => {
    hurried = false;
    const batch = waiting.slice(0, MAX_TOLD);
    waiting = waiting.slice(MAX_TOLD);
    const nowMs = clock.now();
    const told: { readonly window: Window; readonly points: number }[] = [];
    for (const window of batch) {
      window.waiting = false;
      if (window.endsAtMs <= nowMs) continue;
      told.push({ window, points: window.untold });
      window.untold = 0;
    }
    if (told.length > 0) {
      exchanging = true;
      await exchange(
        told.map(({ window: { identity, endsAtMs }, points }) => ({ identity, points, msLeft: endsAtMs - nowMs })),
      ).then(
        (sums) => {
          const learntMs = clock.now();
          told.forEach(({ window }, i) => {
            const sum = sums[i];
            if (sum === undefined) return;
            // A store that came back empty knows less than this process.
            window.used = Math.max(window.used, sum.used + window.untold);
            window.endsAtMs = learntMs + sum.msLeft;
          });
          noteState(true);
        },
        () => {
          for (const { window, points } of told) {
            window.untold += points;
            if (!window.waiting) wait(window);
          }
          noteState(false);
        },
      );
      exchanging = false;
    }
    if (waiting.length > 0) exchangeIn(EXCHANGE_MS);
  };

  return {
    add(identity, points) {
      const nowMs = clock.now();
      let window = windows.get(identity);
      if (window === undefined || window.endsAtMs <= nowMs) {
        window = { identity, used: 0, endsAtMs: nowMs + windowSec * 1000, untold: 0, waiting: false };
        windows.set(identity, window);
      }
      // What is given back after its window has ended is not owed by the next one.
      const added = Math.max(-window.used, points);
      window.used += added;
      window.untold += added;
      if (!window.waiting) wait(window);
      if (window.untold >= urgentPoints && !hurried && !exchanging) {
        hurried = true;
        exchangeIn(URGENT_MS);
      }
      return { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
    close() {
      closed = true;
      if (timer !== null) timers.clearTimeout(timer);
      timer = null;
    },
  };
}
