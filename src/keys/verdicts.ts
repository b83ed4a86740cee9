import { LRUCache } from 'lru-cache';
import type { KeyTier } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';
import type { Timers } from '../shared/timers.ts';
import { settlesWithin } from '../shared/wait-timeout.ts';

/** How long a verdict is trusted without asking the database: the longest life of a revoked key, per process. */
export const VERDICT_TTL_MS = 30_000;
/** Bounds of memory. Refusals are kept apart, so that a flood of wrong keys never displaces the good ones. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 10_000;
/** While the database cannot be asked, it is asked this often. */
export const ASK_AGAIN_MS = 2_000;
/** A caller whose key was good waits for a database that hangs no longer than this. */
const PATIENCE_MS = 1_000;
/** And once it is known to be away: long enough for one that is back. */
const PATIENCE_AWAY_MS = 100;

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
  of(id: string, lookUp: () => Promise<KnownKey | null>): Promise<Verdict>;
  /** Whether the key was judged before, however long ago: asking for it again is no guess. */
  knows(id: string): boolean;
  /** Whether a key was found good before. */
  accepts(id: string): boolean;
  /** How long the verdict that is remembered may be relied on, ms; 0 = it has to be looked up. */
  dueInMs(id: string): number;
  checks(): KeyChecks;
}

interface Good {
  readonly key: KnownKey;
  readonly checkedAtMs: number;
}

/**
 * Remember what was found of keys. While the database cannot be asked, a partner key stays good for `graceMs` after its last
 * check; a key that was refused stays refused; ops keys, and keys that were never seen, wait for the database.
 */
export function createVerdicts({ clock, timers, logger, graceMs }: VerdictDeps): Verdicts {
  const kept = { ttl: Math.max(VERDICT_TTL_MS, graceMs), ttlResolution: 0, perf: { now: () => clock.now() } };
  const accepted = new LRUCache<string, Good>({ ...kept, max: MAX_ACCEPTED });
  const refused = new LRUCache<string, number>({ ...kept, max: MAX_REFUSED });
  const lookups = new Map<string, Promise<KnownKey | null>>();
  let away: { readonly sinceMs: number; readonly askedAtMs: number } | null = null;

  const cannotAsk = (): void => {
    const nowMs = clock.now();
    if (away === null) logger.warn({ graceSec: graceMs / 1_000 }, 'keys cannot be checked');
    away = { sinceMs: away?.sinceMs ?? nowMs, askedAtMs: nowMs };
  };
  const asked = (): void => {
    if (away !== null) logger.info({ forMs: clock.now() - away.sinceMs }, 'keys are checked again');
    away = null;
  };
  /** A clock that was set back makes nothing younger: what was noted ahead of it does not count. */
  const isYounger = (atMs: number | undefined, thanMs: number): boolean =>
    atMs !== undefined && !isFromFuture(atMs, clock.now()) && clock.now() - atMs < thanMs;
  const isFresh = (checkedAtMs: number | undefined): boolean => isYounger(checkedAtMs, VERDICT_TTL_MS);

  /** One look-up per key at a time, however many requests arrive with it. */
  const ask = (id: string, lookUp: () => Promise<KnownKey | null>): Promise<KnownKey | null> => {
    const running = lookups.get(id);
    if (running !== undefined) return running;
    const lookup = lookUp()
      .then(
        (key) => {
          asked();
          if (key === null) {
            accepted.delete(id);
            refused.set(id, clock.now());
          } else {
            refused.delete(id);
            accepted.set(id, { key, checkedAtMs: clock.now() });
          }
          return key;
        },
        (error: unknown) => {
          if (error instanceof UpstreamUnavailableError) cannotAsk();
          throw error;
        },
      )
      .finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  };

  /** What is known from before; `undefined` = nothing that may be relied on. */
  const older = (id: string): Verdict | undefined => {
    if (refused.has(id)) return { key: null, grace: false };
    const good = accepted.get(id);
    if (good === undefined || good.key.tier !== 'partner' || !isYounger(good.checkedAtMs, graceMs)) return undefined;
    return { key: good.key, grace: true };
  };

  return {
    async of(id, lookUp) {
      const good = accepted.get(id);
      if (good !== undefined && isFresh(good.checkedAtMs)) return { key: good.key, grace: false };
      if (isFresh(refused.get(id))) return { key: null, grace: false };
      const before = older(id);
      if (before !== undefined && away !== null && isYounger(away.askedAtMs, ASK_AGAIN_MS)) return before;
      const lookup = ask(id, lookUp);
      if (
        before !== undefined &&
        !(await settlesWithin(lookup, away === null ? PATIENCE_MS : PATIENCE_AWAY_MS, timers))
      ) {
        cannotAsk();
        lookup.catch(() => {});
        return before;
      }
      try {
        return { key: await lookup, grace: false };
      } catch (error) {
        const known = error instanceof UpstreamUnavailableError ? older(id) : undefined;
        if (known === undefined) throw error;
        return known;
      }
    },
    accepts: (id) => accepted.has(id),
    knows: (id) => accepted.has(id) || isFresh(refused.get(id)),
    dueInMs(id) {
      const good = accepted.peek(id);
      if (good === undefined) return 0;
      const nowMs = clock.now();
      const freshMs = isFresh(good.checkedAtMs) ? good.checkedAtMs + VERDICT_TTL_MS - nowMs : 0;
      const lifeMs = (good.key.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs;
      return Math.max(0, Math.min(freshMs, lifeMs));
    },
    checks: () => ({ ok: away === null, sinceMs: away?.sinceMs ?? null }),
  };
}
