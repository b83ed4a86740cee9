import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { startBrokenCluster, whyNoRedis } from './redis-server.ts';

describe.skipIf(whyNoRedis())('startBrokenCluster', () => {
  test('behavior: no port is one that the system gives to connections, so that a restart finds them free', async () => {
    const cluster = await startBrokenCluster();
    const admin = new Redis(cluster.url);
    const [, port, busPort] = /:(\d+)@(\d+)/.exec(String(await admin.call('CLUSTER', 'NODES'))) ?? [];
    admin.disconnect();
    await cluster.close();
    for (const own of [port, busPort].map(Number)) expect(own >= 20_000 && own < 32_000, String(own)).toBe(true);
    expect(Number(busPort)).not.toBe(Number(port) + 10_000);
  });
});
