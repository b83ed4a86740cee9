import { LRUCache } from 'lru-cache';
import { type KeyRepository, LAST_USED_RESOLUTION_MS } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';

/** Keys in use at once; one that falls out costs a write more. */
const MAX_KEYS = 10_000;
/** After a failed write, so that a database in trouble is not asked once per request. */
const RETRY_MS = 60_000;

export interface Toucher {
  /** Note that a key was used. Returns at once; a failed write costs nobody's request. */
  touch(keyId: string): void;
  /** Wait for the writes under way. */
  settle(): Promise<void>;
}

/** Write when keys were last used, at most once per key and `LAST_USED_RESOLUTION_MS`. */
export function createToucher(
  repository: KeyRepository,
  deps: { readonly clock: Clock; readonly logger: Logger },
): Toucher {
  const touched = new LRUCache<string, number>({ max: MAX_KEYS });
  const running = new Set<Promise<void>>();
  return {
    touch: (keyId) => {
      const nowMs = deps.clock.now();
      const lastMs = touched.get(keyId);
      // Set back by more than that, our clock was ahead when it was noted: then the note is wrong.
      if (lastMs !== undefined && !isFromFuture(lastMs, nowMs) && nowMs - lastMs < LAST_USED_RESOLUTION_MS) return;
      touched.set(keyId, nowMs);
      const write: Promise<void> = repository
        .touch(keyId, nowMs)
        .catch((error: unknown) => {
          touched.set(keyId, nowMs - LAST_USED_RESOLUTION_MS + RETRY_MS);
          deps.logger.debug({ keyId, code: error instanceof AppError ? error.code : 'internal' }, 'key use not noted');
        })
        .finally(() => running.delete(write));
      running.add(write);
    },
    settle: async () => {
      await Promise.all(running);
    },
  };
}
