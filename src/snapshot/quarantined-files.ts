import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../shared/logger.ts';
import { CodecVersionError } from './codec.ts';

/** How long files that were set aside are kept for inspection. */
const RETENTION_MS = 7 * 86_400_000;

/**
 * Rename a snapshot file that cannot be used, so that the next write does not replace it: `.version-<n>-<time>` when another
 * version wrote it, `.damaged-<time>` otherwise.
 * @returns its new path; `null` when it could not be renamed
 */
export async function setAside(path: string, error: unknown, nowMs: number): Promise<string | null> {
  const kind = error instanceof CodecVersionError ? `version-${error.version ?? 'unknown'}` : 'damaged';
  const aside = `${path}.${kind}-${new Date(nowMs).toISOString().replaceAll(':', '-')}`;
  return rename(path, aside).then(
    () => aside,
    () => null,
  );
}

/**
 * Remove files that were set aside more than a week ago, and incomplete files of killed writers. A writer whose file is removed
 * writes it again with the next facts.
 */
export async function removeLeftovers(path: string, nowMs: number, logger: Logger): Promise<void> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  const prefix = `${basename(path)}.`;
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const suffix = name.slice(prefix.length);
    const setAsideMs = timeOf(suffix);
    const isOld = setAsideMs !== null && nowMs - setAsideMs > RETENTION_MS;
    if (!isOld && !/^[\w-]+\.tmp$/.test(suffix)) continue;
    await rm(join(folder, name), { force: true }).catch(() => {});
    logger.info({ path: join(folder, name) }, 'leftover of the snapshot file removed');
  }
}

/** Time in the name of a file that was set aside, ms; `null` for other files. */
function timeOf(suffix: string): number | null {
  const match = /^(?:damaged|version-\w+)-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/.exec(suffix);
  if (!match) return null;
  const ms = Date.parse(`${match[1]}${match[2]}:${match[3]}:${match[4]}`);
  return Number.isNaN(ms) ? null : ms;
}
