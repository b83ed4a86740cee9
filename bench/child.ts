import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A process of a benchmark: it gets its input once, and reports its cost on request. */
export interface Child {
  readonly url: string;
  /** Values that it reported beside its URL. */
  readonly report: Readonly<Record<string, unknown>>;
  cost(): Promise<Cost>;
  stop(): Promise<void>;
}

export interface Cost {
  /** CPU time of the process so far, microseconds. */
  readonly cpuUs: number;
  /** The part of it outside of the kernel, microseconds. */
  readonly userUs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** Number of answers of an attacker by status. */
  readonly statuses?: Readonly<Record<string, number>>;
}

/** Whether servers are pinned to a core. On one core the helper threads of V8 take time from the main thread. */
export const isPinning: boolean =
  process.env.BENCH_CORE !== 'all' && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** The core that servers run on, one at a time; the load comes from the others. `BENCH_CORE` names another one, or `all`. */
const SERVER_CORE = isPinning && process.env.BENCH_CORE ? Number(process.env.BENCH_CORE) : availableParallelism() - 1;
/** Cores of the processes that a server calls. */
export const PEER_CORE = (SERVER_CORE + 1) % availableParallelism();
const START_MS = 180_000;
const STOP_MS = 10_000;

/** V8 flags for the service and for measurements of its parts, e.g. those of a machine with one core. */
export const serviceFlags: readonly string[] = (process.env.BENCH_SERVICE_FLAGS ?? '').split(' ').filter(Boolean);

/** Start `bench/servers/<name>.ts` in a process of its own, pinned to one core where the machine can: `peer` = not the servers'. */
export async function startChild(
  name: string,
  input: unknown,
  flags: readonly string[] = [],
  peer = false,
): Promise<Child> {
  const node = [process.execPath, ...flags, await bundled(name)];
  const [command = '', ...args] = isPinning ? ['taskset', '-c', String(peer ? PEER_CORE : SERVER_CORE), ...node] : node;
  const child = spawn(command, args, {
    stdio: ['ignore', process.env.BENCH_OUT ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    env: { ...process.env },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.send({ start: input });
  const ready = (await answer(child, 'ready', START_MS)) as Record<string, unknown>;
  return {
    url: String(ready.url ?? ''),
    report: ready,
    async cost() {
      child.send({ cost: true });
      return (await answer(child, 'cost', STOP_MS)) as Cost;
    },
    async stop() {
      child.send({ stop: true });
      const cut = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(cut);
    },
  };
}

const bundles = new Map<string, Promise<string>>();

/** The bundle of a server, made once. */
function bundled(name: string): Promise<string> {
  const made = bundles.get(name) ?? bundle(name);
  bundles.set(name, made);
  return made;
}

/** Bundle as for production, because a loader of sources adds a cost to every function. */
async function bundle(name: string): Promise<string> {
  const folder = `node_modules/.cache/bench/${process.pid}/${name}`;
  const entry = `--entry=bench/servers/${name}.ts`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', folder, entry], { cwd });
  return `${cwd}${folder}/${name}.js`;
}

/** Remove the bundles. */
export async function removeBundles(): Promise<void> {
  bundles.clear();
  await rm(new URL(`../node_modules/.cache/bench/${process.pid}`, import.meta.url), { recursive: true, force: true });
}

function answer(child: ChildProcess, kind: string, withinMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      finish();
    };
    const onMessage = (message: unknown) => {
      const output = (message as Record<string, unknown>)[kind];
      if (output !== undefined) end(() => resolve(output));
    };
    const onExit = () => end(() => reject(new Error(`a benchmark process ended before it said "${kind}"`)));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      end(() => reject(new Error(`a benchmark process did not say "${kind}" in time`)));
    }, withinMs);
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
