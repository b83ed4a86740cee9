import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
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

/** Use TEST_REDIS_URL, or start a redis-server on a free port of loopback without persistence. */
export async function startRedis(): Promise<TestRedis> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, flush: () => flush(given), close: async () => {} };
  return launch([]);
}

/** Start a Redis in cluster mode without served slots: it answers CLUSTERDOWN to every command with a key. */
export async function startBrokenCluster(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-cluster-'));
  const broken = await launch(['--dir', folder, '--cluster-enabled', 'yes']);
  return {
    ...broken,
    close: async () => {
      await broken.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launch(more: readonly string[]): Promise<TestRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more];
    server = spawn('redis-server', options);
    const started = server;
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
      started.stdout?.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('Ready to accept connections')) resolve();
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
  return { url, flush: () => flush(url), start, stop, close: stop };
}

async function flush(url: string): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}
