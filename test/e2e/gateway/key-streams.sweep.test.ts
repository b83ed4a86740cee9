import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { createDatabase, type Database } from '../../../src/database/client.ts';
import { createKeyAdmin, type KeyAdmin } from '../../../src/keys/admin.ts';
import { RECHECK_MS } from '../../../src/keys/verdict-cache.ts';
import { VERDICT_TTL_MS } from '../../../src/keys/verify-key.ts';
import { createDueTimers } from '../../support/due-timers.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/process/own-postgres.ts';
import { PARTNER, startService, type TestService } from '../../support/service.ts';
import { type EventStream, subscribe } from '../../support/sse.ts';

const POSITIONS = 'subscription($address:Address!){walletChanged(address:$address chainIds:[1]){version}}';
const FRESHNESS = 'subscription{freshnessChanged(chainIds:[1]){ready groups{failing{reason}}}}';
const { address } = seededWallet('looper').account;
const GRACE_SEC = 60;

let postgres: OwnPostgres;
let service: TestService;
let db: Database;
let admin: KeyAdmin;
let streams: EventStream[] = [];
const timers = createDueTimers(() => (service as TestService | undefined)?.clock.now() ?? Date.now());
const later = (ms: number): void => {
  service.clock.advance(ms);
  timers.runDue();
};
const issue = async (expiresInMs?: number) => {
  const { text, key } = await admin.issue({
    tier: 'partner',
    label: 'reader',
    expiresInMs,
  });
  return { headers: { authorization: `Bearer ${text}` }, revoke: () => admin.revoke(key.prefix) };
};
const open = async (query: string, headers: Record<string, string>): Promise<EventStream> => {
  const stream = await subscribe(service.url, query, { address }, headers);
  streams.push(stream);
  expect((await stream.next()).data).toBeTruthy();
  return stream;
};
const lastOf = async (stream: EventStream) => {
  const event = await stream.next();
  expect(await stream.next()).toBeNull();
  return event;
};

beforeAll(async () => {
  postgres = await startOwnPostgres();
  service = await startService({ timers, database: postgres, env: { KEY_GRACE_SEC: String(GRACE_SEC) } });
  const url = service.world.overrides.env.DATABASE_URL ?? '';
  db = createDatabase({ url, poolSize: 1, statementTimeoutMs: 5_000 });
  admin = createKeyAdmin({ db, clock: service.clock });
});
afterEach(async () => {
  service.clock.release();
  await Promise.all(streams.map((stream) => stream.close()));
  streams = [];
});
afterAll(async () => {
  await db?.destroy();
  await service?.stop();
  await postgres?.drop();
});

describe('a stream that was opened with a key', () => {
  test('error: unauthorized ends it as soon as requests of a revoked key are refused', async () => {
    const key = await issue();
    const [positions, freshness] = [await open(POSITIONS, key.headers), await open(FRESHNESS, key.headers)];
    await key.revoke();
    later(VERDICT_TTL_MS);
    for (const stream of [positions, freshness]) {
      const { data, errors } = await lastOf(stream);
      expect(data ?? null).toBeNull();
      expect(errors).toHaveLength(1);
      expect(errors[0].extensions).toMatchObject({ code: 'unauthorized', status: 401, retryable: false });
    }
    const refused = await service.graphql('mutation{deleteAlert(alertId:"x"){__typename}}', {}, key.headers);
    expect(refused.status).toBe(401);
  });

  test('error: unauthorized ends it when its key expires', async () => {
    const key = await issue(10_000);
    const stream = await open(POSITIONS, key.headers);
    later(10_000);
    expect((await lastOf(stream)).errors[0].extensions.code).toBe('unauthorized');
  });

  test('behavior: it continues while its key is valid, as do other streams and those without a key', async () => {
    const [good, bad] = [await issue(), await issue()];
    const going = [await open(POSITIONS, good.headers), await open(POSITIONS, PARTNER), await open(FRESHNESS, {})];
    const ending = await open(POSITIONS, bad.headers);
    await bad.revoke();
    for (let i = 0; i < 3; i++) {
      later(VERDICT_TTL_MS);
      expect((await service.graphql('{chains{chainId}}', {}, good.headers)).status).toBe(200);
    }
    expect((await lastOf(ending)).errors[0].extensions.code).toBe('unauthorized');
    // Due runs may be running: a refresh would join them.
    await service.refresh('lending-state:1', 'incentives:1');
    // Interest of five minutes changes the positions, a failing source the freshness.
    service.clock.advance(300_000);
    await service.world.chains.on(1).increaseTime(300);
    service.world.upstreams.faults.set('merkl', { kind: 'status', status: 400 });
    await service.refresh('lending-state:1', 'incentives:1');
    for (const stream of going) expect((await stream.next()).data).toBeTruthy();
  });

  test('error: upstream_unavailable ends it when its key cannot be checked for longer than the grace', async () => {
    service.clock.hold();
    const key = await issue();
    const stream = await open(POSITIONS, key.headers);
    const checkedMs = service.clock.now();
    await postgres.stop();
    let endedMs = 0;
    const last = lastOf(stream).then((event) => {
      endedMs = service.clock.now();
      return event;
    });
    const wait = () => {
      later(RECHECK_MS);
      return endedMs;
    };
    await expect.poll(wait).toBeGreaterThanOrEqual(checkedMs + GRACE_SEC * 1_000);
    expect((await last).errors[0].extensions).toMatchObject({ code: 'upstream_unavailable', retryable: true });
    await postgres.start();
    expect((await service.graphql('{chains{chainId}}', {}, key.headers)).status).toBe(200);
  });

  test('behavior: stops checking the key of a closed stream', async () => {
    const key = await issue();
    service.clock.hold();
    // Warmers that were due wait for their next turn: from now on nothing but the stream sets a timer.
    await service.refresh(...service.app.warmers.jobs().held);
    service.clock.advance(1);
    const watches = () => timers.pendingMs().filter((ms) => ms === VERDICT_TTL_MS).length;
    const stream = await open(POSITIONS, key.headers);
    expect(watches()).toBe(1);
    await stream.close();
    await expect.poll(watches).toBe(0);
  });
});
