import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { LOCAL_SERVER } from '../../src/rest/openapi/samples.ts';
import type { DocumentedOperation } from './openapi.ts';
import type { Json } from './service.ts';

const run = promisify(execFile);

/** Runs the files one after another and writes the value that each calls `answer`. */
const PYTHON_RUNNER = `
import contextlib, io, json, sys
for file in sys.argv[1:]:
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(open(file).read(), file, "exec"), names)
    json.dump(names["answer"], open(file + ".json", "w"))
`;
const SHELL_RUNNER = 'set -e; for file in "$@"; do bash "$file" >"$file.json"; done';

/**
 * Execute the samples of one language against a server, in one process, and return the answers by operation.
 * @throws Error with the output of the process
 */
export async function runSamples(
  lang: 'Shell' | 'TypeScript' | 'Python',
  operations: readonly DocumentedOperation[],
  serverUrl: string,
): Promise<ReadonlyMap<DocumentedOperation, Json>> {
  const folder = await mkdtemp(join(tmpdir(), 'samples-'));
  try {
    const files = await Promise.all(
      operations.map(async ({ operation }, i) => {
        const samples: readonly { lang: string; source: string }[] = operation['x-code-samples'];
        const source = samples.find((sample) => sample.lang === lang)?.source ?? '';
        const file = join(folder, `${i}${lang === 'TypeScript' ? '.ts' : ''}`);
        await writeFile(
          file,
          source.replaceAll(LOCAL_SERVER, serverUrl).replace('console.log(answer);', 'export { answer };'),
        );
        return file;
      }),
    );
    if (lang === 'TypeScript') await runTypeScript(folder, files);
    else if (lang === 'Python') await run('python3', ['-c', PYTHON_RUNNER, ...files]);
    else await run('bash', ['-c', SHELL_RUNNER, 'samples', ...files]);
    const texts = await Promise.all(files.map((file) => readFile(`${file}.json`, 'utf8')));
    return new Map(operations.map((operation, i) => [operation, JSON.parse(texts[i] ?? 'null')]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Bundle the samples with the sources of the client package, and run them in one process. */
async function runTypeScript(folder: string, files: readonly string[]): Promise<void> {
  const lines = files.map((file) => `writeFileSync('${file}.json', JSON.stringify((await import('${file}')).answer));`);
  const entry = join(folder, 'all.ts');
  await writeFile(entry, `import { writeFileSync } from 'node:fs';\n${lines.join('\n')}\n`);
  const outfile = join(folder, 'all.mjs');
  const client = new URL('../../packages/client/src/index.ts', import.meta.url).pathname;
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    alias: { '@spiral-gateway/client': client },
    logLevel: 'silent',
  });
  await run(process.execPath, [outfile]);
}
