import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRedis } from '../../src/redis/connection.ts';
import { type RedisProcess, startProcess, useEverything } from '../snapshot/redis-flow.ts';
import { launch, settingsOf, whyNoRedis } from '../snapshot/redis-server.ts';
import { captureLogs } from '../support/log-capture.ts';
import {
  type ClusterRedis,
  type SentinelRedis,
  type ServerTls,
  startRedisCluster,
  startSentinels,
} from '../support/process/redis-topologies.ts';
import { makeCertificates } from './certificates.ts';

const skipped =
  whyNoRedis() ?? (process.env.TEST_REDIS_URL === undefined ? null : 'a given Redis is not ours to change');
const TIMES = { commandMs: 2_000, socketMs: 3_000, probeMs: 50 };
/** Certificates of servers, and their names in titles. */
const WRONG = [
  ['expired', 'certificate_expired', 'CERT_HAS_EXPIRED'],
  ['other-host', 'certificate_host', 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const;

describe.skipIf(skipped !== null)(skipped ?? 'servers that speak TLS alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'redis-tls-'));
  const certificates = makeCertificates(folder);
  const { path, ca, anotherCa } = certificates;
  const tlsWith = (name: string): ServerTls => ({
    ca,
    options: {
      'tls-cert-file': path(`${name}.pem`),
      'tls-key-file': path(`${name}.key`),
      'tls-ca-cert-file': path('ca.pem'),
      'tls-auth-clients': 'no',
    },
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The first fault of a new connection. */
  async function faultOf(url: string, authority: string | undefined, channel?: string) {
    const logs = captureLogs();
    const tls = authority === undefined ? undefined : { ca: authority };
    const redis = connectRedis({
      settings: settingsOf(url, 'x', tls),
      logger: logs.logger,
      name: 'test',
      times: TIMES,
      channel,
    });
    while (redis.fault() === null && !redis.isAlive()) await new Promise((resolve) => setImmediate(resolve));
    const fault = redis.fault();
    redis.disconnect();
    return [fault?.reason, logs.take().join('\n')] as const;
  }
  /** A listener of a cluster is another kind of connection. */
  const CHANNELS = [undefined, 'x:changes'];

  async function expectNamed(url: string, authority: string | undefined, reason: string, code: string): Promise<void> {
    for (const channel of CHANNELS) {
      const [found, logged] = await faultOf(url, authority, channel);
      expect([url, channel, found, logged]).toEqual([url, channel, reason, logged]);
      expect(logged).toContain(`"reason":"${reason}","detail":"${code}"`);
    }
  }
  const UNKNOWN_CA = 'certificate_authority';
  const UNKNOWN_CA_CODE = 'SELF_SIGNED_CERT_IN_CHAIN';

  let uses = 0;
  async function useWithTls(url: string): Promise<void> {
    const settings = settingsOf(url, 'of-tls', { ca });
    const processes: RedisProcess[] = [await startProcess(settings), await startProcess(settings)];
    uses += 1;
    await useEverything(processes[0] as RedisProcess, processes[1] as RedisProcess, String(uses));
    expect(processes.flatMap(({ connections }) => connections.failing())).toEqual([]);
    await Promise.all(processes.map((one) => one.close()));
  }
  /** Change the certificate that a running server shows to new connections. */
  async function show(url: string, name: string): Promise<void> {
    const admin = new Redis(url, { tls: { ca, rejectUnauthorized: false } });
    const { options } = tlsWith(name);
    await admin.call(
      'CONFIG',
      'SET',
      'tls-cert-file',
      options['tls-cert-file'] ?? '',
      'tls-key-file',
      options['tls-key-file'] ?? '',
    );
    admin.disconnect();
  }

  test.each(WRONG)('error: one server whose certificate is %s is %s', async (name, reason, code) => {
    const server = await launch(
      Object.entries(tlsWith(name).options).flatMap(([key, value]) => [`--${key}`, value]),
      {
        isTls: true,
      },
    );
    await expectNamed(server.url, ca, reason, code);
    await server.close();
  });

  describe('sentinels', () => {
    let redis: SentinelRedis;
    beforeAll(async () => {
      redis = await startSentinels({ tls: tlsWith('server') });
    });
    afterAll(() => redis?.close());

    test('behavior: everything works through them', () => useWithTls(redis.url));

    test('error: their authority is not known', async () => {
      for (const authority of [undefined, anotherCa]) {
        await expectNamed(redis.url, authority, UNKNOWN_CA, UNKNOWN_CA_CODE);
      }
    });

    test('error: a certificate of the primary, behind sentinels with a good one', async () => {
      const primary = await redis.primaryUrl();
      for (const [name, reason, code] of WRONG) {
        await show(primary, name);
        await expectNamed(redis.url, ca, reason, code);
      }
      await show(primary, 'server');
      await useWithTls(redis.url);
    });
  });

  test.each(WRONG)('error: sentinels whose certificate is %s are %s', async (name, reason, code) => {
    const server = await launch(
      Object.entries(tlsWith(name).options).flatMap(([key, value]) => [`--${key}`, value]),
      { isTls: true },
    );
    await expectNamed(`${server.url.replace('rediss:', 'rediss+sentinel:')}/mymaster`, ca, reason, code);
    await server.close();
  });

  describe('a cluster', () => {
    let cluster: ClusterRedis;
    beforeAll(async () => {
      cluster = await startRedisCluster({ tls: tlsWith('server') });
    });
    afterAll(() => cluster?.close());

    test('behavior: everything works over its nodes', () => useWithTls(cluster.url));

    test('error: an authority that is not known, and certificates of its nodes', async () => {
      for (const authority of [undefined, anotherCa]) {
        await expectNamed(cluster.url, authority, UNKNOWN_CA, UNKNOWN_CA_CODE);
      }
      for (const [name, reason, code] of WRONG) {
        for (const { url } of cluster.nodes) await show(url, name);
        await expectNamed(cluster.url, ca, reason, code);
      }
      for (const { url } of cluster.nodes) await show(url, 'server');
      await useWithTls(cluster.url);
    });
  });
});
