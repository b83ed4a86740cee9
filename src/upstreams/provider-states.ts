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
  /** The kinds of requests that fail at present, the latest first; absent while none does. */
  readonly failures?: readonly ProviderFailure[] | undefined;
  /** Time until which our own budget holds requests back, ms; absent = it does not. */
  readonly throttledUntilMs?: number | undefined;
}

/** One kind of request that fails, until one of it is answered. */
export interface ProviderFailure {
  /** Path template of the requests, with the part of the provider that they concern. */
  readonly subject: string;
  readonly reason: FailureReason;
  /** Status of the latest answer; absent without one. */
  readonly httpStatus?: number | undefined;
  /** The provider's own code in it. */
  readonly code?: number | undefined;
  /** Time of the first failure, ms. */
  readonly sinceMs: number;
}

/** Receives the outcomes of the requests of one client. */
export interface ProviderNotes {
  /** A usable answer about a subject. */
  answered(subject: string): void;
  failed(subject: string, failure: Omit<ProviderFailure, 'subject' | 'sinceMs'>): void;
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
      let failing: readonly (ProviderFailure & { readonly atMs: number })[] = [];
      let heldUntilMs = Number.NEGATIVE_INFINITY;
      const statusOf = (isThrottled: boolean): ProviderState['status'] => {
        if (failing.some(({ atMs }) => clock.now() - atMs < FAILURE_COUNTS_MS)) return 'failing';
        if (isThrottled) return 'throttled';
        if (failing.length > 0 && failing.every(({ sinceMs }) => sinceMs >= (lastAnswerMs ?? sinceMs)))
          return 'unknown';
        return lastAnswerMs === undefined ? 'unknown' : 'ok';
      };
      rows.push(() => {
        const throttledUntilMs = clock.now() < heldUntilMs ? heldUntilMs : undefined;
        const status = statusOf(throttledUntilMs !== undefined);
        const [latest] = failing;
        const failingSinceMs = latest && Math.min(...failing.map(({ sinceMs }) => sinceMs));
        const failures = latest && failing.map(({ atMs: _, ...failure }) => failure);
        return { ...client, status, lastAnswerMs, failingSinceMs, reason: latest?.reason, failures, throttledUntilMs };
      });
      return {
        answered(subject) {
          lastAnswerMs = clock.now();
          failing = failing.filter((failure) => failure.subject !== subject);
        },
        failed(subject, failure) {
          const sinceMs = failing.find((known) => known.subject === subject)?.sinceMs ?? clock.now();
          const others = failing.filter((known) => known.subject !== subject);
          failing = [{ ...failure, subject, sinceMs, atMs: clock.now() }, ...others];
        },
        throttled(forMs) {
          heldUntilMs = clock.now() + forMs;
        },
      };
    },
    list: () => rows.map((row) => row()),
  };
}
