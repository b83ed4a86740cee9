import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Artifacts,
  compilerSettings,
  importsOf,
  type SolcOutput,
  toArtifacts,
  WANTED,
} from '../../../devnet/chain/compile.ts';
import { type SolidityMutant, solidityMutants } from './mutators.ts';

const root = join(import.meta.dirname, '../../..');
const PRODUCT = 'contracts/product';

interface Solc {
  compile(input: string): string;
}
type Sources = ReadonlyMap<string, string>;

const solc = createRequire(join(root, 'package.json'))('solc-0.8.28') as Solc;

/** The product's contract files with all that they import. */
export function readSources(): Sources {
  const sources = new Map<string, string>();
  const read = (file: string) => {
    if (sources.has(file)) return;
    const own = join(root, file);
    const text = readFileSync(existsSync(own) ? own : join(root, 'node_modules', file), 'utf8');
    sources.set(file, text);
    for (const imported of importsOf(file, text)) read(imported);
  };
  for (const name of readdirSync(join(root, PRODUCT)).sort()) if (name.endsWith('.sol')) read(`${PRODUCT}/${name}`);
  return sources;
}

/** All mutants of the product's contracts. */
export function mutantsOf(sources: Sources): SolidityMutant[] {
  const mutants: SolidityMutant[] = [];
  for (const [file, text] of sources) {
    if (!file.startsWith(PRODUCT)) continue;
    const settings = { stopAfter: 'parsing', outputSelection: { '*': { '': ['ast'] } } };
    const output = JSON.parse(solc.compile(JSON.stringify({ ...inputOf(new Map([[file, text]])), settings })));
    mutants.push(...solidityMutants(output.sources[file].ast, bytesOf(text), file, mutants.length + 1));
  }
  return mutants;
}

/**
 * Compile the contracts that a mutant changes.
 * @returns `invalid` when it is no Solidity, `same` when the compiler makes the same code of it
 */
export function compileMutant(sources: Sources, mutant: SolidityMutant, unchanged: Artifacts) {
  const text = bytesOf(sources.get(mutant.file) ?? '');
  const changed = text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end);
  const mutated = new Map([...sources, [mutant.file, Buffer.from(changed, 'latin1').toString()]]);
  const artifacts = compile(mutated, mutant.file);
  if (artifacts === undefined) return 'invalid';
  const isSame = Object.entries(artifacts).every(([name, { bytecode }]) => unchanged[name]?.bytecode === bytecode);
  return isSame ? 'same' : artifacts;
}

/** Compile the product's files that import a file; `undefined` when they do not compile. */
function compile(sources: Sources, changed: string): Artifacts | undefined {
  const files = [...sources.keys()].filter((file) => file.startsWith(PRODUCT) && reaches(sources, file, changed));
  const settings = {
    ...compilerSettings(),
    outputSelection: Object.fromEntries(files.map((file) => [file, { '*': WANTED }])),
  };
  const output = JSON.parse(solc.compile(JSON.stringify({ ...inputOf(sources), settings }))) as SolcOutput;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  return errors.length > 0 ? undefined : toArtifacts({ ...output, errors: [] });
}

/** A text with one character per byte: the compiler's places are bytes. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

const inputOf = (sources: Sources) => ({
  language: 'Solidity',
  sources: Object.fromEntries([...sources].map(([file, content]) => [file, { content }])),
});

function reaches(sources: Sources, file: string, target: string, seen = new Set<string>()): boolean {
  if (file === target) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  return importsOf(file, sources.get(file) ?? '').some((next) => reaches(sources, next, target, seen));
}
