import { LRUCache } from 'lru-cache';
import { type KeyRepository, LAST_USED_RESOLUTION_MS } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';

/** Maximum number of keys in use at once; an evicted one costs one more write. */
const MAX_KEYS = 10_000;
/** Pause after a failed write, so that a failing database does not get a write per request. */
const RETRY_MS = 60_000;

export interface LastUsedRecorder {
  /** Record the use of a key. Returns at once; a failed write fails no request. */
  touch(keyId: string): void;
  /** Wait for running writes. */
  settle(): Promise<void>;
}

/** Record when keys were last used, at most once per key and `LAST_USED_RESOLUTION_MS`. */
export function createLastUsedRecorder(
  repository: KeyRepository,
  deps: { readonly clock: Clock; readonly logger: Logger },
): LastUsedRecorder {
  const touched = new LRUCache<string, number>({ max: MAX_KEYS });
  const running = new Set<Promise<void>>();
  return {
    touch: (keyId) => {
      const nowMs = deps.clock.now();
      const lastMs = touched.get(keyId);
      // A time far in the future was recorded by a clock that was wrong, and is ignored.
      if (lastMs !== undefined && !isFromFuture(lastMs, nowMs) && nowMs - lastMs < LAST_USED_RESOLUTION_MS) return;
      touched.set(keyId, nowMs);
      const write: Promise<void> = repository
        .touch(keyId, nowMs)
        .catch((error: unknown) => {
          touched.set(keyId, nowMs - LAST_USED_RESOLUTION_MS + RETRY_MS);
          deps.logger.debug(
            { keyId, code: error instanceof AppError ? error.code : 'internal' },
            'last use of a key not recorded',
          );
        })
        .finally(() => running.delete(write));
      running.add(write);
    },
    settle: async () => {
      await Promise.all(running);
    },
  };
}
