import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when stdout contains the text. @throws Error with its output when it ends before */
  output(text: string): Promise<void>;
  /** Exit code; `null` when a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Run a program of the project with only the given environment. The caller ends it. */
export function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  const listeners = new Set<() => void>();
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    stdout: () => out,
    stderr: () => err,
    ended,
    output: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!out.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`ended without saying "${text}":\n${out}\n${err}`)));
      }),
  };
}

export interface ProcessRef {
  readonly pid: number;
  readonly command: string;
  /** Ticks since boot: together with the pid it identifies one process. */
  readonly startedAt: string;
}

/** All descendants of a process. */
export async function descendants(pid: number): Promise<ProcessRef[]> {
  const rows = (await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf))).flat();
  const below = (parent: number): ProcessRef[] =>
    rows.filter((row) => row.parent === parent).flatMap((row) => [row, ...below(row.pid)]);
  return below(pid);
}

/** The processes that still run after a while; the kernel needs a moment to reap. */
export async function survivors(processes: readonly ProcessRef[], withinMs = 3_000): Promise<ProcessRef[]> {
  for (let waited = 0; ; waited += 50) {
    const found = await Promise.all(
      processes.map(async (one) => {
        const [row] = await statOf(String(one.pid));
        return row !== undefined && row.startedAt === one.startedAt && row.state !== 'Z' ? [one] : [];
      }),
    );
    if (found.flat().length === 0 || waited >= withinMs) return found.flat();
    await wait(50);
  }
}

async function statOf(pid: string): Promise<(ProcessRef & { readonly parent: number; readonly state: string })[]> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const command = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [
      { pid: Number(pid), command, parent: Number(fields[1]), state: fields[0] ?? '', startedAt: fields[19] ?? '' },
    ];
  } catch {
    return []; // it has just ended
  }
}
