import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { createKeyRepository, LAST_USED_RESOLUTION_MS } from '../../src/database/keys.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { KeyInputError, KeyNotActiveError, KeyNotFoundError } from '../../src/keys/errors.ts';
import { generateKey } from '../../src/keys/format.ts';
import { createKeyService, type KeyService, type KeyServiceDeps, VERDICT_TTL_MS } from '../../src/keys/verify-key.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

const START = Date.UTC(2026, 8, 1);
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let db: Database;
let statements: string[] = [];
let now = START;
const clock = { now: () => now };
const services: KeyService[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase(
    { url: database.url, poolSize: 4, statementTimeoutMs: 5_000 },
    { onQuery: (query) => statements.push(query.sql) },
  );
});
beforeEach(() => {
  now = START;
  statements = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await Promise.all(services.splice(0).map((service) => service.close()));
  await db.deleteFrom('api_keys').execute();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

function keyService(over: Partial<KeyServiceDeps> = {}): KeyService {
  const service = createKeyService({ db, clock, timers: systemTimers, logger: silentLogger, graceMs: 0, ...over });
  services.push(service);
  return service;
}

function bearer(text: string): string {
  return `Bearer ${text}`;
}

function lookups(): number {
  return statements.filter((statement) => /^select .* from "api_keys"/.test(statement)).length;
}

const ACME = { tier: 'partner', label: 'Acme' } as const;

describe('verify', () => {
  test('default', async () => {
    const keys = keyService();
    const { text, key } = await keys.issue(ACME);
    expect(await keys.verify(bearer(text))).toEqual({ keyId: key.id, tier: 'partner', label: 'Acme' });
    expect(await keys.verify(`bearer   ${text} `)).toEqual({ keyId: key.id, tier: 'partner', label: 'Acme' });
  });

  test('behavior: every refusal is null', async () => {
    const keys = keyService();
    const good = await keys.issue(ACME);
    const revoked = await keys.issue(ACME);
    await keys.revoke(revoked.key.prefix);
    const expired = await keys.issue({ ...ACME, expiresInMs: 1_000 });
    now += 1_000;
    // The right prefix with another secret: only the hash tells them apart.
    const stranger = generateKey('partner');
    await createKeyRepository(db).insert({
      id: crypto.randomUUID(),
      prefix: stranger.prefix,
      secretHash: crypto.randomBytes(32),
      ...ACME,
      createdAtMs: now,
      expiresAtMs: null,
      rotatedFrom: null,
    });
    const headers = [
      null,
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${good.text}`,
      good.text,
      bearer(`${good.text}x`),
      bearer(`${good.text} ${good.text}`),
      bearer('x'.repeat(100_000)),
      bearer("' or 1=1 --"),
      bearer(generateKey('ops').text),
      bearer(stranger.text),
      bearer(revoked.text),
      bearer(expired.text),
    ];
    for (const header of headers) expect(await keys.verify(header)).toBeNull();
    for (const header of headers) expect(await keys.verify(header)).toBeNull(); // and again, from the cache
    expect(await keys.verify(bearer(good.text))).not.toBeNull();
  });

  test('behavior: an invalid key runs no statement', async () => {
    const keys = keyService();
    const { text } = generateKey('partner');
    const typo = `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`;
    for (const header of [null, '', 'Bearer x', bearer(typo), bearer('local-ops')]) await keys.verify(header);
    expect(statements).toEqual([]);
  });

  test('behavior: compares known and unknown keys in constant time, equally often', async () => {
    const keys = keyService();
    const { text } = await keys.issue(ACME);
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    await keys.verify(bearer(text));
    const known = compare.mock.calls.length;
    await keys.verify(bearer(generateKey('partner').text));
    expect([known, compare.mock.calls.length]).toEqual([1, 2]);
    expect(compare.mock.calls.every(([left, right]) => left.byteLength === 32 && right.byteLength === 32)).toBe(true);
  });

  test('behavior: a key runs one statement per TTL, known or not, for any number of concurrent requests', async () => {
    const keys = keyService();
    const { text } = await keys.issue(ACME);
    for (const header of [bearer(text), bearer(generateKey('ops').text)]) {
      statements = [];
      await Promise.all(Array.from({ length: 50 }, () => keys.verify(header)));
      await keys.verify(header);
      expect(lookups()).toBe(1);
      now += VERDICT_TTL_MS + 1;
      await keys.verify(header);
      expect(lookups()).toBe(2);
    }
  });

  test('behavior: a revocation elsewhere is effective within the TTL', async () => {
    const here = keyService();
    const elsewhere = keyService();
    const { text, key } = await elsewhere.issue(ACME);
    expect(await here.verify(bearer(text))).not.toBeNull();
    await elsewhere.revoke(key.prefix);
    now += VERDICT_TTL_MS + 1;
    expect(await here.verify(bearer(text))).toBeNull();
  });

  test('behavior: a cached key ends exactly at its expiry', async () => {
    const keys = keyService();
    const { text } = await keys.issue({ ...ACME, expiresInMs: 5_000 });
    now += 4_999;
    expect(await keys.verify(bearer(text))).not.toBeNull();
    now += 1;
    expect(await keys.verify(bearer(text))).toBeNull();
  });

  test('behavior: a flood of wrong keys is bounded and displaces no valid one', async () => {
    const keys = keyService();
    const { text } = await keys.issue(ACME);
    await keys.verify(bearer(text));
    for (let batch = 0; batch < 110; batch += 1) {
      await Promise.all(Array.from({ length: 100 }, () => keys.verify(bearer(generateKey('partner').text))));
    }
    statements = [];
    expect(await keys.verify(bearer(text))).not.toBeNull();
    expect(lookups()).toBe(0);
  });

  test('behavior: stores the last use by the hour', async () => {
    const keys = keyService();
    const { text } = await keys.issue(ACME);
    await keys.verify(bearer(text));
    now += VERDICT_TTL_MS + 1;
    await keys.verify(bearer(text));
    await keys.close();
    expect((await keys.list()).map((key) => key.lastUsedAtMs)).toEqual([START]);
    expect(statements.filter((statement) => statement.startsWith('update'))).toHaveLength(1);
    now = START + LAST_USED_RESOLUTION_MS;
    await keys.verify(bearer(text));
    await keys.close();
    expect((await keys.list()).map((key) => key.lastUsedAtMs)).toEqual([now]);
  });

  test('behavior: sample keys are valid only where configured', async () => {
    const sampleKeys = new Map([
      ['local-partner', { tier: 'partner' }],
      ['local-ops', { tier: 'ops' }],
    ] as const);
    const local = keyService({ sampleKeys });
    expect(await local.verify('Bearer local-ops')).toMatchObject({ tier: 'ops', label: 'local-ops' });
    expect(await local.verify('Bearer local-partner')).toMatchObject({ tier: 'partner' });
    expect(await local.verify('Bearer local-other')).toBeNull();
    expect(await keyService().verify('Bearer local-ops')).toBeNull();
    expect(statements).toEqual([]);
  });

  test('behavior: a key is invalid with another pepper', async () => {
    const { text } = await keyService({ pepper: 'pepper of the service' }).issue(ACME);
    expect(await keyService({ pepper: 'pepper of the service' }).verify(bearer(text))).not.toBeNull();
    expect(await keyService({ pepper: 'quite another pepper' }).verify(bearer(text))).toBeNull();
    expect(await keyService().verify(bearer(text))).toBeNull();
  });

  test('behavior: neither the key nor its secret is stored', async () => {
    const { text, key } = await keyService().issue(ACME);
    const secret = text.slice(text.lastIndexOf('_') + 1);
    const rows = await db.selectFrom('api_keys').selectAll().execute();
    const stored = JSON.stringify(rows.map((row) => ({ ...row, secret_hash: row.secret_hash.toString('latin1') })));
    expect(stored).toContain(key.prefix);
    expect(stored).not.toContain(secret.slice(0, 10));
  });

  test('error: UpstreamUnavailableError without the database; cached keys still work', async () => {
    const url = new URL(database.url);
    url.port = '1';
    const away = createDatabase({ url: url.href, poolSize: 1, statementTimeoutMs: 1_000 });
    const keys = keyService({ db: away, sampleKeys: new Map([['local-ops', { tier: 'ops' }]]) });
    await expect(keys.verify(bearer(generateKey('ops').text))).rejects.toBeInstanceOf(UpstreamUnavailableError);
    expect(await keys.verify('Bearer local-ops')).not.toBeNull();
    expect(await keys.verify('Bearer nonsense')).toBeNull();
    await away.destroy();
  });
});

describe('issue', () => {
  test('default: with and without an end', async () => {
    const keys = keyService();
    const forever = await keys.issue({ tier: 'ops', label: '  Ops desk ' });
    expect(forever.key).toEqual({
      id: forever.key.id,
      prefix: forever.text.split('_')[2],
      tier: 'ops',
      label: 'Ops desk',
      status: 'active',
      createdAtMs: START,
      expiresAtMs: null,
      revokedAtMs: null,
      rotatedFrom: null,
      lastUsedAtMs: null,
    });
    expect((await keys.issue({ ...ACME, expiresInMs: HOUR_MS })).key.expiresAtMs).toBe(START + HOUR_MS);
  });

  test('error: KeyInputError', async () => {
    const keys = keyService();
    for (const label of ['', '   ', 'x'.repeat(101)]) {
      await expect(keys.issue({ ...ACME, label })).rejects.toBeInstanceOf(KeyInputError);
    }
    for (const expiresInMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(keys.issue({ ...ACME, expiresInMs })).rejects.toBeInstanceOf(KeyInputError);
    }
    expect(await keys.list()).toEqual([]);
  });
});

describe('rotate', () => {
  test('default: both are valid during the overlap, then only the new one', async () => {
    const keys = keyService();
    const first = await keys.issue({ ...ACME, expiresInMs: 240 * HOUR_MS });
    now += 100 * HOUR_MS;
    const second = await keys.rotate(first.key.prefix, { overlapMs: 24 * HOUR_MS });
    expect(second.key).toMatchObject({
      ...ACME,
      rotatedFrom: first.key.id,
      createdAtMs: now,
      expiresAtMs: now + 240 * HOUR_MS,
    });
    expect(second.old).toMatchObject({ prefix: first.key.prefix, expiresAtMs: now + 24 * HOUR_MS, status: 'active' });
    now += 24 * HOUR_MS - 1;
    expect(await keys.verify(bearer(first.text))).not.toBeNull();
    expect(await keys.verify(bearer(second.text))).not.toBeNull();
    now += 1;
    expect(await keys.verify(bearer(first.text))).toBeNull();
    expect(await keys.verify(bearer(second.text))).not.toBeNull();
  });

  test('behavior: an overlap never extends a key, and zero ends it at once', async () => {
    const keys = keyService();
    const short = await keys.issue({ ...ACME, expiresInMs: HOUR_MS });
    expect((await keys.rotate(short.key.prefix, { overlapMs: 24 * HOUR_MS })).old.expiresAtMs).toBe(START + HOUR_MS);
    const other = await keys.issue(ACME);
    expect((await keys.rotate(other.key.prefix, { overlapMs: 0 })).old.status).toBe('revoked');
    expect(await keys.verify(bearer(other.text))).toBeNull();
  });

  test('behavior: two concurrent rotations create one new key', async () => {
    const keys = keyService();
    const { key } = await keys.issue(ACME);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => keys.rotate(key.prefix, { overlapMs: 0 })));
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await keys.list()).toHaveLength(2);
  });

  test('error: KeyNotActiveError, KeyNotFoundError, KeyInputError', async () => {
    const keys = keyService();
    const { key } = await keys.issue(ACME);
    await expect(keys.rotate(key.prefix, { overlapMs: -1 })).rejects.toBeInstanceOf(KeyInputError);
    await keys.revoke(key.prefix);
    await expect(keys.rotate(key.prefix, { overlapMs: 0 })).rejects.toBeInstanceOf(KeyNotActiveError);
    await expect(keys.rotate('missing0', { overlapMs: 0 })).rejects.toBeInstanceOf(KeyNotFoundError);
    expect(await keys.list()).toHaveLength(1);
  });
});

describe('expire', () => {
  test('default: never later than before', async () => {
    const keys = keyService();
    const { key } = await keys.issue(ACME);
    expect(await keys.expire(key.prefix, { inMs: HOUR_MS })).toMatchObject({ expiresAtMs: START + HOUR_MS });
    expect(await keys.expire(key.prefix, { inMs: 2 * HOUR_MS })).toMatchObject({ expiresAtMs: START + HOUR_MS });
    await expect(keys.expire('missing0', { inMs: 1 })).rejects.toBeInstanceOf(KeyNotFoundError);
  });
});

describe('revoke', () => {
  test('default: the first time counts', async () => {
    const keys = keyService();
    const { key } = await keys.issue(ACME);
    expect(await keys.revoke(key.prefix)).toMatchObject({ status: 'revoked', revokedAtMs: START });
    now += HOUR_MS;
    expect(await keys.revoke(key.prefix)).toMatchObject({ status: 'revoked', revokedAtMs: START });
    await expect(keys.revoke('missing0')).rejects.toBeInstanceOf(KeyNotFoundError);
  });
});

describe('list', () => {
  test('default: newest first, with their status and without secrets', async () => {
    const keys = keyService();
    const first = await keys.issue({ ...ACME, expiresInMs: HOUR_MS });
    now += HOUR_MS;
    const second = await keys.issue({ tier: 'ops', label: 'Ops' });
    const listed = await keys.list();
    expect(listed.map((key) => [key.prefix, key.status])).toEqual([
      [second.key.prefix, 'active'],
      [first.key.prefix, 'expired'],
    ]);
    expect(listed.every((key) => !('secretHash' in key))).toBe(true);
  });
});
