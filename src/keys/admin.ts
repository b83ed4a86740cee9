import { randomUUID } from 'node:crypto';
import type { Database } from '../database/client.ts';
import { createKeyRepository, type KeyRecord, type KeyRepository, type KeyTier } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { formatValue } from '../shared/ids.ts';
import { KeyInputError, KeyNotActiveError, KeyNotFoundError } from './errors.ts';
import { generateKey } from './format.ts';
import { hashKey } from './hash.ts';
import { type KeyStatus, keyStatusOf } from './status.ts';

const MAX_LABEL_LENGTH = 100;

/** A key for display: everything but its secret and hash. */
export interface KeyInfo extends Omit<KeyRecord, 'secretHash'> {
  readonly status: KeyStatus;
}

export interface IssuedKey {
  /** The whole key. It is shown once and stored nowhere. */
  readonly text: string;
  readonly key: KeyInfo;
}

export interface KeyAdminDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly pepper?: string | undefined;
}

export interface KeyAdmin {
  /** @throws KeyInputError for an empty or too long label, or an expiry that is not in the future. */
  issue(input: {
    readonly tier: KeyTier;
    readonly label: string;
    readonly expiresInMs?: number | undefined;
  }): Promise<IssuedKey>;
  /** Newest first. */
  list(): Promise<readonly KeyInfo[]>;
  /**
   * Replace a key by a new one of the same tier, label and lifetime. The old one stays valid for `overlapMs` (0 = revoked at
   * once), at most until its own expiry.
   * @throws KeyNotFoundError, KeyNotActiveError
   */
  rotate(prefix: string, input: { readonly overlapMs: number }): Promise<IssuedKey & { readonly old: KeyInfo }>;
  /**
   * Set a key's expiry to the given time from now, never later than its current one.
   * @throws KeyNotFoundError
   */
  expire(prefix: string, input: { readonly inMs: number }): Promise<KeyInfo>;
  /**
   * Revoke a key now; services notice within `VERDICT_TTL_MS`. Idempotent.
   * @throws KeyNotFoundError
   */
  revoke(prefix: string): Promise<KeyInfo>;
}

/** Manage keys. Every call may throw `UpstreamUnavailableError`. */
export function createKeyAdmin(deps: KeyAdminDeps): KeyAdmin {
  const repository = createKeyRepository(deps.db);
  const info = (record: KeyRecord): KeyInfo => describeKey(record, deps.clock.now());
  return {
    issue: async ({ tier, label, expiresInMs }) => {
      const trimmed = checkLabel(label);
      const expiresAtMs = expiresInMs === undefined ? null : deps.clock.now() + positive('expires', expiresInMs);
      return issueInto(repository, deps, { tier, label: trimmed, expiresAtMs, rotatedFrom: null });
    },
    list: async () => (await repository.list()).map(info),
    rotate: async (prefix, { overlapMs }) => {
      if (overlapMs !== 0) positive('overlap', overlapMs);
      return repository.atomically((transaction) => rotateIn(transaction, deps, prefix, overlapMs));
    },
    expire: async (prefix, { inMs }) =>
      info(found(prefix, await repository.expire(prefix, deps.clock.now() + positive('in', inMs)))),
    revoke: async (prefix) => info(found(prefix, await repository.revoke(prefix, deps.clock.now()))),
  };
}

/** Describe a stored key at a time, without its secrets. */
function describeKey(record: KeyRecord, nowMs: number): KeyInfo {
  const { secretHash: _, ...details } = record;
  return { ...details, status: keyStatusOf(record, nowMs) };
}

async function rotateIn(repository: KeyRepository, deps: KeyAdminDeps, prefix: string, overlapMs: number) {
  const nowMs = deps.clock.now();
  // A concurrent rotation of the same key waits here, and then sees the result of the first.
  const before = found(prefix, await repository.lock(prefix));
  const status = keyStatusOf(before, nowMs);
  if (status !== 'active') throw new KeyNotActiveError(prefix, status);
  const lifetimeMs = before.expiresAtMs === null ? null : before.expiresAtMs - before.createdAtMs;
  const issued = await issueInto(repository, deps, {
    tier: before.tier,
    label: before.label,
    expiresAtMs: lifetimeMs === null ? null : nowMs + lifetimeMs,
    rotatedFrom: before.id,
  });
  const ended =
    overlapMs === 0 ? await repository.revoke(prefix, nowMs) : await repository.expire(prefix, nowMs + overlapMs);
  return { ...issued, old: describeKey(found(prefix, ended), nowMs) };
}

async function issueInto(
  repository: KeyRepository,
  deps: KeyAdminDeps,
  input: Pick<KeyRecord, 'tier' | 'label' | 'expiresAtMs' | 'rotatedFrom'>,
): Promise<IssuedKey> {
  const { text, prefix } = generateKey(input.tier);
  const record = {
    ...input,
    id: randomUUID(),
    prefix,
    secretHash: hashKey(text, deps.pepper),
    createdAtMs: deps.clock.now(),
  };
  await repository.insert(record);
  return { text, key: describeKey({ ...record, revokedAtMs: null, lastUsedAtMs: null }, record.createdAtMs) };
}

function found(prefix: string, record: KeyRecord | null): KeyRecord {
  if (record === null) throw new KeyNotFoundError(formatValue(prefix));
  return record;
}

function checkLabel(label: string): string {
  const trimmed = label.trim();
  if (trimmed.length === 0 || trimmed.length > MAX_LABEL_LENGTH) {
    throw new KeyInputError(`The label has ${trimmed.length} characters. Use 1 to ${MAX_LABEL_LENGTH}.`, {
      field: 'label',
      value: formatValue(label),
      limit: { minLength: 1, maxLength: MAX_LABEL_LENGTH },
    });
  }
  return trimmed;
}

function positive(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new KeyInputError(`${field} is ${value} ms. Use a duration above zero.`, { field, value: String(value) });
}
