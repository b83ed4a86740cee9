import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/process/postgres.ts';
import { createDatabase, type Database } from '../../../../database/client.ts';
import { createKeyRepository } from '../../../../database/keys.ts';
import { migrateDatabase } from '../../../../database/migrate.ts';
import { createKeyOwners } from '../../../../keys/owners.ts';
import { silentLogger } from '../../../../shared/logger.ts';
import { createAlertRepository } from '../../database/alerts.ts';
import { createAlertEventRepository } from '../../database/events.ts';
import { createAlertOutbox } from '../../database/outbox.ts';
import { withAlertTables } from '../../database/tables.ts';
import { makeAlertEvent } from '../../domain/event.ts';
import type { NewAlertRecord } from '../../domain/records.ts';
import { MAX_ATTEMPTS } from '../../domain/retry.ts';
import { createAlertDeliveries } from '../../services/delivery.ts';
import type { WebhookResult } from '../../webhooks/send.ts';

const T = Date.UTC(2026, 5, 10, 12);
const HOUR_MS = 3_600_000;
const OWNER = 'owner';
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

let database: TestDatabase;
let db: Database;
let other: Database;
let nowMs = T;
const clock = { now: () => nowMs };
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  const config = { url: database.url, poolSize: 20, statementTimeoutMs: 10_000 };
  [db, other] = [createDatabase(config), createDatabase(config)];
});
afterEach(async () => {
  nowMs = T;
  await withAlertTables(db).deleteFrom('alerts').execute();
  await db.deleteFrom('api_keys').execute();
});
afterAll(async () => {
  await Promise.all([db.destroy(), other.destroy()]);
  await database.drop();
});

const alertOf = (n: number, over: Partial<NewAlertRecord> = {}): NewAlertRecord => ({
  id: id(n),
  ownerId: OWNER,
  rule: {
    subject: { kind: 'wallet', chainId: 1, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
    condition: 'stale',
    threshold: null,
    rearmAt: null,
  },
  label: '',
  url: `https://receiver-${n}.example/hook`,
  createdMs: T,
  secret: { salt: Buffer.alloc(16), version: 1 },
  ...over,
});
const alerts = () => createAlertRepository(db, clock);
const events = () => createAlertEventRepository(db, clock);
const NEW = { status: 'unknown', value: null, observedMs: null, reported: null } as const;
const eventOf = (alert: NewAlertRecord, n: number, type: 'ping' | 'fired' = 'ping') =>
  makeAlertEvent({ id: id(n), type, alert, state: NEW, receiver: new URL(alert.url).host, occurredMs: nowMs });
/** Register an alert with some events. */
const seed = async (alert: NewAlertRecord, numbers: readonly number[]) => {
  await alerts().insert(alert, 100);
  for (const n of numbers) await alerts().announce(eventOf(alert, n));
};
const OK: WebhookResult = { ok: true, httpStatus: 200, failure: null };
const DOWN: WebhookResult = { ok: false, httpStatus: null, failure: 'unreachable' };
interface Sent {
  readonly id: string;
  readonly body: string;
}
function deliveriesOn(on: Database, answer: (sent: Sent) => WebhookResult | Promise<WebhookResult>, over: object = {}) {
  const sent: Sent[] = [];
  const deliveries = createAlertDeliveries({
    outbox: createAlertOutbox(on, clock),
    activeOwners: async () => [OWNER, 'other'],
    send: async ({ headers, body }) => {
      const one = { id: headers['x-spiral-event-id'] ?? '', body };
      sent.push(one);
      return answer(one);
    },
    pepper: undefined,
    begunPerHour: 1_000,
    clock,
    random: () => 0.5,
    logger: silentLogger,
    ...over,
  });
  return { sent, run: () => deliveries.run(new AbortController().signal) };
}
const stateOf = async (n: number) => (await events().find(OWNER, id(n))) ?? undefined;

const limitsOf = (owner: string, begunPerHour = 100) => ({ owners: [owner], begunPerHour });

describe('delivery', () => {
  test('default: each event is sent once, however many processes deliver at once', async () => {
    for (const n of [1, 2, 3, 4]) await seed(alertOf(n), [10 * n, 10 * n + 1, 10 * n + 2]);
    const [first, second] = [deliveriesOn(db, () => OK), deliveriesOn(other, () => OK)];
    await Promise.all([first.run(), second.run()]);
    const ids = [...first.sent, ...second.sent].map((one) => one.id);
    expect(ids.length).toBeLessThanOrEqual(12);
    expect(new Set(ids).size).toBe(ids.length);
    await first.run();
    expect(await createAlertOutbox(db, clock).state(limitsOf(OWNER))).toEqual({
      pending: 0,
      dead: 0,
      oldestPendingMs: null,
      dueSinceMs: null,
    });
  });

  test('a receiver that is down is asked with growing pauses, with the same id and body, until the event is given up', async () => {
    await seed(alertOf(1), [10]);
    const { sent, run } = deliveriesOn(db, () => DOWN);
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await run();
      expect(sent).toHaveLength(attempt);
      const { nextAttemptMs } = (await stateOf(10)) ?? {};
      if (nextAttemptMs == null) break;
      pauses.push((nextAttemptMs - nowMs) / 1_000);
      nowMs = nextAttemptMs - 1;
      await run();
      nowMs += 1;
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]);
    expect(new Set(sent.map(({ id: event, body }) => event + body)).size).toBe(1);
    expect(await stateOf(10)).toMatchObject({ status: 'dead', attempts: MAX_ATTEMPTS, failure: 'unreachable' });
    await run();
    expect(sent).toHaveLength(MAX_ATTEMPTS);
    await events().redeliver(OWNER, id(10));
    await run();
    expect(await stateOf(10)).toMatchObject({ status: 'pending', attempts: 1 });
  });

  test('a process that dies while it delivers: another one delivers after the lease, and the outcome of the first is ignored', async () => {
    await seed(alertOf(1), [10]);
    const outbox = createAlertOutbox(db, clock);
    const limits = { owners: [OWNER], perReceiver: 2, perOwner: 4, begunPerHour: 100 };
    const claimed = await outbox.claim(limits);
    expect(claimed).toMatchObject({ id: id(10), attempts: 1 });
    expect(await outbox.claim(limits)).toBeNull();
    await sql`update alert_deliveries set leased_until = clock_timestamp() - interval '1 second'`.execute(db);
    const second = deliveriesOn(other, () => OK);
    await second.run();
    expect(second.sent).toHaveLength(1);
    if (claimed === null) throw new Error('nothing was claimed');
    expect(await outbox.finish(claimed, { status: 'dead', httpStatus: null, failure: 'timeout' })).toBe(false);
    expect(await stateOf(10)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  test('a slow receiver gets two attempts at once, and others are served meanwhile', async () => {
    await seed(alertOf(1), [10, 11, 12, 13, 14]);
    await seed(alertOf(2, { ownerId: 'other' }), [20, 21]);
    let release: () => void = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    let [atOnce, most] = [0, 0];
    const served: string[] = [];
    const releaseAfterBoth = () => {
      if (served.length === 2 && atOnce === 2) release();
    };
    const { run } = deliveriesOn(db, async (sent) => {
      if (sent.id >= id(20)) {
        served.push(sent.id);
        releaseAfterBoth();
        return OK;
      }
      atOnce += 1;
      most = Math.max(most, atOnce);
      releaseAfterBoth();
      await slow;
      atOnce -= 1;
      return OK;
    });
    await run();
    expect(most).toBe(2);
    expect(served).toEqual([id(20), id(21)]);
    await run();
    expect((await createAlertOutbox(db, clock).state(limitsOf(OWNER))).pending).toBe(0);
  });

  test('events above the limit of an hour wait', async () => {
    await seed(alertOf(1), [10, 11, 12]);
    const { sent, run } = deliveriesOn(db, () => OK, { begunPerHour: 2 });
    await run();
    await run();
    expect(sent).toHaveLength(2);
    const outbox = createAlertOutbox(db, clock);
    expect(await outbox.state(limitsOf(OWNER, 2))).toMatchObject({ pending: 1, oldestPendingMs: T, dueSinceMs: null });
    expect(await outbox.state(limitsOf(OWNER, 3))).toMatchObject({ dueSinceMs: T });
    nowMs += HOUR_MS + 1;
    await run();
    expect(sent).toHaveLength(3);
  });

  test('a redelivery counts in the limit of an hour, however often the same event is delivered again', async () => {
    await seed(alertOf(1), [10]);
    const { sent, run } = deliveriesOn(db, () => OK, { begunPerHour: 3 });
    await run();
    for (let n = 0; n < 4; n += 1) {
      nowMs += 60_000;
      await events().redeliver(OWNER, id(10));
      await run();
    }
    expect(sent).toHaveLength(3);
    expect(await createAlertOutbox(db, clock).state(limitsOf(OWNER, 3))).toMatchObject({
      pending: 1,
      dueSinceMs: null,
    });
    nowMs = T + HOUR_MS + 1;
    await run();
    expect(sent).toHaveLength(4);
  });

  test('an event between two attempts is undelivered and not overdue; attempts are reported with their reason', async () => {
    await seed(alertOf(1), [10]);
    const attempts: unknown[] = [];
    await deliveriesOn(db, () => DOWN, { onAttempt: (attempt: unknown) => void attempts.push(attempt) }).run();
    expect(attempts).toEqual([{ outcome: 'retry', reason: 'unreachable' }]);
    const outbox = createAlertOutbox(db, clock);
    expect(await outbox.state(limitsOf(OWNER))).toMatchObject({ pending: 1, oldestPendingMs: T, dueSinceMs: null });
    nowMs = T + 20_000;
    expect((await outbox.state(limitsOf(OWNER))).dueSinceMs).toBe(T + 10_000);
  });

  test('nothing is sent for a key that was revoked', async () => {
    await seed(alertOf(1), [10]);
    const { sent, run } = deliveriesOn(db, () => OK, { activeOwners: async () => ['other'] });
    await run();
    expect(sent).toEqual([]);
    expect(await createAlertOutbox(db, clock).state(limitsOf('other'))).toMatchObject({
      pending: 1,
      oldestPendingMs: null,
      dueSinceMs: null,
    });
    expect(await createAlertOutbox(db, clock).state(limitsOf(OWNER))).toMatchObject({
      oldestPendingMs: T,
      dueSinceMs: T,
    });
  });
});

describe('the state of alerts', () => {
  test('two processes that see the same change store one event', async () => {
    await alerts().insert(alertOf(1), 100);
    const alert = await alerts().find(OWNER, id(1));
    if (alert === null) throw new Error('the alert is missing');
    const state = { status: 'firing', value: null, observedMs: T, reported: null } as const;
    const apply = (on: Database, n: number) =>
      createAlertRepository(on, clock).apply([{ alert, state, events: [eventOf(alert, n, 'fired')] }]);
    const changed = await Promise.all([apply(db, 10), apply(other, 11)]);
    expect(changed.map((ids) => ids.size).sort()).toEqual([0, 1]);
    expect(await events().after(OWNER, 0n, 10)).toHaveLength(1);
  });

  test('a change and its event are stored together, or not at all', async () => {
    await alerts().insert(alertOf(1), 100);
    const alert = await alerts().find(OWNER, id(1));
    if (alert === null) throw new Error('the alert is missing');
    const state = { status: 'firing', value: null, observedMs: T, reported: null } as const;
    const event = { ...eventOf(alert, 10, 'fired'), alertId: id(99) };
    await expect(alerts().apply([{ alert, state, events: [event] }])).rejects.toThrow();
    expect(await alerts().find(OWNER, id(1))).toMatchObject({ state: { status: 'unknown' } });
  });

  test('reported liquidations and a status that does not apply are stored, and silent changes are no change of status', async () => {
    await alerts().insert(alertOf(1), 100);
    const stored = async () => (await alerts().find(OWNER, id(1))) ?? Promise.reject(new Error('the alert is missing'));
    const reported = {
      sinceBlock: 10n,
      events: [{ id: '0xaa-0xbb-0xcc-0', blockNumber: 2n ** 60n }],
      emptied: [{ positionIndex: 3, blockNumber: 12n, isExplained: false }],
    };
    const state = { status: 'not_applicable', value: null, observedMs: T, reported } as const;
    await alerts().apply([{ alert: await stored(), state, events: [] }]);
    expect(await stored()).toMatchObject({ state, changedMs: T });
    nowMs += 1_000;
    const later = { ...state, reported: { ...reported, sinceBlock: 9n } };
    await alerts().apply([{ alert: await stored(), state: later, events: [] }]);
    expect(await stored()).toMatchObject({ state: later, changedMs: T });
    await alerts().apply([{ alert: await stored(), state: { ...later, status: 'armed' }, events: [] }]);
    expect(await stored()).toMatchObject({ state: { status: 'armed' }, changedMs: nowMs });
  });

  test('changes are read in order, deletions included, and none is missed', async () => {
    for (const n of [1, 2, 3]) await alerts().insert(alertOf(n), 100);
    const first = await alerts().changedAfter({ revision: 0n, id: id(0) }, 2);
    expect(first.map((row) => row.id)).toEqual([id(1), id(2)]);
    await alerts().remove(OWNER, id(1));
    const last = first.at(-1);
    const rest = await alerts().changedAfter({ revision: last?.revision ?? 0n, id: last?.id ?? '' }, 10);
    expect(rest.map((row) => [row.id, row.alert === null])).toEqual([
      [id(3), false],
      [id(1), true],
    ]);
    nowMs += 25 * HOUR_MS;
    expect(await alerts().prune()).toBe(1);
  });

  test('the limit holds when several processes register at once', async () => {
    const stored = await Promise.all(
      [1, 2, 3, 4].map((n) => createAlertRepository(n % 2 ? db : other, clock).insert(alertOf(n), 2)),
    );
    expect(stored.toSorted()).toEqual(['stored', 'stored', 'too_many', 'too_many']);
  });

  test('events are kept for 30 days', async () => {
    await seed(alertOf(1), [10]);
    nowMs += 30 * 24 * HOUR_MS + 1;
    expect(await events().prune()).toBe(1);
  });
});

describe('owners', () => {
  const idOf = (name: string) => `00000000-0000-4000-8000-00000000000${name}`;
  const ended = { active: {}, revoked: { revokedAtMs: T }, expired: { expiresAtMs: T } };
  const insert = async (name: string, status: keyof typeof ended, rotatedFrom: string | null = null) => {
    const keys = createKeyRepository(db);
    const { revokedAtMs = null, expiresAtMs = null } = { ...ended[status] } as {
      revokedAtMs?: number;
      expiresAtMs?: number;
    };
    await keys.insert({
      id: idOf(name),
      prefix: `sg_partner_${name}`,
      secretHash: Buffer.alloc(32, 7),
      tier: 'partner',
      label: name,
      createdAtMs: T,
      expiresAtMs,
      rotatedFrom: rotatedFrom === null ? null : idOf(rotatedFrom),
    });
    if (revokedAtMs !== null) await keys.revoke(`sg_partner_${name}`, revokedAtMs);
  };
  const owners = () => createKeyOwners({ keys: createKeyRepository(db), clock, sampleKeys: ['local-partner'] });

  test('default: keys that replaced one another are one owner, active while one of them is', async () => {
    await insert('a', 'expired');
    await insert('b', 'revoked', 'a');
    await insert('c', 'active', 'b');
    await insert('d', 'active', 'b');
    await insert('e', 'revoked');
    const asked = owners();
    const ids = ['a', 'b', 'c', 'e', 'f'].map(idOf);
    expect(await Promise.all(ids.map(asked.ownerOf))).toEqual(['a', 'a', 'a', 'e', 'f'].map(idOf));
    expect(await asked.active()).toEqual([idOf('a'), 'sample:local-partner']);
    expect(await asked.ownerOf('sample:local-partner')).toBe('sample:local-partner');
    await createKeyRepository(db).revoke('sg_partner_c', nowMs);
    await createKeyRepository(db).revoke('sg_partner_d', nowMs);
    expect(await asked.active()).toEqual(['sample:local-partner']);
  });

  test('behavior: a request reads one chain, once, however many keys were issued', async () => {
    await insert('a', 'revoked');
    await insert('b', 'active', 'a');
    const repository = createKeyRepository(db);
    const asked: string[] = [];
    const keys = {
      ...repository,
      rootOf: (id: string) => {
        asked.push(id);
        return repository.rootOf(id);
      },
    };
    const { ownerOf } = createKeyOwners({ keys, clock });
    expect([await ownerOf(idOf('b')), await ownerOf(idOf('b')), asked]).toEqual([idOf('a'), idOf('a'), [idOf('b')]]);
    // A key that is not stored yet is asked for again.
    await ownerOf(idOf('c'));
    await insert('c', 'active', 'b');
    expect(await ownerOf(idOf('c'))).toBe(idOf('a'));
  });
});

describe('the work of many keys and events', () => {
  /** Rows that the tables have read since the server started, by sequential scans and over indexes. */
  const rowsRead = async (on: Database): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`.execute(on);
    const { rows } = await sql<{ readonly read: string }>`
      select (select sum(seq_tup_read) from pg_stat_user_tables) + (select sum(idx_tup_read) from pg_stat_user_indexes) as read`.execute(
      on,
    );
    return Number(rows[0]?.read);
  };

  test('a claim reads a few rows, however many events of a key wait, also for a full receiver and after the limit of the hour', async () => {
    const alone = createDatabase({ url: database.url, poolSize: 1, statementTimeoutMs: 10_000 });
    try {
      await seed(alertOf(1), [10]);
      await seed(alertOf(2), [11]);
      await sql`insert into alert_deliveries
          (id, alert_id, owner_id, type, body, receiver, occurred_at, next_attempt_at, status, attempts)
        select gen_random_uuid(), ${id(1)}::uuid, ${OWNER}, 'ping', '{}', ${'receiver-1.example'}, ${new Date(T - 1)}::timestamptz,
          ${new Date(T - 1)}::timestamptz, 'pending', 0 from generate_series(1, 20000)`.execute(db);
      await sql`analyze alert_deliveries`.execute(db);
      const outbox = createAlertOutbox(alone, clock);
      const claimed = async (begunPerHour: number) => {
        const before = await rowsRead(alone);
        const got = await outbox.claim({ owners: [OWNER], perReceiver: 2, perOwner: 4, begunPerHour });
        expect((await rowsRead(alone)) - before).toBeLessThan(150);
        return got?.url ?? null;
      };
      const [first, second] = ['https://receiver-1.example/hook', 'https://receiver-2.example/hook'];
      expect([await claimed(100), await claimed(100), await claimed(100), await claimed(100)]).toEqual([
        first,
        first,
        second,
        null,
      ]);
      await sql`update alert_deliveries set leased_until = null, lease = null where leased_until is not null`.execute(
        db,
      );
      // Attempts that began are repeated, and no new one begins.
      nowMs = T + 1;
      expect([await claimed(3), await claimed(3), await claimed(3), await claimed(3)]).toEqual([
        first,
        first,
        second,
        null,
      ]);
      await sql`update alert_deliveries set status = 'delivered', leased_until = null where first_attempt_at is not null`.execute(
        db,
      );
      expect(await claimed(3)).toBeNull();
    } finally {
      await alone.destroy();
    }
  });

  test('keys that ended are removed with the alerts of their owners, but for the origins of keys that have not', async () => {
    const keys = createKeyRepository(db);
    const [old, recent] = [T - 10 * HOUR_MS, T - HOUR_MS];
    const add = async (
      n: number,
      from: number | null,
      endedMs: number | null,
      how: 'revoked' | 'expired' = 'revoked',
    ) => {
      const expiresAtMs = how === 'expired' ? endedMs : null;
      const key = {
        id: id(n),
        prefix: `p${n}`,
        secretHash: Buffer.alloc(32),
        tier: 'partner',
        label: '',
        createdAtMs: T - 99 * HOUR_MS,
      } as const;
      await keys.insert({ ...key, expiresAtMs, rotatedFrom: from === null ? null : id(from) });
      if (how === 'revoked' && endedMs !== null) await keys.revoke(`p${n}`, endedMs);
    };
    // A chain with a living end, a chain that ended, one that ended not long ago, and single keys.
    await add(1, null, old);
    await add(2, 1, old, 'expired');
    await add(3, 2, null);
    await add(4, null, old);
    await add(5, 4, old);
    await add(6, null, old);
    await add(7, 6, recent);
    await add(8, null, null);
    await add(9, null, T + HOUR_MS, 'expired');
    await alerts().insert(alertOf(50, { ownerId: id(1) }), 100);
    await alerts().insert(alertOf(51, { ownerId: id(4) }), 100);
    expect(await keys.prune(T - 5 * HOUR_MS)).toBe(2);
    const left = (await keys.list()).map(({ prefix }) => prefix);
    expect(left.sort()).toEqual(['p1', 'p2', 'p3', 'p6', 'p7', 'p8', 'p9']);
    expect(await keys.rootOf(id(3))).toBe(id(1));
    expect(await alerts().find(id(1), id(50))).not.toBeNull();
    expect(await alerts().find(id(4), id(51))).toBeNull();
  });

  test('no key that is valid by the clock of the database is removed by a process whose clock is ahead', async () => {
    const keys = createKeyRepository(db);
    const year = 365 * 24 * HOUR_MS;
    const key = {
      id: id(1),
      prefix: 'p1',
      secretHash: Buffer.alloc(32),
      tier: 'partner',
      label: '',
      createdAtMs: T,
    } as const;
    await keys.insert({ ...key, expiresAtMs: Date.now() + year, rotatedFrom: null });
    expect(await keys.prune(Date.now() + 2 * year)).toBe(0);
  });
});
