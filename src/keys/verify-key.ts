import { createHash } from 'node:crypto';
import type { Database } from '../database/client.ts';
import { createKeyRepository, type KeyRepository, type KeyTier } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { UnauthorizedError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import { createKeyAdmin, type KeyAdmin } from './admin.ts';
import { parseKey } from './format.ts';
import { hashKey, matchesHash } from './hash.ts';
import { createLastUsedRecorder } from './last-used.ts';
import { sampleKeyId } from './owners.ts';
import { keyStatusOf } from './status.ts';
import {
  createVerdicts,
  type KeyChecks,
  type KnownKey,
  RECHECK_MS,
  type Verdict,
  type VerifiedKey,
} from './verdict-cache.ts';

export { type KeyChecks, VERDICT_TTL_MS } from './verdict-cache.ts';

/** Longer than any key: a longer header is refused without parsing. */
const MAX_HEADER_LENGTH = 256;
/** How long a key is kept after its revocation or expiry. */
const ENDED_KEPT_MS = 90 * 86_400_000;
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

export interface KeyServiceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /**
   * Time after its last successful check for which a partner key is accepted during an outage of the database, ms; 0 = not at
   * all.
   */
  readonly graceMs: number;
  /** Called with the outcome of each check, for metrics. */
  readonly onCheck?: ((outcome: KeyCheckOutcome) => void) | undefined;
  /** Secret mixed into the hashes. */
  readonly pepper?: string | undefined;
  /** Keys of a local world by their text. Never set in production. */
  readonly sampleKeys?: ReadonlyMap<string, { readonly tier: KeyTier }> | undefined;
}

/** `grace` = accepted by an older check during an outage; `unavailable` = neither accepted nor refused. */
export type KeyCheckOutcome = 'accepted' | 'grace' | 'refused' | 'unavailable';

export interface KeyService extends KeyAdmin {
  /**
   * Check an `Authorization` header. Missing, malformed, unknown, revoked and expired keys are all `null`.
   * @throws UpstreamUnavailableError when the database is needed and does not answer, because an unknown key is not an invalid
   * one
   */
  verify(authorizationHeader: string | null | undefined): Promise<VerifiedKey | null>;
  /** Whether `verify` can judge a header without a first look-up of its key. */
  knows(authorizationHeader: string): boolean;
  /** A key that was accepted before, as far as remembered. Requests with such a key have a budget and places of their own. */
  accepted(authorizationHeader: string): Pick<VerifiedKey, 'keyId' | 'tier'> | null;
  /**
   * Call `onEnd` once, when a request with this header would no longer be accepted: with `UnauthorizedError` when its key has
   * ended, with `UpstreamUnavailableError` when it cannot be checked any more. Returns the function that stops the watch.
   */
  watch(authorizationHeader: string, onEnd: (why: unknown) => void): () => void;
  checks(): KeyChecks;
  /** Remove keys that ended 90 days ago; returns their number. */
  prune(): Promise<number>;
  /** Wait for pending writes. Call it before the database is closed. */
  close(): Promise<void>;
}

interface Presented {
  /** Cache key. */
  readonly id: string;
  readonly text: string;
}

const REFUSED: Verdict = { key: null, grace: false };

export function createKeyService(deps: KeyServiceDeps): KeyService {
  const { clock, timers, onCheck } = deps;
  const repository = createKeyRepository(deps.db);
  const samples = sampleVerdicts(deps.sampleKeys);
  const lastUsed = createLastUsedRecorder(repository, deps);
  const verdicts = createVerdicts(deps);

  const judge = async ({ id, text }: Presented): Promise<Verdict> => {
    if (parseKey(text) === null) return REFUSED;
    const verdict = await verdicts.of(id, () => lookUp(repository, deps, text));
    const life = { revokedAtMs: null, expiresAtMs: verdict.key?.expiresAtMs ?? null };
    return keyStatusOf(life, clock.now()) === 'active' ? verdict : REFUSED;
  };

  return {
    ...createKeyAdmin(deps),
    verify: async (header) => {
      const presented = readHeader(header);
      const sample = presented === null ? undefined : samples.get(presented.id);
      if (sample !== undefined) return sample;
      try {
        const { key, grace } = presented === null ? REFUSED : await judge(presented);
        onCheck?.(key === null ? 'refused' : grace ? 'grace' : 'accepted');
        if (key === null) return null;
        lastUsed.touch(key.keyId);
        return { keyId: key.keyId, tier: key.tier, label: key.label };
      } catch (error) {
        onCheck?.('unavailable');
        throw error;
      }
    },
    knows(header) {
      const presented = readHeader(header);
      // A text that is not a key is refused without a look-up.
      if (presented === null || samples.has(presented.id) || parseKey(presented.text) === null) return true;
      return verdicts.knows(presented.id);
    },
    accepted(header) {
      const presented = readHeader(header);
      return presented === null ? null : (samples.get(presented.id) ?? verdicts.accepted(presented.id));
    },
    watch(header, onEnd) {
      const presented = readHeader(header);
      let timer: unknown = null;
      let ended = presented !== null && samples.has(presented.id);
      const look = async (): Promise<void> => {
        const why = await (presented === null ? Promise.resolve(REFUSED) : judge(presented)).then(
          ({ key }) => (key === null ? new UnauthorizedError() : null),
          (error: unknown) => error,
        );
        if (ended) return;
        if (why === null) return lookLater();
        ended = true;
        onEnd(why);
      };
      const lookLater = (): void => {
        // A key on an older check is checked again whenever the database is retried.
        const dueMs = presented === null ? 0 : verdicts.dueInMs(presented.id) || RECHECK_MS;
        timer = timers.setTimeout(() => void look(), dueMs);
      };
      if (!ended) lookLater();
      return () => {
        ended = true;
        if (timer !== null) timers.clearTimeout(timer);
      };
    },
    checks: () => verdicts.checks(),
    prune: () => repository.prune(clock.now() - ENDED_KEPT_MS),
    close: () => lastUsed.settle(),
  };
}

async function lookUp(repository: KeyRepository, deps: KeyServiceDeps, text: string): Promise<KnownKey | null> {
  const parsed = parseKey(text);
  const record = parsed === null ? null : await repository.findByPrefix(parsed.prefix);
  const isRight = matchesHash(hashKey(text, deps.pepper), record?.secretHash ?? null);
  if (record === null || !isRight || keyStatusOf(record, deps.clock.now()) !== 'active') return null;
  return { keyId: record.id, tier: record.tier, label: record.label, expiresAtMs: record.expiresAtMs };
}

/** Parse the key in a header; `null` = it has none. */
function readHeader(header: string | null | undefined): Presented | null {
  if (header === null || header === undefined || header.length > MAX_HEADER_LENGTH) return null;
  const text = BEARER.exec(header)?.[1];
  return text === undefined ? null : { id: cacheId(text), text };
}

/** Caches are keyed by hashes, so that a heap dump contains no key, and the timing of a lookup reveals nothing about one. */
function cacheId(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function sampleVerdicts(keys: KeyServiceDeps['sampleKeys']): ReadonlyMap<string, VerifiedKey> {
  const verdict = (text: string, tier: KeyTier): VerifiedKey => ({ keyId: sampleKeyId(text), tier, label: text });
  return new Map([...(keys ?? [])].map(([text, { tier }]) => [cacheId(text), verdict(text, tier)]));
}
