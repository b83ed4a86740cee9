import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Folder of the bundle for service processes of tests: it loads in a twentieth of the time of the sources. */
const FOLDER = join('node_modules', '.cache', 'spiral-gateway', 'service');

export const BUNDLED_MAIN = join(FOLDER, 'main.js');
export const BUNDLED_KEYS = join(FOLDER, 'keys.js');
export const BUNDLED_MIGRATE = join(FOLDER, 'migrate.js');
export const BUNDLED_REINDEX = join(FOLDER, 'reindex.js');
export const BUNDLED_DOCTOR = join(FOLDER, 'doctor.js');

/** Bundle the service as `npm run build` does. @throws Error with the output of a failed build */
export async function buildBundle(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', FOLDER]);
}
