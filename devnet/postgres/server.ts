import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../src/shared/logger.ts';
import type { Account, Binaries } from './binaries.ts';
import { serversOf } from './owner.ts';

const START_ATTEMPTS = 5;
const RETRY_MS = 200;
/** A fast shutdown takes some 50 ms; one that hangs is cut short, and recovery runs at the next start. */
const STOP_TIMEOUT_MS = 5_000;
const POLL_MS = 50;
const MAX_LOG_LINES = 20;

/** Failures that another free port or a retry after a second resolves. */
const TRANSIENT = /could not bind|Address already in use|shared memory block .* is still in use|is being shut down/;

/** A standby only takes reads. */
const READY = /database system is ready to accept (read-only )?connections/;

/**
 * Ends the server when its parent has ended in any way: then the pipe closes. A separate process,
 * so that a signal to our process group does not end it first. Arguments: folders to remove afterwards.
 */
const GUARD = `
trap '' INT TERM HUP
read -r pid || exit 0
read -r word && exit 0
kill -INT "$pid" 2>/dev/null
i=0
while kill -0 "$pid" 2>/dev/null; do
  i=$((i + 1))
  [ "$i" -eq 50 ] && kill -QUIT "$pid" 2>/dev/null
  [ "$i" -eq 100 ] && exit 1
  sleep 0.1
done
[ "$#" -gt 0 ] && rm -rf -- "$@"
exit 0
`;

export interface ServerOptions {
  readonly binaries: Binaries;
  readonly account: Account;
  readonly cluster: string;
  /** Fixed port; a free one when absent. */
  readonly port: number | undefined;
  readonly ephemeral: boolean;
  /** Settings beside the usual ones. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Folders that are removed when the parent ends. */
  readonly removeWithParent: readonly string[];
  readonly logger: Logger;
}

export interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

/** Start the server and wait until it takes connections. @throws Error with the server's last words. */
export async function startServer(options: ServerOptions): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const started = await launch(options, port);
    if ('stop' in started) return started;
    if (attempt === START_ATTEMPTS || !TRANSIENT.test(started.words)) {
      throw new Error(`The embedded Postgres did not start: ${started.words}`);
    }
    await wait(RETRY_MS);
  }
}

/**
 * Prepare a start: end a server that a crashed parent left behind in this cluster, and remove its pid file.
 * Postgres would refuse a pid file whose pid belongs to another process or to a zombie.
 */
export async function clearLeftovers(cluster: string, logger: Logger): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const words = await readFile(file, 'utf8').catch(() => undefined);
  if (words === undefined) return; // it ended in order
  const pid = Number.parseInt(words, 10);
  const find = () => serversOf(cluster, pid);
  let left = await find();
  if (left.length > 0) logger.warn({ pid }, 'embedded database of a crashed process found, stopping it');
  // Without its main process the others end by themselves.
  if (left.includes(pid)) signal(pid, 'SIGINT');
  for (let waitedMs = 0; left.length > 0; waitedMs += POLL_MS) {
    if (waitedMs === STOP_TIMEOUT_MS) for (const each of left) signal(each, 'SIGQUIT');
    if (waitedMs > 2 * STOP_TIMEOUT_MS) {
      throw new Error(`A Postgres that was left behind does not end: end process ${left.join(', ')}.`);
    }
    await wait(POLL_MS);
    left = await find();
  }
  await rm(file, { force: true });
}

/** Environment of the server's programs, without the variables of this process, in particular PG*. */
export function serverEnv(): Record<string, string> {
  return { LC_ALL: 'C', TZ: 'UTC' };
}

async function launch(options: ServerOptions, port: number): Promise<Server | { readonly words: string }> {
  const guard = process.platform === 'win32' ? undefined : spawnGuard(options.removeWithParent);
  const child = spawn(options.binaries.postgres, serverArguments(options, port), {
    cwd: dirname(options.cluster),
    env: serverEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // a Ctrl-C in the terminal is ours to handle, in our order
    ...options.account,
  });
  guard?.stdin?.write(`${child.pid}\n`);
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  }).then(() => guard?.stdin?.end('done\n'));
  const words: string[] = [];
  const ready = await new Promise<boolean>((resolve) => {
    void ended.then(() => resolve(false));
    child.once('error', (error) => words.push(error.message));
    createInterface({ input: child.stderr }).on('line', (line) => {
      words.push(line);
      if (words.length > MAX_LOG_LINES) words.shift();
      options.logger.debug({ line }, 'embedded database');
      if (READY.test(line)) resolve(true);
    });
  });
  if (!ready) return { words: words.join(' | ') };

  let stopping = false;
  void ended.then(() => {
    if (!stopping) options.logger.error({ port }, 'embedded database ended by itself');
  });
  // From here on they do not delay the exit of this process: the guard ends the server.
  child.unref();
  if ('unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref();
  return {
    port,
    stop: async () => {
      stopping = true;
      child.ref();
      await stopChild(child, ended);
    },
  };
}

async function stopChild(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGINT'); // "fast": sessions are cut, the data is written
  const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

function spawnGuard(removeWithParent: readonly string[]): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'postgres-guard', ...removeWithParent], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => {});
  guard.stdin.on('error', () => {}); // it may be gone first
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  return guard;
}

function serverArguments(options: ServerOptions, port: number): string[] {
  const durable = options.ephemeral ? 'off' : 'on';
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: options.ephemeral ? '200' : '60',
    shared_buffers: '32MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '256MB',
    jit: 'off',
    log_min_error_statement: 'panic', // no SQL in logs
    log_error_verbosity: 'terse', // and no values
    fsync: durable,
    synchronous_commit: durable,
    full_page_writes: durable,
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', options.cluster, '-p', String(port), ...flags];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('No free port.')),
      );
    });
  });
}
