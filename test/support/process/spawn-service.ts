import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BUNDLED_MAIN } from '../bundle.ts';

export type Env = Readonly<Record<string, string>>;

export interface ServiceProcess {
  readonly url: string;
  readonly metricsUrl: string | null;
  readonly child: ChildProcess;
  /** Lines of the log so far. */
  readonly log: readonly string[];
  /** Send a signal and wait for the end. Returns the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Run the bundled service (see `buildBundle`) and wait until it listens. @throws Error with its output when it ends before */
export async function spawnService(env: Env): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [BUNDLED_MAIN], {
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'info', MAX_TURN_WAIT_MS: '0', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const listening = new Promise<{ url: string; metricsUrl?: string }>((resolve, reject) => {
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      log.push(line);
      if (line.includes('"msg":"listening"')) resolve(JSON.parse(line));
    });
    void ended.then(([code]) => reject(new Error(`the service ended with ${code}: ${log.slice(-5).join('\n')}`)));
  });
  const { url, metricsUrl = null } = await listening;
  return {
    url,
    metricsUrl,
    child,
    log,
    async end(signal) {
      child.kill(signal);
      const [code, killedBy] = await ended;
      return code ?? killedBy ?? 'SIGKILL';
    },
  };
}

/** Repeat a request until an answer matches, for work of another process. The timeout of the test ends it. */
export async function eventually<T>(ask: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
