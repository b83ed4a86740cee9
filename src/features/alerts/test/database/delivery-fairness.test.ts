import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/process/postgres.ts';
import { createDatabase, type Database } from '../../../../database/client.ts';
import { migrateDatabase } from '../../../../database/migrate.ts';
import { silentLogger } from '../../../../shared/logger.ts';
import type { Timers } from '../../../../shared/timers.ts';
import { createAlertRepository } from '../../database/alerts.ts';
import { createAlertOutbox } from '../../database/outbox.ts';
import { withAlertTables } from '../../database/tables.ts';
import { makeAlertEvent } from '../../domain/event.ts';
import type { NewAlertRecord } from '../../domain/records.ts';
import { createAlertDeliveries } from '../../services/delivery.ts';
import type { WebhookResult } from '../../webhooks/send.ts';

const T = Date.UTC(2026, 5, 10, 12);
const clock = { now: () => T };
const OK: WebhookResult = { ok: true, httpStatus: 200, failure: null };
const HUNG: WebhookResult = { ok: false, httpStatus: null, failure: 'timeout' };
const NEW = { status: 'unknown', value: null, observedMs: null, reported: null } as const;
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const range = (length: number, from: number) => Array.from({ length }, (_, i) => from + i);

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase({ url: database.url, poolSize: 20, statementTimeoutMs: 10_000 });
});
afterEach(async () => {
  await withAlertTables(db).deleteFrom('alerts').execute();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const alertOf = (n: number, ownerId: string): NewAlertRecord => ({
  id: id(n),
  ownerId,
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
});
const announce = async (alert: NewAlertRecord, numbers: readonly number[]) => {
  const receiver = new URL(alert.url).host;
  for (const n of numbers) {
    const event = makeAlertEvent({ id: id(n), type: 'ping', alert, state: NEW, receiver, occurredMs: T });
    await createAlertRepository(db, clock).announce(event);
  }
};

function signal(): readonly [Promise<void>, () => void] {
  let give: () => void = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return [given, () => give()];
}

/** Timers in which pauses end at once, and the time of a run when the test says so. */
function manualTimers() {
  const longer: (() => void)[] = [];
  const timers: Timers = {
    setTimeout: (callback, ms) => (ms < 5_000 ? setImmediate(callback) : longer.push(callback)),
    clearTimeout: () => {},
  };
  const endRun = () => {
    for (const callback of longer) callback();
  };
  return { timers, endRun };
}

function deliveriesTo(owners: readonly string[], timers: Timers, send: (host: string) => Promise<WebhookResult>) {
  const deliveries = createAlertDeliveries({
    outbox: createAlertOutbox(db, clock),
    activeOwners: async () => owners,
    send: async ({ url }) => send(new URL(url).host),
    pepper: undefined,
    begunPerHour: 1_000,
    clock,
    timers,
    random: () => 0.5,
    logger: silentLogger,
  });
  return deliveries.run(new AbortController().signal);
}

test('an event that comes while the receiver of another key hangs is sent at once', async () => {
  const [slow, quick] = [alertOf(1, 'slow'), alertOf(2, 'quick')];
  for (const alert of [slow, quick]) await createAlertRepository(db, clock).insert(alert, 100);
  await announce(slow, range(12, 100));
  const { timers, endRun } = manualTimers();
  const [answered, answer] = signal();
  const [hanging, hangs] = signal();
  let slowBefore = 0;
  let slowSent = 0;
  const run = deliveriesTo(['slow', 'quick'], timers, async (host) => {
    if (host.startsWith('receiver-2')) {
      slowBefore = slowSent;
      answer();
      endRun();
      return OK;
    }
    slowSent += 1;
    if (slowSent === 2) hangs();
    await answered;
    return HUNG;
  });
  await hanging;
  await announce(quick, [900]);
  await run;
  expect(slowBefore).toBe(2);
});

test('a run ends after its time, however many events of a hanging receiver are due', async () => {
  const alert = alertOf(1, 'slow');
  await createAlertRepository(db, clock).insert(alert, 100);
  await announce(alert, range(12, 100));
  const { timers, endRun } = manualTimers();
  let sent = 0;
  await deliveriesTo(['slow'], timers, async () => {
    sent += 1;
    endRun();
    return HUNG;
  });
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThanOrEqual(2);
});

test('a key with few attempts under way comes before one with many, whose events are older', async () => {
  const keys = ['a', 'b'].map((owner, i) => [owner, [alertOf(10 * i + 1, owner), alertOf(10 * i + 2, owner)]] as const);
  for (const [, alerts] of keys) {
    for (const alert of alerts) await createAlertRepository(db, clock).insert(alert, 100);
  }
  for (const [i, [, alerts]] of keys.entries()) {
    for (const [j, alert] of alerts.entries()) await announce(alert, range(3, 1_000 * i + 100 * j));
  }
  const outbox = createAlertOutbox(db, clock);
  const limits = { owners: ['a', 'b'], perReceiver: 2, perOwner: 4, begunPerHour: 100 };
  const claimed: (string | undefined)[] = [];
  for (let n = 0; n < 8; n += 1) claimed.push((await outbox.claim(limits))?.receiver);
  const ofA = ['receiver-1.example', 'receiver-2.example'];
  expect(claimed.map((receiver = '') => (ofA.includes(receiver) ? 'a' : 'b'))).toEqual([
    'a',
    'b',
    'a',
    'b',
    'a',
    'b',
    'a',
    'b',
  ]);
});
