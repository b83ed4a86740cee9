import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';

/** A shell that runs one block after the other, with the variables, functions and processes of those before. */
export interface Shell {
  /** Run a block. @throws Error with its output when a command of it fails */
  run(name: string, block: string): Promise<void>;
  readonly pid: number;
  /** Stop the processes that the blocks have started, and the shell. */
  stop(): Promise<void>;
}

/** Reads names of files from descriptor 3, runs each in this same shell, and confirms on descriptor 4. */
const DRIVER = `
set -euo pipefail
trap 'started=$(jobs -p); [ -z "$started" ] || kill $started 2>/dev/null; wait' EXIT
trap 'exit 0' TERM
while read -r file <&3; do
  source "$file"
  echo done >&4
done`;

/** Start a shell in a folder. @param env the whole environment of the blocks */
export function startShell(folder: string, env: Readonly<Record<string, string>>): Shell {
  const child = spawn('bash', ['-c', DRIVER], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  }) as ChildProcess;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const ended = once(child, 'exit');
  const confirmations = createInterface({ input: child.stdio[4] as NodeJS.ReadableStream });
  let number = 0;
  return {
    pid: child.pid ?? 0,
    async run(name, block) {
      output = '';
      const file = join(folder, `block-${++number}.sh`);
      await writeFile(file, block, { mode: 0o600 });
      const confirmed = once(confirmations, 'line');
      (child.stdio[3] as Writable).write(`${file}\n`);
      const outcome = await Promise.race([confirmed.then(() => 'done'), ended.then(() => 'ended')]);
      if (outcome === 'ended') throw new Error(`"${name}" failed:\n${output}`);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
