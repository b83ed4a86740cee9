import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { parseRedisUrl, type RedisSettings } from '../../src/config/redis-address.ts';
import { createRedisConnections, type RedisConnections } from '../../src/redis/connections.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { freePort } from '../support/free-port.ts';

/** A Redis for tests, which can be stopped and restarted at the same address. */
export interface TestRedis {
  readonly url: string;
  /** Remove all data, like a restart without persistence. */
  flush(): Promise<void>;
  /** Absent for an external Redis. */
  readonly stop?: () => Promise<void>;
  readonly start?: () => Promise<void>;
  close(): Promise<void>;
}

/** Reason for a missing Redis, or `null`. */
export function whyNoRedis(): string | null {
  if (process.env.TEST_REDIS_URL) return null;
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'skipped: neither TEST_REDIS_URL is set nor is a redis-server on PATH';
  }
}

/** No server listens there. */
export const NEVER_REACHED = 'redis://127.0.0.1:1';

/** The settings of a URL. */
export function settingsOf(url: string, prefix = 'spiral', tls?: RedisSettings['tls']): RedisSettings {
  return { address: parseRedisUrl(url), prefix, tls };
}

/** The connections of a process to a Redis. */
export function connectionsTo(url: string, prefix?: string, logger: Logger = silentLogger): RedisConnections {
  return createRedisConnections(settingsOf(url, prefix), logger);
}

/** Use TEST_REDIS_URL, or start a redis-server on a free port of loopback without persistence. */
export async function startRedis(): Promise<TestRedis> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, flush: () => flush(given), close: async () => {} };
  return launch([]);
}

/** Start a Redis in cluster mode without served slots: it answers CLUSTERDOWN to every command with a key. */
export async function startBrokenCluster(): Promise<TestRedis> {
  return launch(['--cluster-enabled', 'yes', ...(await clusterPort())]);
}

/** Options of a port for the bus of a cluster: the usual one, 10,000 above, may be that of a connection when a server restarts. */
export async function clusterPort(): Promise<readonly string[]> {
  return ['--cluster-port', String(await freePort())];
}

/**
 * Start a redis-server on a free port of loopback without persistence. @param more options of its command line, with `isTls` those
 * of its certificate
 */
export async function launch(
  more: readonly string[],
  options: { readonly port?: number; readonly command?: readonly string[]; readonly isTls?: boolean } = {},
) {
  const port = options.port ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const { isTls = false } = options;
  const url = `${isTls ? 'rediss' : 'redis'}://127.0.0.1:${port}`;
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const given = [
      ...(isTls ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)]),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
      ...more,
    ];
    server = spawn('redis-server', [...(options.command ?? given)]);
    const started = server;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output}`)));
      started.stdout?.on('data', (chunk: Buffer) => {
        output = `${output}${chunk.toString()}`.slice(-2_000);
        if (/Ready to accept connections|Sentinel ID is/.test(output)) resolve();
      });
    });
  };
  const stop = async (): Promise<void> => {
    const running = server;
    server = null;
    if (running === null) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  };
  await start();
  const close = async (): Promise<void> => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url, port, folder, flush: () => flush(url), start, stop, close };
}

async function flush(url: string): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}
