import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld } from '../devnet/index.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { type Child, startChild } from './child.ts';
import { type Measured, measure, median, type Shot } from './load.ts';
import { say } from './table.ts';

/** Few, so that none waits for its turn beside other work. */
const CONNECTIONS = 8;
const NO_END = '1000000000';
const DOCUMENT = '{ strategies(first: 20) { nodes { strategyId apyPct } } }';
const bodies = (text: (n: number) => string) => {
  let n = 0;
  return () => {
    n += 1;
    return JSON.stringify({ query: text(n) });
  };
};
const ROWS: readonly (readonly [title: string, shot: Shot])[] = [
  ['`GET /v1/strategies`', { path: '/v1/strategies' }],
  ['GraphQL, repeated document', { path: '/graphql', method: 'POST', body: bodies(() => DOCUMENT) }],
  [
    'GraphQL, a document never seen',
    { path: '/graphql', method: 'POST', body: bodies((n) => `${DOCUMENT} # ${process.pid} ${n}`) },
  ],
];

/** Measure one process without Redis, one with it, and two that share it, each process with half of the load. */
export async function sharing({ rounds, shotMs }: { readonly rounds: number; readonly shotMs: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-bench-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const world = await startWorld({ dataDir: folder, mining: 'auto', logger: silentLogger });
    ends.push(() => world.stop());
    const redisUrl = await startRedis(ends);
    const start = async (role: string, redis: boolean): Promise<Child> => {
      const limits = { RATE_LIMIT_ANONYMOUS: NO_END, RATE_LIMIT_PARTNER: NO_END };
      const own = { NODE_ENV: 'test', PORT: '0', METRICS_PORT: '0', ...(redis ? { REDIS_URL: redisUrl } : {}) };
      const child = await startChild('service', { ...world.overrides.env, ...limits, ...own, ROLE: role });
      ends.push(() => child.stop());
      return child;
    };
    const alone = await start('all', false);
    const first = await start('all', true);
    const second = await start('api', true);
    say('\n| row | without Redis, CPU | with Redis, CPU | two processes, CPU of a request | growth |');
    say('|---|--:|--:|--:|--:|');
    for (const [title, shot] of ROWS) {
      const of = async (children: readonly Child[]) => {
        const all: Measured[] = [];
        for (let round = 0; round <= rounds; round += 1) {
          const each = await Promise.all(
            children.map((child) => measure(child, shot, shotMs, CONNECTIONS / children.length)),
          );
          if (round > 0) all.push(...each);
        }
        return median(all).cpuUs;
      };
      const [bare, one, two] = [await of([alone]), await of([first]), await of([first, second])];
      const us = (value: number) => `${value.toFixed(0)} µs`;
      say(`| ${title} | ${us(bare)} | ${us(one)} | ${us(two)} | ${((two / one - 1) * 100).toFixed(0)} % |`);
    }
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function startRedis(ends: (() => Promise<unknown>)[]): Promise<string> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { readonly port: number };
  await new Promise((resolve) => probe.close(resolve));
  const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(async () => redis.kill());
  await new Promise<void>((resolve, reject) => {
    redis.once('error', reject);
    redis.stdout.on('data', (text: Buffer) => String(text).includes('Ready to accept') && resolve());
  });
  return `redis://127.0.0.1:${port}`;
}
