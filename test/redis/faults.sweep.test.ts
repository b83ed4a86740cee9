import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RedisSettings } from '../../src/config/redis-address.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { redisFaultOf } from '../../src/redis/faults.ts';
import { publishPrice, startProcess, useEverything } from '../snapshot/redis-flow.ts';
import { launch, settingsOf, whyNoRedis } from '../snapshot/redis-server.ts';
import { freePort } from '../support/free-port.ts';
import { captureLogs } from '../support/log-capture.ts';
import { eventually } from '../support/process/spawn-service.ts';
import { startTcpProxy } from '../support/process/tcp-proxy.ts';
import { makeCertificates } from './certificates.ts';

const skipped =
  whyNoRedis() ?? (process.env.TEST_REDIS_URL === undefined ? null : 'a given Redis is not ours to change');
/** Needed in cases that this test does not bring about: a key without an end, a collision of writers, an idle subscription. */
const UNUSED = new Set(['expire', 'hmget', 'ping']);
/** Rights for the doctor, which `test/doctor` shows. */
const OF_DOCTOR = new Set(['unsubscribe', 'exists', 'multi', 'discard', 'info']);
const TIMES = { commandMs: 400, socketMs: 600, probeMs: 50 };
/** The line of the guide, with a password. */
const [, ACL = ''] = /^user (spiral on .*)$/m.exec(readFileSync('deploy/redis.acl', 'utf8')) ?? [];

describe.skipIf(skipped !== null)(skipped ?? 'faults of a real Redis', () => {
  const folder = mkdtempSync(join(tmpdir(), 'redis-faults-'));
  let server: Awaited<ReturnType<typeof launch>>;
  let tlsPort: number;
  let certificates: ReturnType<typeof makeCertificates>;
  let admin: Redis;
  beforeAll(async () => {
    certificates = makeCertificates(folder);
    tlsPort = await freePort();
    const { path } = certificates;
    server = await launch([
      ...['--tls-port', String(tlsPort), '--tls-cert-file', path('server.pem'), '--tls-key-file', path('server.key')],
      ...['--tls-ca-cert-file', path('ca.pem'), '--enable-debug-command', 'local'],
    ]);
    admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', ...ACL.replace('PASSWORD', 'p%w').split(' '));
  });
  afterAll(async () => {
    admin?.disconnect();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let undo: (() => Promise<unknown>) | undefined;
  afterEach(async () => {
    await undo?.();
    undo = undefined;
  });

  /** The fault of a new connection, and the lines of its log. */
  const faultOf = async (url: string, tls?: RedisSettings['tls'], channel?: string) => {
    const logs = captureLogs();
    const redis = connectRedis({
      settings: settingsOf(url, 'spiral', tls),
      logger: logs.logger,
      name: 'test',
      times: TIMES,
      channel,
    });
    while (redis.fault() === null && !redis.isAlive()) await new Promise((resolve) => setImmediate(resolve));
    const reason = redis.fault()?.reason ?? 'none';
    redis.disconnect();
    return { reason, alive: redis.isAlive(), lines: logs.take() };
  };
  const withUser = (user: string): string => server.url.replace('//', `//${user}@`);
  const set = async (name: string, value: string): Promise<void> => {
    const [, before = ''] = (await admin.config('GET', name)) as string[];
    await admin.config('SET', name, value);
    undo = () => admin.config('SET', name, before);
  };

  test('default: the user of the guide suffices for everything that the service does', async () => {
    expect(ACL).toContain('nocommands');
    const url = withUser('spiral:p%25w');
    const logs = captureLogs();
    const processes = [
      await startProcess(settingsOf(url), { logger: logs.logger }),
      await startProcess(settingsOf(url)),
    ] as const;
    await useEverything(...processes, '1');
    expect(processes.flatMap(({ connections }) => connections.failing())).toEqual([]);
    expect([processes[0].store.place().ok, logs.take()]).toEqual([true, []]);
    // Nothing is written outside of its prefix, and every command of it is needed.
    expect((await admin.keys('*')).filter((key) => !key.startsWith('spiral:'))).toEqual([]);
    await Promise.all(processes.map((one) => one.close()));
    const stats = await admin.info('commandstats');
    const used = new Set([...stats.matchAll(/^cmdstat_([a-z]+)(?:\||:)/gm)].map(([, name]) => name));
    const allowed = [...ACL.matchAll(/\+([a-z]+)/g)].map(([, name]) => name);
    expect(allowed.filter((name) => !used.has(name) && !UNUSED.has(name ?? '') && !OF_DOCTOR.has(name ?? ''))).toEqual(
      [],
    );
    const refused = JSON.stringify(await admin.call('ACL', 'LOG'));
    expect([...refused.matchAll(/"object","([^"]+)"/g)].map(([, object]) => object)).toEqual([]);
  });

  test('behavior: two prefixes in one Redis do not meet', async () => {
    const [here, other] = [
      await startProcess(settingsOf(server.url, 'one')),
      await startProcess(settingsOf(server.url, 'one')),
    ];
    const there = await startProcess(settingsOf(server.url, 'two'));
    await useEverything(here, other, '1');
    expect(there.store.facts(1).version).toBe(0);
    expect((await there.lease.acquire('prices')).lease).not.toBeNull();
    expect((await admin.keys('*')).filter((key) => !/^(spiral|one|two):/.test(key))).toEqual([]);
    await Promise.all([here, other, there].map((one) => one.close()));
  });

  test('behavior: works over TLS with a private authority and a client certificate', async () => {
    const { ca, cert, key } = certificates;
    const settings = settingsOf(`rediss://127.0.0.1:${tlsPort}`, 'spiral', { ca, cert, key });
    const processes = [await startProcess(settings), await startProcess(settings)] as const;
    await useEverything(...processes, '2');
    expect(processes.flatMap(({ connections }) => connections.failing())).toEqual([]);
    await Promise.all(processes.map((one) => one.close()));
  });

  test('error: tls', async () => {
    const { ca, anotherCa, cert, key } = certificates;
    const url = `rediss://127.0.0.1:${tlsPort}`;
    const wrong = [undefined, { ca: anotherCa, cert, key }, { ca }];
    const reasons = ['certificate_authority', 'certificate_authority', 'tls'];
    for (const [i, tls] of wrong.entries()) expect((await faultOf(url, tls)).reason).toBe(reasons[i]);
    // A server without TLS takes the handshake for an unfinished command and waits.
    expect((await faultOf(server.url.replace('redis:', 'rediss:'), { ca })).reason).toBe('timeout');
    for (const [kind, path] of [
      ['sentinel', '/mymaster'],
      ['cluster', ''],
    ]) {
      expect((await faultOf(`rediss+${kind}://127.0.0.1:${tlsPort}${path}`, { ca: anotherCa, cert, key })).reason).toBe(
        'certificate_authority',
      );
    }
  });

  test('error: wrong_password, without a password in the log', async () => {
    const { reason, lines } = await faultOf(withUser('spiral:hunter22'));
    expect(reason).toBe('wrong_password');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^warn redis failing .*"reason":"wrong_password","detail":"WRONGPASS .*"todo":".*REDIS_URL/,
    );
    expect(JSON.stringify(lines)).not.toContain('hunter22');
    await admin.call('ACL', 'SETUSER', 'default', 'off');
    undo = () => admin.call('ACL', 'SETUSER', 'default', 'on');
    expect((await faultOf(server.url)).reason).toBe('wrong_password');
    expect((await faultOf(server.url.replace('redis://', 'redis+cluster://a:b@'))).reason).toBe('wrong_password');
    expect((await faultOf(server.url, undefined, 'channel')).reason).toBe('wrong_password');
  });

  test('error: no_permission: a command, a key or a channel', async () => {
    for (const rights of [
      ['~spiral:*', '+@all', '-set'],
      ['~other:*', '+@all'],
    ]) {
      await admin.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', 'nopass', 'allchannels', ...rights);
      expect((await faultOf(withUser('narrow:x'))).reason).toBe('no_permission');
    }
    await admin.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', 'nopass', 'allkeys', '+@all', 'resetchannels');
    expect((await faultOf(withUser('narrow:x'), undefined, 'spiral:changes')).reason).toBe('no_permission');
    // A command of the scripts alone is noticed when it is used.
    await admin.call(
      'ACL',
      'SETUSER',
      'narrow',
      'reset',
      'on',
      'nopass',
      'allkeys',
      'allchannels',
      '+@all',
      '-pttl',
      '-hset',
    );
    const process = await startProcess(settingsOf(withUser('narrow:x'), 'narrow'));
    await process.store.publish(1, 'price', { attemptedAtMs: 1, items: new Map(), failures: new Map() });
    await process.lease.acquire('job');
    await process.lease.acquire('job');
    expect(process.connections.failing().map(({ connection, reason }) => [connection, reason])).toEqual([
      ['snapshot', 'no_permission'],
      ['lease', 'no_permission'],
    ]);
    expect(process.store.place().ok).toBe(false);
    await process.close();
  });

  test('error: memory_full, cannot_save and too_few_replicas; stored data is still read', async () => {
    const writer = await startProcess(settingsOf(server.url, 'full'));
    await publishPrice(writer, '1');
    await writer.close();
    await set('maxmemory', '1');
    expect((await faultOf(server.url)).reason).toBe('memory_full');
    const reader = await startProcess(settingsOf(server.url, 'full'), { waitMs: 500 });
    expect(reader.store.facts(1).groups.price.items.size).toBe(1);
    expect([reader.store.place().ok, (await reader.lease.acquire('job')).lease]).toEqual([false, null]);
    await reader.close();
    await undo?.();
    await set('min-replicas-to-write', '1');
    expect((await faultOf(server.url)).reason).toBe('too_few_replicas');
    await undo?.();
    await set('save', '3600 1');
    const restore = undo;
    rmSync(server.folder, { recursive: true });
    await admin.call('BGSAVE');
    await eventually(
      () => admin.info('persistence'),
      (info) => info.includes('rdb_last_bgsave_status:err'),
    );
    expect((await faultOf(server.url)).reason).toBe('cannot_save');
    undo = restore;
  });

  test('error: not_primary, and a server that becomes one', async () => {
    await admin.call('REPLICAOF', '127.0.0.1', '1');
    undo = () => admin.call('REPLICAOF', 'NO', 'ONE');
    expect((await faultOf(server.url)).reason).toBe('not_primary');
    const process = await startProcess(settingsOf(server.url, 'of-replica'), { waitMs: 100 });
    await expect.poll(() => process.connections.failing()[0]?.reason).toBe('not_primary');
    expect(process.store.place().ok).toBe(false);
    await undo?.();
    await eventually(() => process.connections.failing().length === 0, Boolean);
    await process.close();
  });

  test('error: busy', async () => {
    await set('busy-reply-threshold', '10');
    const restore = undo;
    const other = new Redis(server.url);
    const endless = other.eval('while true do end', 0).catch(() => {});
    try {
      // The script begins when the server reads it.
      await expect.poll(async () => (await faultOf(server.url)).reason).toBe('busy');
    } finally {
      await admin.call('SCRIPT', 'KILL').catch(() => {});
      await endless;
      other.disconnect();
      undo = restore;
    }
  });

  test('error: wrong_mode', async () => {
    expect((await faultOf(server.url.replace('redis:', 'redis+cluster:'))).reason).toBe('wrong_mode');
    expect((await faultOf(`${server.url.replace('redis:', 'redis+sentinel:')}/mymaster`)).reason).toBe('wrong_mode');
  });

  test.each([
    ['sentinel', '/mymaster'],
    ['cluster', ''],
  ])('error: unreachable, and timeout, of a %s', async (kind, path) => {
    expect((await faultOf(`redis+${kind}://127.0.0.1:${await freePort()}${path}`)).reason).toBe('unreachable');
    const proxy = await startTcpProxy(server.port);
    proxy.set({ kind: 'swallow' });
    expect(['timeout', 'unreachable']).toContain(
      (await faultOf(`redis+${kind}://127.0.0.1:${proxy.port}${path}`)).reason,
    );
    await proxy.stop();
  });

  test('error: unreachable, and timeout', async () => {
    expect((await faultOf(`redis://127.0.0.1:${await freePort()}`)).reason).toBe('unreachable');
    const proxy = await startTcpProxy(server.port);
    proxy.set({ kind: 'swallow' });
    expect((await faultOf(`redis://127.0.0.1:${proxy.port}`)).reason).toBe('timeout');
    await proxy.stop();
  });

  // A client of another machine is needed for the first, which tests have not.
  test.each([
    ['protected_mode', '-DENIED Redis is running in protected mode because protected mode is enabled'],
    ['too_many_clients', '-ERR max number of clients reached'],
    ['loading', '-LOADING Redis is loading the dataset in memory'],
    ['cluster_down', '-CLUSTERDOWN Hash slot not served'],
    ['primary_down', "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
    ['refused', '-ERR something of tomorrow'],
  ])('error: %s, by the words of the server', async (reason, reply) => {
    const answering = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write(`${reply}\r\n`));
      if (reason === 'protected_mode') socket.end(`${reply}\r\n`);
    });
    await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve));
    const { port } = answering.address() as AddressInfo;
    for (const channel of [undefined, 'channel']) {
      expect((await faultOf(`redis://127.0.0.1:${port}`, undefined, channel)).reason).toBe(reason);
    }
    await new Promise((resolve) => answering.close(resolve));
  });
});

test('behavior: a fault contains no address', () => {
  expect(redisFaultOf(new Error('connect to 10.1.2.3:6379 and redis.internal:6379 failed at 10.1.2.3')).detail).toBe(
    'connect to [address] and [address] failed at [ip]',
  );
});
