import { LRUCache } from 'lru-cache';
import type { KeyTier } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';
import { createStaleIfError } from '../shared/stale-if-error.ts';
import type { Timers } from '../shared/timers.ts';

/** How long a verdict is used without asking the database: the longest life of a revoked key, per process. */
export const VERDICT_TTL_MS = 30_000;
/** Bounds of memory. Refusals have a cache of their own, so that a flood of wrong keys cannot evict the good ones. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 10_000;
/** Interval between attempts during an outage of the database. */
export const RECHECK_MS = 2_000;
/** Wait timeout of a caller with a known key when the database hangs. */
const WAIT_MS = 1_000;
/** The wait timeout during an outage: enough for a database that has recovered. */
const OUTAGE_WAIT_MS = 100;

export interface VerifiedKey {
  readonly keyId: string;
  readonly tier: KeyTier;
  readonly label: string;
}

/** A valid key in the database. */
export interface KnownKey extends VerifiedKey {
  readonly expiresAtMs: number | null;
}

/** Whether keys can be checked, by the latest look-ups. */
export interface KeyChecks {
  readonly ok: boolean;
  readonly sinceMs: number | null;
}

export interface VerdictDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /**
   * Time after its last successful check for which a partner key is accepted during an outage of the database, ms; 0 = not at
   * all.
   */
  readonly graceMs: number;
}

export interface Verdict {
  /** `null` = refused. */
  readonly key: KnownKey | null;
  /** Whether it is based on a check older than `VERDICT_TTL_MS`, because of an outage. */
  readonly grace: boolean;
}

export interface Verdicts {
  /**
   * Return the verdict on the key with this id: from memory, otherwise by a look-up, otherwise by an older verdict.
   * @throws UpstreamUnavailableError when the look-up is needed and fails
   */
  of(id: string, lookUp: LookUp): Promise<Verdict>;
  /** Whether the key was judged before, at any time: a request with it is then not a guess. */
  knows(id: string): boolean;
  /** The key, if it was accepted before. */
  accepted(id: string): KnownKey | null;
  /** Remaining life of the remembered verdict, ms; 0 = a look-up is due. */
  dueInMs(id: string): number;
  checks(): KeyChecks;
}

type LookUp = () => Promise<KnownKey | null>;

/**
 * Create the cache of verdicts on keys. During an outage of the database a partner key stays valid for `graceMs` after its
 * last check, and a refused key stays refused. Ops keys and unknown keys need the database.
 */
export function createVerdicts({ clock, timers, logger, graceMs }: VerdictDeps): Verdicts {
  const ttlMs = Math.max(VERDICT_TTL_MS, graceMs);
  const refused = new LRUCache<string, number>({
    max: MAX_REFUSED,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  /** A time in the future, from before the clock was set back, does not count. */
  const isYounger = (atMs: number | undefined, thanMs: number): boolean =>
    atMs !== undefined && !isFromFuture(atMs, clock.now()) && clock.now() - atMs < thanMs;
  const isFresh = (checkedAtMs: number | undefined): boolean => isYounger(checkedAtMs, VERDICT_TTL_MS);

  const keys = createStaleIfError<KnownKey | null, LookUp>({
    clock,
    bounds: { max: MAX_ACCEPTED },
    freshMs: VERDICT_TTL_MS,
    async load(id, lookUp) {
      const key = await lookUp();
      if (key === null) refused.set(id, clock.now());
      else refused.delete(id);
      return key;
    },
    isCacheable: (key) => key !== null,
    fallback(id, _lookUp, held) {
      const refusedAtMs = refused.get(id);
      if (refusedAtMs !== undefined) return { value: null, loadedAtMs: refusedAtMs };
      return held?.value?.tier === 'partner' && isYounger(held.loadedAtMs, graceMs) ? held : undefined;
    },
    isOutage: (error) => error instanceof UpstreamUnavailableError,
    wait: { timers, ms: WAIT_MS, outageMs: OUTAGE_WAIT_MS, isOutage: true },
    pauseMs: RECHECK_MS,
    onOutage: () => logger.warn({ graceSec: graceMs / 1_000 }, 'keys cannot be checked'),
    onRecovery: (forMs) => logger.info({ forMs }, 'keys are checked again'),
  });
  const accepted = (id: string): KnownKey | null => {
    const held = keys.peek(id);
    return isYounger(held?.loadedAtMs, ttlMs) ? (held?.value ?? null) : null;
  };

  return {
    async of(id, lookUp) {
      if (isFresh(refused.get(id))) return { key: null, grace: false };
      const { value, stale } = await keys.get(id, lookUp);
      return { key: value, grace: stale && value !== null };
    },
    accepted,
    knows: (id) => accepted(id) !== null || isFresh(refused.get(id)),
    dueInMs(id) {
      const good = keys.peek(id);
      if (good === undefined) return 0;
      const nowMs = clock.now();
      const freshMs = isFresh(good.loadedAtMs) ? good.loadedAtMs + VERDICT_TTL_MS - nowMs : 0;
      const lifeMs = (good.value?.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs;
      return Math.max(0, Math.min(freshMs, lifeMs));
    },
    checks: () => ({ ok: keys.outage() === null, sinceMs: keys.outage()?.sinceMs ?? null }),
  };
}
