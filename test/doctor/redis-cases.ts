import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startRedisCluster, startSentinels } from '../support/process/redis-topologies.ts';
import type { OutsideWorld } from './world.ts';

/** Findings about `REDIS_URL`, on real servers. */
export function redisCases({ doctor, of, look, examine }: OutsideWorld): void {
  const named = (status: string, check: string) => `${status} redis REDIS_URL [${check}]`;
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(doctor().redis.url);
  });
  afterAll(() => redis.disconnect());

  it('behavior: no server, and a wrong password', async () => {
    expect(await examine('redis', { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })).toEqual([
      named('failure', 'answers'),
    ]);
    const url = new URL(doctor().redis.url);
    const report = await look({ REDIS_URL: `redis://user:redis-password@${url.host}` }, 'redis');
    expect(of(report, 'redis')).toEqual([named('failure', 'answers')]);
    expect(JSON.stringify(report)).not.toContain('redis-password');
  });

  it('behavior: an evicting policy, a replica, and refused commands', async () => {
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await examine('redis')).toEqual([named('warning', 'eviction')]);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.call(
      'ACL',
      'SETUSER',
      'limited',
      'on',
      '>limited-secret',
      '~spiral:*',
      '&spiral:*',
      '+@all',
      '-eval',
      '-pexpire',
    );
    const url = new URL(doctor().redis.url);
    const report = await look({ REDIS_URL: `redis://limited:limited-secret@${url.host}` }, 'redis');
    expect(of(report, 'redis')).toEqual([named('failure', 'acl')]);
    expect(report.lines.find(({ check }) => check === 'acl')?.found).toBe('the user may not run EVAL, PEXPIRE');
    const [, line = ''] = /^user (spiral on .*)$/m.exec(readFileSync('deploy/redis.acl', 'utf8')) ?? [];
    await redis.call('ACL', 'SETUSER', ...line.replace('PASSWORD', 'doctor-secret').split(' '));
    expect(await examine('redis', { REDIS_URL: `redis://spiral:doctor-secret@${url.host}` })).toEqual([]);
    expect(
      await examine('redis', { REDIS_URL: `redis://spiral:doctor-secret@${url.host}`, REDIS_KEY_PREFIX: 'x' }),
    ).toEqual([named('failure', 'keys'), named('failure', 'acl')]);
    await redis.call('REPLICAOF', '127.0.0.1', String(await freePort()));
    expect(await examine('redis')).toContain(named('failure', 'writable'));
    await redis.call('REPLICAOF', 'NO', 'ONE');
  });

  it('behavior: sentinels and the primary that they name; a cluster and each of its primaries', async () => {
    const [sentinels, cluster] = await Promise.all([startSentinels(), startRedisCluster()]);
    try {
      expect(await examine('redis', { REDIS_URL: sentinels.url })).toEqual([named('warning', 'quorum')]);
      const lost = sentinels.url.replace('//', `//127.0.0.1:${await freePort()},`);
      expect(await examine('redis', { REDIS_URL: lost })).toEqual([
        named('warning', 'sentinels'),
        named('warning', 'quorum'),
      ]);
      const unknown = await look({ REDIS_URL: sentinels.url.replace('mymaster', 'another') }, 'redis');
      expect(of(unknown, 'redis')).toEqual([named('warning', 'sentinels'), named('failure', 'answers')]);
      expect(unknown.lines.find(({ check }) => check === 'answers')?.found).toContain('unknown_primary');
      expect(await examine('redis', { REDIS_URL: sentinels.sentinels[0]?.url })).toContain(named('failure', 'mode'));
      // Three primaries without replicas.
      expect(await examine('redis', { REDIS_URL: cluster.url })).toEqual([named('warning', 'cluster')]);
      expect(await examine('redis', { REDIS_URL: cluster.nodes[0]?.url })).toContain(named('failure', 'mode'));
    } finally {
      await Promise.all([sentinels.close(), cluster.close()]);
    }
  });

  it('behavior: writes nothing', async () => {
    await redis.flushall();
    await look({}, 'redis');
    expect(await redis.keys('*')).toEqual([]);
  });
}
