import type { FailureReason } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';

/** State of one provider in this process, or of one part of it with separate requests. */
export interface ProviderState {
  /** Public name. */
  readonly provider: string;
  /** Purpose of the requests, where a provider has several kinds of them. */
  readonly part?: string | undefined;
  /** Whether requests of readers call it, as opposed to warmers. */
  readonly isWaitedFor: boolean;
  /**
   * `unknown` = this process has sent no request, or none for an hour since it failed (a second source is called only when
   * the first has no value). `throttled` = held back by our own budget, and not failing.
   */
  readonly status: 'ok' | 'failing' | 'throttled' | 'unknown';
  /** Time of the latest usable answer, ms. */
  readonly lastAnswerMs?: number | undefined;
  /** Time of the first failure since that answer, ms. */
  readonly failingSinceMs?: number | undefined;
  /** Reason of the latest failure; absent once it has answered. */
  readonly reason?: FailureReason | undefined;
  /** Time until which our own budget holds requests back, ms; absent = it does not. */
  readonly throttledUntilMs?: number | undefined;
}

/** Receives the outcomes of the requests of one client. */
export interface ProviderNotes {
  /** A usable answer. */
  answered(): void;
  failed(reason: FailureReason): void;
  /** A request that our own budget refused. */
  throttled(forMs: number): void;
}

export interface ProviderStates {
  /** Register a client. */
  add(client: Pick<ProviderState, 'provider' | 'part' | 'isWaitedFor'>): ProviderNotes;
  /** In the order of registration. */
  list(): readonly ProviderState[];
}

/** Without another request a failure counts for this long. */
const FAILURE_COUNTS_MS = 3_600_000;

/** Create the record of all providers of a process. */
export function createProviderStates(clock: Clock): ProviderStates {
  const rows: (() => ProviderState)[] = [];
  return {
    add(client) {
      let lastAnswerMs: number | undefined;
      let failingSinceMs: number | undefined;
      let failedMs = Number.NEGATIVE_INFINITY;
      let reason: FailureReason | undefined;
      let heldUntilMs = Number.NEGATIVE_INFINITY;
      const statusOf = (isThrottled: boolean): ProviderState['status'] => {
        if (failingSinceMs !== undefined) return clock.now() - failedMs < FAILURE_COUNTS_MS ? 'failing' : 'unknown';
        if (isThrottled) return 'throttled';
        return lastAnswerMs === undefined ? 'unknown' : 'ok';
      };
      rows.push(() => {
        const throttledUntilMs = clock.now() < heldUntilMs ? heldUntilMs : undefined;
        const status = statusOf(throttledUntilMs !== undefined);
        return { ...client, status, lastAnswerMs, failingSinceMs, reason, throttledUntilMs };
      });
      return {
        answered() {
          lastAnswerMs = clock.now();
          failingSinceMs = undefined;
          reason = undefined;
        },
        failed(why) {
          failingSinceMs ??= clock.now();
          failedMs = clock.now();
          reason = why;
        },
        throttled(forMs) {
          heldUntilMs = clock.now() + forMs;
        },
      };
    },
    list: () => rows.map((row) => row()),
  };
}
