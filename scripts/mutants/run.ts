import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { FOLDERS, type Folder, SOLIDITY } from './folders.ts';
import type { Mutant } from './mutators.ts';
import { testsOf } from './related-tests.ts';
import { isEquivalent, printScore, shuffled, survivorsOf, writeTest } from './run-mutant.ts';
import { runTests } from './run-tests.ts';
import { scoreSolidity } from './solidity/score.ts';
import { sourcesOf } from './sources.ts';
import { WORK } from './state.ts';

/*
 * Change the sources a little, many times, and see whether a test fails: `npm run mutants`. All mutants of a folder are in one
 * instrumented source, of which one at a time is active, so that a test run tries many. First every test runs without one, to
 * learn which tests reach which mutants. Survivors, and mutants that only act while a module is loaded, are tried again in a process
 * of their own.
 */

/** Test files of a first try, the quickest ones: most mutants are noticed there. */
const QUICK = 4;
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

const root = join(import.meta.dirname, '../..');

type Coverage = ReadonlyMap<string, ReadonlySet<number>>;
const coverageLine = z.object({ file: z.string(), ms: z.number(), hits: z.array(z.number()) });

/** Run the tests without a mutant, and read which mutants each of them reaches. */
async function coverageOf(folder: Folder, tests: readonly string[]): Promise<Coverage> {
  const coverageFile = join(WORK, `${folder.name}.jsonl`);
  const byPath = new Map(tests.map((file, i) => [writeTest(`none${i}`, 0, [file]), file]));
  const common = { folder: folder.name, needsPostgres: folder.needsPostgres === true, isolate: false };
  const results = await runTests({ ...common, tests: [...byPath.keys()], coverageFile });
  for (const path of byPath.keys()) rmSync(path);
  for (const [path, failed] of results) {
    if (failed !== null) throw new Error(`${byPath.get(path)} fails without a mutant: ${failed}`);
  }
  const lines = readFileSync(coverageFile, 'utf8').trim().split('\n');
  const files = lines.map((line) => coverageLine.parse(JSON.parse(line)));
  // The quickest tests come first: the first failure ends the try.
  const quickest = files.sort((a, b) => a.ms - b.ms);
  return new Map(quickest.map(({ file, hits }) => [byPath.get(file) ?? file, new Set(hits)]));
}

async function score(folder: Folder, seed: number): Promise<void> {
  const { codes, mutants } = sourcesOf(folder.name);
  const all = mutants.filter((mutant) => !isEquivalent(mutant));
  const chosen = shuffled(all, seed).slice(0, sample);
  const tests = testsOf(folder);
  const coverage = await coverageOf(folder, tests);
  const reaching = ({ id }: Mutant) => [...coverage].flatMap(([file, hits]) => (hits.has(id) ? [file] : []));
  // A mutant that only acts while its module is loaded is reached by any test of the module.
  const near = (mutant: Mutant) =>
    mutant.isStatic ? testsNear(mutant.file, { all, coverage, codes }) : reaching(mutant);
  const unreached = new Set(chosen.filter((mutant) => near(mutant).length === 0));
  const tried = async (mutants: readonly Mutant[], isolate: boolean) => {
    const trial = { folder: folder.name, needsPostgres: folder.needsPostgres === true, isolate };
    const left = await survivorsOf(mutants, { ...trial, testsFor: (mutant) => near(mutant).slice(0, QUICK) });
    return survivorsOf(left, { ...trial, testsFor: (mutant) => near(mutant).slice(QUICK) });
  };
  const first = await tried(
    chosen.filter(({ isStatic }) => !isStatic),
    false,
  );
  const later = chosen.filter(({ isStatic }) => isStatic);
  const survivors = await tried([...first, ...later], true);
  printScore({ name: folder.name, seed, all: all.length, chosen, survivors, unreached });
}

interface Near {
  readonly all: readonly Mutant[];
  readonly coverage: Coverage;
  readonly codes: ReadonlyMap<string, string>;
}

/**
 * The tests that reach anything of a file. Of one that only works when it is loaded, the first test to load it is known: those
 * that reach the sources that import it are near as well.
 */
function testsNear(file: string, near: Near, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const own = near.all.filter((mutant) => mutant.file === file);
  const tests = [...near.coverage].flatMap(([test, hits]) => (own.some(({ id }) => hits.has(id)) ? [test] : []));
  if (own.some(({ isStatic }) => !isStatic)) return tests;
  const importers = [...near.codes].filter(([, code]) => code.includes(`/${basename(file)}'`));
  const further = importers.flatMap(([path]) => testsNear(relative(root, path), near, seen));
  return [...new Set([...tests, ...further])];
}

const seed = Number(options.seed);
const sample = options.all ? Number.POSITIVE_INFINITY : Number(options.sample);
console.log(`seed ${seed}, ${options.all ? 'all mutants' : `${options.sample} mutants of each folder`}`);
mkdirSync(WORK, { recursive: true });
for (const folder of FOLDERS) {
  if (options.folder && !options.folder.includes(folder.name)) continue;
  await score(folder, seed);
}
if (options.folder === undefined || options.folder.includes(SOLIDITY)) await scoreSolidity(seed, sample);
rmSync(WORK, { recursive: true, force: true });
