import { type Running, run } from '../../test/support/process/process.ts';
import type { ImageConfig } from './buildah.ts';

/** A folder of this machine in the container, as a volume would be. */
export interface Volume {
  readonly from: string;
  readonly to: string;
}

/** A mounted image, whose root is read-only and whose processes get no privileges. */
export interface Container {
  /** Start the entry point. @param command default: that of the image */
  start(env: Readonly<Record<string, string>>, command?: readonly string[], volume?: Volume): Running;
  /** Run a program of the image as its user. */
  exec(env: Readonly<Record<string, string>>, command: readonly string[]): Running;
}

/** As root of a mount namespace of its own, which ends with the process: every program replaces the one before. */
const ENTER = `
set -e
mount --bind "$1" "$1"
[ -z "$3" ] || mount --bind "$3" "$1$4"
mount -o remount,bind,ro "$1"
mount --bind /dev "$1/dev"
mount --bind /proc "$1/proc"
exec setpriv --no-new-privs chroot --userspec="$2" "$1" /usr/bin/env --ignore-environment --chdir="$5" "\${@:6}"`;

/** The programs share the network of this machine. */
export function containerOf(root: string, { User, Env, Entrypoint, Cmd, WorkingDir }: ImageConfig): Container {
  const start = (env: Readonly<Record<string, string>>, command: readonly string[], volume?: Volume) => {
    const variables = [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const entered = ['bash', '-c', ENTER, 'enter', root, User, volume?.from ?? '', volume?.to ?? ''];
    return run('unshare', ['--mount', ...entered, WorkingDir, ...variables, ...command]);
  };
  return {
    start: (env, command = Cmd, volume) => start(env, [...Entrypoint, ...command], volume),
    exec: start,
  };
}
