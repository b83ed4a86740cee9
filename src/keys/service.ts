import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database } from '../database/client.ts';
import { createKeyRepository, type KeyRepository, type KeyTier } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { createKeyAdmin, type KeyAdmin, statusOf } from './admin.ts';
import { parseKey } from './format.ts';
import { hashKey, matchesHash } from './hash.ts';
import { createToucher } from './touch.ts';

/** How long a verdict is trusted without asking the database: the longest life of a revoked key, per process. */
export const VERDICT_TTL_MS = 30_000;
/** Bounds of memory. Refusals are kept apart, so that a flood of wrong keys never displaces the good ones. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 10_000;

/** Longer than any key: a header beyond it is refused unread. */
const MAX_HEADER_LENGTH = 256;
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

export interface VerifiedKey {
  readonly keyId: string;
  readonly tier: KeyTier;
  readonly label: string;
}

export interface KeyServiceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Secret mixed into the hashes. */
  readonly pepper?: string;
  /** Keys of a local world, by their whole text. Never set in production. */
  readonly sampleKeys?: ReadonlyMap<string, { readonly tier: KeyTier }>;
}

export interface KeyService extends KeyAdmin {
  /**
   * Check an `Authorization` header. Missing, malformed, unknown, revoked and expired are all `null`.
   * @throws UpstreamUnavailableError when the database is needed and does not answer: unknown is not invalid.
   */
  verify(authorizationHeader: string | null | undefined): Promise<VerifiedKey | null>;
  /** Wait for what is still being written. Before the database is closed. */
  close(): Promise<void>;
}

interface Accepted extends VerifiedKey {
  readonly expiresAtMs: number | null;
}

/** Check and manage keys. */
export function createKeyService(deps: KeyServiceDeps): KeyService {
  const repository = createKeyRepository(deps.db);
  const perf = { now: () => deps.clock.now() };
  const accepted = new LRUCache<string, Accepted>({ max: MAX_ACCEPTED, ttl: VERDICT_TTL_MS, ttlResolution: 0, perf });
  const refused = new LRUCache<string, true>({ max: MAX_REFUSED, ttl: VERDICT_TTL_MS, ttlResolution: 0, perf });
  const lookups = new Map<string, Promise<Accepted | null>>();
  const samples = sampleVerdicts(deps.sampleKeys);
  const touches = createToucher(repository, deps);

  /** One lookup per key at a time, however many requests arrive with it. */
  const lookUpOnce = (id: string, text: string): Promise<Accepted | null> => {
    const running = lookups.get(id);
    if (running !== undefined) return running;
    const lookup = lookUp(repository, deps, text)
      .then((verdict) => {
        if (verdict === null) refused.set(id, true);
        else accepted.set(id, verdict);
        return verdict;
      })
      .finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  };

  return {
    ...createKeyAdmin(deps),
    verify: async (header) => {
      const text = bearerToken(header);
      if (text === null) return null;
      const id = cacheId(text);
      const sample = samples.get(id);
      if (sample !== undefined) return sample;
      if (parseKey(text) === null || refused.has(id)) return null;
      const verdict = accepted.get(id) ?? (await lookUpOnce(id, text));
      if (
        verdict === null ||
        statusOf({ revokedAtMs: null, expiresAtMs: verdict.expiresAtMs }, deps.clock.now()) !== 'active'
      ) {
        return null;
      }
      touches.touch(verdict.keyId);
      return { keyId: verdict.keyId, tier: verdict.tier, label: verdict.label };
    },
    close: () => touches.settle(),
  };
}

async function lookUp(repository: KeyRepository, deps: KeyServiceDeps, text: string): Promise<Accepted | null> {
  const parsed = parseKey(text);
  const record = parsed === null ? null : await repository.findByPrefix(parsed.prefix);
  const isRight = matchesHash(hashKey(text, deps.pepper), record?.secretHash ?? null);
  if (record === null || !isRight || statusOf(record, deps.clock.now()) !== 'active') return null;
  return { keyId: record.id, tier: record.tier, label: record.label, expiresAtMs: record.expiresAtMs };
}

function bearerToken(header: string | null | undefined): string | null {
  if (header === null || header === undefined || header.length > MAX_HEADER_LENGTH) return null;
  return BEARER.exec(header)?.[1] ?? null;
}

/** Caches hold hashes, so that a heap dump shows no key, and a lookup's timing tells nothing about one. */
function cacheId(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function sampleVerdicts(keys: KeyServiceDeps['sampleKeys']): ReadonlyMap<string, VerifiedKey> {
  const verdict = (text: string, tier: KeyTier): VerifiedKey => ({ keyId: `sample:${text}`, tier, label: text });
  return new Map([...(keys ?? [])].map(([text, { tier }]) => [cacheId(text), verdict(text, tier)]));
}
