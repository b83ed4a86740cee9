import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** A disk of a few kilobytes, which is full at first and can be made larger. */
export interface TinyDisk {
  readonly folder: string;
  enlarge(): void;
  remove(): void;
}

/** Mount a tiny disk in memory; `null` where this user may not mount. */
export function mountTinyDisk(folder: string): TinyDisk | null {
  mkdirSync(folder, { recursive: true });
  const run = (command: string, ...args: readonly string[]) => execFileSync(command, args, { stdio: 'ignore' });
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder);
  } catch {
    return null;
  }
  return {
    folder,
    enlarge: () => run('mount', '-o', 'remount,size=64m', folder),
    remove: () => run('umount', '-l', folder),
  };
}
