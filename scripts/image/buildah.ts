import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** Run a program. @returns its output @throws Error with what it printed when it fails */
export function runProgram(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status === 0) return stdout.trim();
  throw new Error(`${program} ${args.join(' ')} failed:\n${error?.message ?? `${stdout}${stderr}`}`);
}

/** The configuration of an image for its containers. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Images and containers in a folder of their own: those of the machine are neither used nor changed. */
export interface Store {
  buildah(...args: readonly string[]): string;
  /** @returns the folder with the files of a new container */
  mounted(image: string): { readonly container: string; readonly folder: string };
  config(image: string): ImageConfig;
  remove(): void;
}

/** @throws Error with the reason why images cannot be built on this machine */
export function openStore(folder: string): Store {
  const missing = ['buildah', 'mmdebstrap', 'unshare', 'setpriv'].filter(
    (program) => spawnSync('which', [program]).status !== 0,
  );
  if (missing.length > 0) throw new Error(`${missing.join(', ')} missing`);
  if (process.getuid?.() !== 0) throw new Error('it needs root');
  // The steps of a build and a container mount folders and change their root.
  runProgram('unshare', ['--mount', 'sh', '-c', 'mount --bind /mnt /mnt && chroot / true']);
  const places = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run')];
  const drivers = ['overlay', 'vfs']; // the second one copies all files of a layer, and works everywhere
  const works = (driver: string) => {
    const { status } = spawnSync('buildah', [...places, '--storage-driver', driver, 'info']);
    if (status !== 0) rmSync(folder, { recursive: true, force: true });
    return status === 0;
  };
  const driver = drivers.find(works);
  if (driver === undefined) throw new Error('buildah can use neither of its storage drivers');
  const buildah = (...args: readonly string[]) =>
    runProgram('buildah', [...places, '--storage-driver', driver, ...args]);
  return {
    buildah,
    mounted(image) {
      const container = buildah('from', '--pull-never', image);
      return { container, folder: buildah('mount', container) };
    },
    config: (image) => JSON.parse(buildah('inspect', '--type', 'image', image)).Docker.config,
    remove() {
      buildah('rm', '--all');
      buildah('rmi', '--all', '--force');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
