// Bundle the service for plain `node dist/main.js`. Packages stay outside the bundle; the local world is a chunk of its
// own that is loaded only when it is needed, and is left out with --without-local-world. An argument names another folder
// than dist; it has to be inside the project.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'without-local-world': { type: 'boolean', default: false } },
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
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
  plugins: values['without-local-world'] ? [withoutLocalWorld] : [],
});

// The ops page is files that are served as they are.
cpSync('src/http/pages/ops-page', `${outdir}/ops-page`, { recursive: true });
