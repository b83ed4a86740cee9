import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld } from '../../devnet/index.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { freePort } from '../../test/support/free-port.ts';
import { buildImage, makeBase } from './base.ts';
import { openStore, runProgram, type Store } from './buildah.ts';
import { checkContents, checkService, checkUser, checkWithoutSettings } from './checks.ts';
import { containerOf } from './container.ts';

/*
 * Execute the Dockerfile without a daemon and without a registry of images, run the image, and check it: `npm run image`.
 * buildah builds; its base images are made of packages of Debian and of the Node of package.json.
 */

const IMAGE = 'localhost/spiral-gateway';
const startedMs = Date.now();
const say = (text: string) => process.stdout.write(`Image: ${text}\n`);

async function buildAndCheck(store: Store, folder: string): Promise<void> {
  const dockerfile = await readFile('Dockerfile', 'utf8');
  const bases = new Set([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name));
  for (const name of bases) makeBase(store, name);
  buildImage(store, '.', IMAGE);
  const { folder: root } = store.mounted(IMAGE);
  const config = store.config(IMAGE);
  const built = { config, root, container: containerOf(root, config) };
  const results = [checkUser(built), checkContents(built), await checkWithoutSettings(built)];

  const world = await startWorld({ dataDir: join(folder, 'world'), mining: 'auto', logger: silentLogger });
  try {
    const { ALERT_LOCAL_TARGETS: _refused, ...env } = world.overrides.env; // refused in production
    const outside = { env: { ...env, KEY_PEPPER: 'a pepper of sixteen' }, port: await freePort() };
    results.push(await checkService(built, { ...outside, volume: join(folder, 'volume') }));
  } finally {
    await world.stop();
  }
  const megabytes = (path: string) =>
    `${runProgram('du', ['--summarize', '--block-size=1MB', path]).split('\t')[0]} MB`;
  const size = `${megabytes(root)}, of which ${megabytes(join(root, config.WorkingDir))} in ${config.WorkingDir}`;
  const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0);
  say(`built and checked in ${seconds} s; ${size}; ${results.join('; ')}`);
}

const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-image-'));
let store: Store | undefined;
try {
  store = openStore(join(folder, 'store'));
} catch (error) {
  // This says nothing of the Dockerfile.
  say(`not built on this machine: ${error instanceof Error ? error.message : error}`);
}
try {
  if (store) await buildAndCheck(store, folder);
} catch (error) {
  say(`failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  store?.remove();
  await rm(folder, { recursive: true, force: true });
}
