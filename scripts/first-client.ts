import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { writeClientTypes } from './client-types.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);
const tsc = join(root, 'node_modules/typescript/bin/tsc');

export interface FirstClientOptions {
  /** Address of a running service. */
  readonly service: string;
  /** Address of the node of chain 1 of its local world. */
  readonly node: string;
  /** An empty folder that stays; default: one for temporary files, removed at the end. */
  readonly folder?: string;
  /** Files that are compiled with the quickstart. */
  readonly files?: Readonly<Record<string, string>>;
  /** Options of the Node process that runs the client. */
  readonly nodeOptions?: readonly string[];
  readonly onStep?: (step: string, ms: number) => void;
}

/** A package for publishing, unpacked into a folder in which nothing else is installed. */
export async function packClient(folder: string): Promise<void> {
  await writeClientTypes();
  const sources = join(folder, 'sources');
  const target = join(folder, 'node_modules/@spiral-gateway/client');
  cpSync(join(root, 'packages/client'), sources, {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist)$/.test(path),
  });
  await run(process.execPath, [
    tsc,
    '-p',
    join(root, 'packages/client/tsconfig.build.json'),
    '--noCheck', // the sources are checked with all others
    '--outDir',
    join(sources, 'dist'),
  ]);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: sources,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1']);
  rmSync(sources, { recursive: true });
}

/** The TypeScript blocks of a guide, one file each, at other addresses than the ones it shows. */
export function samplesOf(guide: string, { service, node }: Pick<FirstClientOptions, 'service' | 'node'>): string[] {
  return [...readFileSync(join(root, guide), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
    code.replaceAll('http://127.0.0.1:8787', service).replaceAll('http://127.0.0.1:8545', node),
  );
}

/** Compile files of a consumer as strictly as the compiler can. @throws Error with the messages of the compiler */
export async function compileConsumer(
  folder: string,
  files: Readonly<Record<string, string>>,
  skipLibCheck = false,
): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck,
    skipDefaultLibCheck: true, // the compiler's own; declarations of packages are checked
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    outDir: 'out',
    rootDir: '.',
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => {
    throw new Error(`The consumer does not compile:\n${error.stdout}`);
  });
}

/** From the package to an executed position: pack, install, compile and run the quickstart. Returns its output. */
export async function runFirstClient(options: FirstClientOptions): Promise<string> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'first-client-'));
  const timed = async <T>(step: string, work: Promise<T>): Promise<T> => {
    const startMs = performance.now();
    const result = await work;
    options.onStep?.(step, performance.now() - startMs);
    return result;
  };
  try {
    await timed('pack and install the client', packClient(folder));
    const [quickstart = ''] = samplesOf('docs/client.md', options);
    await timed('compile the quickstart', compileConsumer(folder, { ...options.files, 'quickstart.ts': quickstart }));
    const args = [...(options.nodeOptions ?? []), join(folder, 'out/quickstart.js')];
    const { stdout } = await timed('run it', run(process.execPath, args));
    return stdout;
  } finally {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      service: { type: 'string', default: 'http://127.0.0.1:8787' },
      node: { type: 'string', default: 'http://127.0.0.1:8545' },
    },
  });
  const startMs = performance.now();
  const onStep = (step: string, ms: number) => console.log(`${(ms / 1_000).toFixed(1)} s  ${step}`);
  process.stdout.write(await runFirstClient({ ...values, onStep }));
  console.log(`A first position after ${((performance.now() - startMs) / 1_000).toFixed(1)} s.`);
}
