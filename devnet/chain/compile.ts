import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Abi, Hex } from 'viem';
import { cached } from '../cache.ts';
import { projectRoot } from '../root.ts';

export interface Artifact {
  readonly abi: Abi;
  /** Creation code, without constructor arguments. */
  readonly bytecode: Hex;
  /** Runtime code; its immutables are zero until a constructor has run. */
  readonly deployedBytecode: Hex;
  /** Byte ranges of every immutable within the runtime code. */
  readonly immutableReferences: Readonly<
    Record<string, readonly { readonly start: number; readonly length: number }[]>
  >;
}

/** Compiled contracts by their Solidity contract name. */
export type Artifacts = Readonly<Record<string, Artifact>>;

interface Unit {
  readonly name: string;
  /** npm alias of the compiler. */
  readonly compiler: 'solc-0.8.19' | 'solc-0.8.28';
  readonly input: {
    readonly language: 'Solidity';
    readonly sources: Readonly<Record<string, { readonly content: string }>>;
    readonly settings: Readonly<Record<string, unknown>>;
  };
}

export interface SolcOutput {
  readonly errors?: readonly SolcProblem[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>;
}

interface SolcProblem {
  readonly severity: 'error' | 'warning' | 'info';
  readonly formattedMessage: string;
  readonly sourceLocation?: { readonly file: string };
}

interface SolcContract {
  readonly abi: Abi;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences?: Artifact['immutableReferences'];
    };
  };
}

/** Version of the EVM that our own contracts are compiled for. */
const OWN_EVM_VERSION = 'cancun';
const MORPHO = '@morpho-org/morpho-blue/src';
const IMPORT = /^\s*import\s(?:[^"';]*\sfrom\s)?\s*["']([^"']+)["']/gm;
/** The parts of the compiler's output that artifacts are made of. */
export const WANTED = [
  'abi',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
];

// A string instead of a file, so that it is part of the bundle.
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const load = require('node:module').createRequire(workerData.root + '/package.json');
parentPort.postMessage(load(workerData.compiler).compile(workerData.input));
`;

/**
 * Compile Morpho Blue from its package and every contract under `contracts/`, unless the sources are those of the committed code.
 * Sources import each other relatively, and those of npm packages by their path below `node_modules`.
 * @throws Error with the compiler's own message; warnings of our own sources are errors.
 */
export async function compileContracts(): Promise<Artifacts> {
  const root = projectRoot();
  const units = await unitsOf(root);
  return Object.assign({}, ...(await Promise.all(units.map((unit) => committed(root, unit) ?? compiled(root, unit)))));
}

/** The files of the committed code, with their texts: the hash of the sources, and a line for each contract. */
export async function committedFiles(): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const root = projectRoot();
  const render = async (unit: Unit) => {
    const lines = Object.entries(await compiled(root, unit)).map(
      ([name, artifact]) => `${JSON.stringify(name)}:${JSON.stringify(artifact)}`,
    );
    const text = `{"hash":"${hashOf(unit)}","artifacts":{\n${lines.join(',\n')}\n}}\n`;
    return { file: committedFile(root, unit), text };
  };
  return Promise.all((await unitsOf(root)).map(render));
}

function committedFile(root: string, { name }: Unit): string {
  return join(root, 'devnet/chain/generated', `${name}.json`);
}

/** The committed code of a unit; `undefined` = its sources have changed since. */
function committed(root: string, unit: Unit): Artifacts | undefined {
  const file = committedFile(root, unit);
  if (!existsSync(file)) return undefined;
  const { hash, artifacts } = JSON.parse(readFileSync(file, 'utf8')) as { hash: string; artifacts: Artifacts };
  return hash === hashOf(unit) ? artifacts : undefined;
}

async function unitsOf(root: string): Promise<readonly Unit[]> {
  const [morpho, own] = await Promise.all([
    readSources(join(root, 'node_modules', MORPHO), MORPHO),
    readSources(join(root, 'contracts'), 'contracts'),
  ]);
  return [morphoUnit(morpho), ownUnit(own, await withImports(root, own))];
}

/**
 * Pick one compiled contract.
 * @throws Error when no contract of that name was compiled.
 */
export function artifactOf(artifacts: Artifacts, name: string): Artifact {
  const artifact = artifacts[name];
  if (artifact === undefined)
    throw new Error(`No contract ${name} was compiled. There are: ${Object.keys(artifacts).join(', ')}`);
  return artifact;
}

function morphoUnit(sources: Record<string, string>): Unit {
  // Without viaIR the singleton does not compile (stack too deep).
  return unit('morpho', 'solc-0.8.19', sources, { [`${MORPHO}/Morpho.sol`]: { '*': WANTED } }, 'paris', true);
}

function ownUnit(own: Record<string, string>, sources: Record<string, string>): Unit {
  const selection = Object.fromEntries(Object.keys(own).map((file) => [file, { '*': WANTED }]));
  return unit('own', 'solc-0.8.28', sources, selection, OWN_EVM_VERSION, false);
}

function unit(
  name: string,
  compiler: Unit['compiler'],
  sources: Record<string, string>,
  outputSelection: unknown,
  evmVersion: string,
  viaIR: boolean,
): Unit {
  return {
    name,
    compiler,
    input: {
      language: 'Solidity',
      sources: Object.fromEntries(Object.entries(sources).map(([file, content]) => [file, { content }])),
      settings: { ...compilerSettings(evmVersion, viaIR), outputSelection },
    },
  };
}

/** Settings of the compiler, without the selected output. `viaIR`: by the intermediate language. */
export function compilerSettings(evmVersion: string = OWN_EVM_VERSION, viaIR = false) {
  return { optimizer: { enabled: true, runs: 200 }, viaIR, evmVersion, metadata: { bytecodeHash: 'none' } };
}

function hashOf({ compiler, input }: Unit): string {
  return createHash('sha256').update(compiler).update(JSON.stringify(input)).digest('hex').slice(0, 32);
}

async function compiled(root: string, unit: Unit): Promise<Artifacts> {
  const text = await cached(`${unit.name}-${hashOf(unit)}.json`, async () =>
    JSON.stringify(
      toArtifacts(JSON.parse(await runSolc(root, unit.compiler, JSON.stringify(unit.input))) as SolcOutput),
    ),
  );
  return JSON.parse(text) as Artifacts;
}

function runSolc(root: string, compiler: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Without the arguments of this process: an inherited loader such as tsx would slow the worker down.
    const worker = new Worker(WORKER, { eval: true, execArgv: [], workerData: { root, compiler, input } });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`${compiler} ended with exit code ${code} and no output`)));
    worker.once('message', (output: string) => {
      resolve(output);
      void worker.terminate();
    });
  });
}

/** Read the compiler's answer. @throws Error on any error, and on any warning of our own sources */
export function toArtifacts(output: SolcOutput): Artifacts {
  const problems = (output.errors ?? []).filter(
    (problem) => problem.severity === 'error' || !problem.sourceLocation?.file.startsWith('@'),
  );
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'));
  const artifacts: Record<string, Artifact> = {};
  for (const contracts of Object.values(output.contracts ?? {})) {
    for (const [name, contract] of Object.entries(contracts)) {
      if (contract.evm.bytecode.object === '') continue; // an interface: may be declared in several files
      if (name in artifacts) throw new Error(`Two contracts are named ${name}: rename one`);
      const { bytecode, deployedBytecode } = contract.evm;
      artifacts[name] = {
        abi: contract.abi,
        bytecode: `0x${bytecode.object}`,
        deployedBytecode: `0x${deployedBytecode.object}`,
        immutableReferences: deployedBytecode.immutableReferences ?? {},
      };
    }
  }
  return artifacts;
}

async function readSources(folder: string, prefix: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sol'))
    .map((entry) => join(entry.parentPath, entry.name));
  const read = files.sort().map(async (file) => {
    const name = `${prefix}/${relative(folder, file).replaceAll('\\', '/')}`;
    return [name, await readFile(file, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Add the sources that the given ones import, and their imports in turn. */
async function withImports(root: string, own: Record<string, string>): Promise<Record<string, string>> {
  const sources: Record<string, string> = { ...own };
  for (let added = own; Object.keys(added).length > 0; ) {
    const missing = Object.entries(added)
      .flatMap(([file, content]) => importsOf(file, content))
      .filter((file) => !(file in sources));
    const read = [...new Set(missing)].map(
      async (file) => [file, await readFile(join(root, 'node_modules', file), 'utf8')] as const,
    );
    added = Object.fromEntries(await Promise.all(read));
    Object.assign(sources, added);
  }
  return Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The files that a Solidity file imports, by their paths. */
export function importsOf(file: string, content: string): string[] {
  return [...content.matchAll(IMPORT)].map(([, path = '']) =>
    path.startsWith('.') ? posix.join(posix.dirname(file), path) : path,
  );
}
