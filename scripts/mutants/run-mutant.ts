import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EQUIVALENTS } from './equivalent.ts';
import type { Mutant } from './mutators.ts';
import { runTests } from './run-tests.ts';
import { WORK } from './state.ts';

export interface Trial {
  readonly folder: string;
  readonly needsPostgres: boolean;
  /** Whether each mutant gets a process of its own. */
  readonly isolate: boolean;
  /** The test files to run; the first failure ends the try. */
  readonly testsFor: (mutant: Mutant) => readonly string[];
}

/** Reasons of a busy machine: they show nothing of a mutant. */
const SLOW = /timed out in \d+ms|did not start: no answer/;

/** Try mutants; returns those that no test notices. A mutant without tests is one of them. */
export async function survivorsOf<T extends Mutant>(mutants: readonly T[], trial: Trial): Promise<readonly T[]> {
  const { folder, needsPostgres, isolate, testsFor } = trial;
  const withTests = mutants.filter((mutant) => testsFor(mutant).length > 0);
  const byPath = new Map(
    withTests.map((mutant) => [writeTest(String(mutant.id), mutant.id, testsFor(mutant)), mutant]),
  );
  const results = await runTests({ folder, needsPostgres, isolate, tests: [...byPath.keys()] });
  for (const path of byPath.keys()) rmSync(path);
  const noticed = new Set<T>();
  for (const [path, mutant] of byPath) {
    const failed = results.get(path);
    if (typeof failed !== 'string' || SLOW.test(failed)) continue;
    noticed.add(mutant);
    if (process.env.MUTANTS_VERBOSE) console.log(`  noticed ${whereOf(mutant)}: ${oneLine(failed)}`);
  }
  return mutants.filter((mutant) => !noticed.has(mutant));
}

/**
 * Write a test file that activates a mutant and then runs tests, up to the first failure. @param name part of its path, and what
 * the tests and their helpers are loaded anew for
 * @param id the mutant; 0 = none
 */
export function writeTest(name: string, id: number, tests: readonly string[]): string {
  const path = join(WORK, `${name}.test.ts`);
  const suites = tests.map((file) => `describe('tests', async () => { await import('${file}?mutant=${name}'); });`);
  writeFileSync(path, `import { describe } from 'vitest';\n__mutants.start(${id});\n${suites.join('\n')}\n`);
  return path;
}

/** Mutants in an order that only the seed decides. */
export function shuffled<T extends Mutant>(mutants: readonly T[], seed: number): readonly T[] {
  const next = random(seed);
  return mutants
    .map((mutant) => ({ mutant, key: next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ mutant }) => mutant);
}

/** Numbers in [0, 1), the same for a seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const isEquivalent = (mutant: Mutant): boolean =>
  EQUIVALENTS.some(
    ({ file, code, original, replacement }) =>
      file === mutant.file &&
      original === mutant.original &&
      replacement === mutant.replacement &&
      (code === undefined || code === mutant.code),
  );

export interface Score {
  readonly name: string;
  readonly seed: number;
  readonly all: number;
  readonly chosen: readonly Mutant[];
  readonly survivors: readonly Mutant[];
  readonly unreached?: ReadonlySet<Mutant>;
}

/** Print the score of a folder, and the mutants that no test noticed. */
export function printScore({ name, seed, all, chosen, survivors, unreached }: Score): void {
  const noticed = chosen.length - survivors.length;
  const pct = ((100 * noticed) / chosen.length).toFixed(1);
  console.log(`\n${name}: ${noticed} of ${chosen.length} noticed, ${pct} % (of ${all}, seed ${seed})`);
  for (const mutant of survivors.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    const note = unreached?.has(mutant) ? '  (no test reaches it)' : '';
    console.log(`  ${whereOf(mutant)}${note}`);
  }
}

const whereOf = ({ file, line, original, replacement }: Mutant) =>
  `${file}:${line}  ${oneLine(original)}  →  ${oneLine(replacement) || 'left out'}`;

function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.length > 110 ? `${flat.slice(0, 110)}…` : flat;
}
