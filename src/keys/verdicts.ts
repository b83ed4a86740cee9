import { LRUCache } from 'lru-cache';
import type { KeyTier } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';
import { createStaleIfError } from '../shared/stale-if-error.ts';
import type { Timers } from '../shared/timers.ts';

/** How long a verdict is trusted without asking the database: the longest life of a revoked key, per process. */
export const VERDICT_TTL_MS = 30_000;
/** Bounds of memory. Refusals are kept apart, so that a flood of wrong keys never displaces the good ones. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 10_000;
/** During an outage of the database it is asked this often. */
export const ASK_AGAIN_MS = 2_000;
/** How long a caller whose key was good waits for a database that hangs. */
const WAIT_MS = 1_000;
/** The same during an outage: enough for a database that is back. */
const OUTAGE_WAIT_MS = 100;

export interface VerifiedKey {
  readonly keyId: string;
  readonly tier: KeyTier;
  readonly label: string;
}

/** A key as the database knows it. */
export interface KnownKey extends VerifiedKey {
  readonly expiresAtMs: number | null;
}

/** Whether keys can be checked, as the latest look-ups found. */
export interface KeyChecks {
  readonly ok: boolean;
  /** Since when they cannot, ms. */
  readonly sinceMs: number | null;
}

export interface VerdictDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** How long after its last good check a partner key is let in while the database cannot be asked, ms; 0 = not at all. */
  readonly graceMs: number;
}

export interface Verdict {
  /** `null` = refused. */
  readonly key: KnownKey | null;
  /** Whether it rests on a check that is older than `VERDICT_TTL_MS`, because none can be made. */
  readonly grace: boolean;
}

export interface Verdicts {
  /**
   * Judge the key that `id` stands for: from memory, else by looking it up, else from what was known before.
   * @throws UpstreamUnavailableError when it has to be looked up and cannot
   */
  of(id: string, lookUp: LookUp): Promise<Verdict>;
  /** Whether the key was judged before, however long ago: asking for it again is no guess. */
  knows(id: string): boolean;
  /** Whether a key was found good before. */
  accepts(id: string): boolean;
  /** How long the verdict that is remembered may be relied on, ms; 0 = it has to be looked up. */
  dueInMs(id: string): number;
  checks(): KeyChecks;
}

type LookUp = () => Promise<KnownKey | null>;

/**
 * Remember what was found of keys. During an outage of the database a partner key stays good for `graceMs` after its last check;
 * a key that was refused stays refused; ops keys, and keys that were never seen, wait for the database.
 */
export function createVerdicts({ clock, timers, logger, graceMs }: VerdictDeps): Verdicts {
  const keptMs = Math.max(VERDICT_TTL_MS, graceMs);
  const refused = new LRUCache<string, number>({
    max: MAX_REFUSED,
    ttl: keptMs,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  /** A clock that was set back makes nothing younger: what was noted ahead of it does not count. */
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
    holds: (key) => key !== null,
    fallback(id, _lookUp, held) {
      const refusedAtMs = refused.get(id);
      if (refusedAtMs !== undefined) return { value: null, loadedAtMs: refusedAtMs };
      return held?.value?.tier === 'partner' && isYounger(held.loadedAtMs, graceMs) ? held : undefined;
    },
    isOutage: (error) => error instanceof UpstreamUnavailableError,
    wait: { timers, ms: WAIT_MS, outageMs: OUTAGE_WAIT_MS, isOutage: true },
    pauseMs: ASK_AGAIN_MS,
    onOutage: () => logger.warn({ graceSec: graceMs / 1_000 }, 'keys cannot be checked'),
    onRecovery: (forMs) => logger.info({ forMs }, 'keys are checked again'),
  });
  const accepts = (id: string): boolean => isYounger(keys.peek(id)?.loadedAtMs, keptMs);

  return {
    async of(id, lookUp) {
      if (isFresh(refused.get(id))) return { key: null, grace: false };
      const { value, stale } = await keys.get(id, lookUp);
      return { key: value, grace: stale && value !== null };
    },
    accepts,
    knows: (id) => accepts(id) || isFresh(refused.get(id)),
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
