import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { EQUIVALENTS } from './equivalent.ts';
import { FOLDERS, type Folder } from './folders.ts';
import type { Mutant } from './mutators.ts';
import { runTests } from './run-tests.ts';
import { sourcesOf } from './sources.ts';
import { testsOf } from './tests-of.ts';

/*
 * Change the sources a little, many times, and see whether a test fails: `npm run mutants`. All mutants of a folder are in one
 * instrumented source, of which one at a time is active, so that a test run tries many. First every test runs without one, to
 * learn which tests reach which mutants. Survivors, and what works only when a module is loaded, are tried again in a process
 * of their own.
 */

const root = join(import.meta.dirname, '../..');
/** Test files made for this run, one per mutant; beside the sources, because packages are loaded in another way. */
const work = join(root, '.mutants');
/** Mutants per folder by default: about ten minutes on two cores. */
const SAMPLE = 100;
const SEED = 20_261_122;

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', multiple: true },
    seed: { type: 'string', default: String(SEED) },
    sample: { type: 'string', default: String(SAMPLE) },
    all: { type: 'boolean', default: false },
  },
});

type Coverage = ReadonlyMap<string, ReadonlySet<number>>;
const coverageLine = z.object({ file: z.string(), ms: z.number(), hits: z.array(z.number()) });

/** Run the tests without a mutant, and read which mutants each of them reaches. */
async function coverageOf(folder: Folder, tests: readonly string[]): Promise<Coverage> {
  const coverageFile = join(work, 'coverage.jsonl');
  const common = { folder: folder.name, tests, needsPostgres: folder.needsPostgres === true, isolate: false };
  const results = await runTests({ ...common, coverageFile });
  for (const [file, failed] of results) {
    if (failed !== null) throw new Error(`${file} fails without a mutant: ${failed}`);
  }
  const lines = readFileSync(coverageFile, 'utf8').trim().split('\n');
  const files = lines.map((line) => coverageLine.parse(JSON.parse(line)));
  // The quickest tests come first: the first failure ends the try.
  return new Map(files.sort((a, b) => a.ms - b.ms).map(({ file, hits }) => [file, new Set(hits)]));
}

/** Write the test file of a mutant: activate it, then run the tests that reach it, up to the first failure. */
function writeTest({ id }: Mutant, tests: readonly string[]): string {
  const path = join(work, `${id}.test.ts`);
  const suites = tests.map((file) => `describe('tests', async () => { await import('${file}?mutant=${id}'); });`);
  writeFileSync(path, `import { describe } from 'vitest';\n__mutants.start(${id});\n${suites.join('\n')}\n`);
  return path;
}

/** Try mutants; returns those that no test notices. */
async function survivorsOf(
  folder: Folder,
  mutants: readonly Mutant[],
  testsFor: (mutant: Mutant) => readonly string[],
  isolate: boolean,
): Promise<readonly Mutant[]> {
  const byPath = new Map(mutants.map((mutant) => [writeTest(mutant, testsFor(mutant)), mutant]));
  const common = { folder: folder.name, needsPostgres: folder.needsPostgres === true, isolate };
  const results = await runTests({ ...common, tests: [...byPath.keys()] });
  for (const path of byPath.keys()) rmSync(path);
  return [...byPath].flatMap(([path, mutant]) => (results.get(path) === null ? [mutant] : []));
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

function sampled(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const next = random(seed);
  return mutants
    .map((mutant) => ({ mutant, key: next() }))
    .sort((a, b) => a.key - b.key)
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

const isEquivalent = (mutant: Mutant) =>
  EQUIVALENTS.some(
    ({ file, original, replacement }) =>
      file === mutant.file && original === mutant.original && replacement === mutant.replacement,
  );

async function score(folder: Folder, seed: number): Promise<void> {
  const all = sourcesOf(folder.name).mutants.filter((mutant) => !isEquivalent(mutant));
  const chosen = options.all ? all : sampled(all, Number(options.sample), seed);
  const tests = testsOf(folder);
  const coverage = await coverageOf(folder, tests);
  const reaching = ({ id }: Mutant) => [...coverage].flatMap(([file, hits]) => (hits.has(id) ? [file] : []));
  const [unreached, reached] = [[] as Mutant[], [] as Mutant[]];
  for (const mutant of chosen) {
    if (mutant.isStatic || reaching(mutant).length > 0) reached.push(mutant);
    else unreached.push(mutant);
  }
  const later = reached.filter(({ isStatic }) => isStatic);
  const first = await survivorsOf(
    folder,
    reached.filter(({ isStatic }) => !isStatic),
    reaching,
    false,
  );
  // What works only when a module is loaded is reached by any test of its module.
  const near = (mutant: Mutant) => (mutant.isStatic ? testsNear(mutant, all, coverage) : reaching(mutant));
  const survivors = [...unreached, ...(await survivorsOf(folder, [...first, ...later], near, true))];
  const killed = chosen.length - survivors.length;
  const pct = ((100 * killed) / chosen.length).toFixed(1);
  console.log(`\n${folder.name}: ${killed} of ${chosen.length} noticed, ${pct} % (of ${all.length}, seed ${seed})`);
  for (const mutant of survivors.sort((a, b) => (a.file < b.file ? -1 : 1))) {
    const { file, line, original, replacement } = mutant;
    const note = unreached.includes(mutant) ? '  (no test reaches it)' : '';
    console.log(`  ${file}:${line}  ${oneLine(original)}  →  ${oneLine(replacement) || 'left out'}${note}`);
  }
}

/** The tests that reach anything of a mutant's file. */
function testsNear(mutant: Mutant, all: readonly Mutant[], coverage: Coverage): readonly string[] {
  const ids = all.filter(({ file }) => file === mutant.file).map(({ id }) => id);
  return [...coverage].flatMap(([file, hits]) => (ids.some((id) => hits.has(id)) ? [file] : []));
}

function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.length > 110 ? `${flat.slice(0, 110)}…` : flat;
}

const seed = Number(options.seed);
console.log(`seed ${seed}, ${options.all ? 'all mutants' : `${options.sample} mutants of each folder`}`);
for (const folder of FOLDERS) {
  if (options.folder && !options.folder.includes(folder.name)) continue;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  await score(folder, seed);
}
rmSync(work, { recursive: true, force: true });
