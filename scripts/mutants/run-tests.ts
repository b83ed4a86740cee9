import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WORK } from './state.ts';

const root = join(import.meta.dirname, '../..');
/** Without any result for this long, a mutant has made its tests endless. */
const STALLED_MS = 240_000;
const LOOK_MS = 1_000;

const resultLine = z.union([
  z.object({ started: z.string() }),
  z.object({ ended: z.string(), failed: z.string().nullable() }),
]);

export interface RunOptions {
  readonly folder: string;
  readonly tests: readonly string[];
  readonly needsPostgres: boolean;
  /** Whether each test file gets a process of its own. */
  readonly isolate: boolean;
  /** Where the run without mutants writes the mutants that each test file reaches. */
  readonly coverageFile?: string;
}

/**
 * Run test files, and tell for each why it failed; `null` = it passed. A file that never ends is ended and has failed, and the
 * others are run without it.
 */
export async function runTests(options: RunOptions): Promise<ReadonlyMap<string, string | null>> {
  const results = new Map<string, string | null>();
  let left = options.tests;
  while (left.length > 0) {
    const { ended, stalled } = await runOnce({ ...options, tests: left });
    for (const [file, failed] of ended) results.set(file, failed);
    for (const file of stalled) results.set(file, 'it did not end');
    const before = left.length;
    left = left.filter((file) => !results.has(file));
    if (left.length === before)
      throw new Error(`The test run ended without results: ${left[0]} and ${before - 1} others`);
  }
  return results;
}

async function runOnce(options: RunOptions) {
  const file = join(root, 'node_modules', '.cache', 'spiral-gateway', `mutants-${process.pid}.jsonl`);
  rmSync(file, { force: true });
  const child = spawn(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', join(import.meta.dirname, 'vitest.config.ts')],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
      env: {
        ...process.env,
        MUTANTS_WORK: WORK,
        MUTANTS_FOLDER: options.folder,
        MUTANTS_TESTS: JSON.stringify(options.tests),
        MUTANTS_RESULTS: file,
        MUTANTS_ISOLATE: options.isolate ? '1' : undefined,
        MUTANTS_POSTGRES: options.needsPostgres ? '1' : undefined,
        MUTANTS_COVERAGE: options.coverageFile,
      },
    },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let stalled = false;
  const startedMs = Date.now();
  const timer = setInterval(() => {
    const lastMs = existsSync(file) ? statSync(file).mtimeMs : startedMs;
    if (Date.now() - lastMs < STALLED_MS) return;
    stalled = true;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, LOOK_MS);
  await ended;
  clearInterval(timer);
  return resultsIn(file, stalled);
}

function resultsIn(file: string, isStalled: boolean) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const ended = new Map<string, string | null>();
  const started = new Set<string>();
  for (const line of lines) {
    if (line === '') continue;
    const result = resultLine.parse(JSON.parse(line));
    if ('started' in result) started.add(result.started);
    else {
      ended.set(result.ended, result.failed);
      started.delete(result.ended);
    }
  }
  return { ended, stalled: isStalled ? [...started] : [] };
}
