// Bundle the service for plain `node dist/main.js`. Packages stay outside the bundle; the local world is a chunk of its
// own that is loaded only when it is needed. An argument names another folder than dist; it has to be inside the project.
import { cpSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const outdir = process.argv[2] ?? 'dist';
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
});

// The ops page is files that are served as they are.
cpSync('src/http/pages/ops-page', `${outdir}/ops-page`, { recursive: true });
