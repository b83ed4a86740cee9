import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Find the project's root folder: the nearest parent that holds a package.json and the Solidity sources.
 * Walking up keeps this true for a source file as well as for a bundle in `dist/`.
 */
export function projectRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'contracts'))) return folder;
    if (dirname(folder) === folder) throw new Error(`No package.json with contracts/ beside it above ${from}`);
  }
}

/** The user's folder for files that can be made again, shared by all clones of this machine. Their names carry a hash of their inputs. */
export function cacheFolder(): string {
  return join(homedir(), '.cache', 'spiral-gateway');
}
