import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, copyFileSync, cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram, type Store } from './buildah.ts';

/** Those of the official image `node:<major>-<suite>-slim` that Node, npm and the steps of the Dockerfile use. */
const PACKAGES = 'base-files,base-passwd,coreutils,dash,libatomic1,libstdc++6';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Make a stand-in for an image that cannot be pulled, under its name: files of Debian's packages, without their scripts, the
 * Node that package.json pins, and the npm of this machine.
 */
export function makeBase({ buildah, mounted }: Store, name: string): void {
  const [, suite] = /^node:\d+-(\w+)-slim$/.exec(name) ?? [];
  if (suite === undefined) throw new Error(`no stand-in for ${name}: only for node:<major>-<suite>-slim`);
  const { container, folder } = mounted('scratch');
  const within = (path: string) => join(folder, path);
  const excluded = ['doc', 'locale', 'man'].map((part) => `--dpkgopt=path-exclude=/usr/share/${part}/*`);
  runProgram('mmdebstrap', ['--quiet', '--variant=extract', `--include=${PACKAGES}`, ...excluded, suite, folder]);

  for (const file of ['passwd', 'group']) {
    copyFileSync(within(`usr/share/base-passwd/${file}.master`), within(`etc/${file}`));
  }
  appendFileSync(within('etc/group'), 'node:x:1000:\n');
  appendFileSync(within('etc/passwd'), 'node:x:1000:1000::/home/node:/bin/sh\n');
  mkdirSync(within('home/node'), { recursive: true });
  chownSync(within('home/node'), 1000, 1000);

  const print = ['scripts/on-newest-node.mjs', '-p', 'process.execPath'];
  const node = execFileSync(process.execPath, print, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  mkdirSync(within('usr/local/bin'), { recursive: true });
  copyFileSync(node, within('usr/local/bin/node'));
  const modules = 'usr/local/lib/node_modules';
  mkdirSync(within(modules), { recursive: true });
  cpSync(join(runProgram('npm', ['root', '--global']), 'npm'), within(`${modules}/npm`), {
    recursive: true,
    dereference: true,
  });
  for (const program of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, within(`usr/local/bin/${program}`));
  }
  buildah('umount', container);
  buildah('config', '--env', `PATH=${PATH}`, '--cmd', 'node', container);
  buildah('commit', '--quiet', '--rm', container, `docker.io/library/${name}`);
}

/** Execute the Dockerfile of a folder; the packages that npm has already are not downloaded again. */
export function buildImage({ buildah }: Store, folder: string, tag: string): void {
  const cache = runProgram('npm', ['config', 'get', 'cache']);
  mkdirSync(dirname(cache), { recursive: true });
  // The format of images that has a health check.
  const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--volume', `${cache}:/root/.npm`];
  buildah('bud', ...options, '--tag', tag, folder);
}
