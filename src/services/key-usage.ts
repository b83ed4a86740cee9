import type { KeyUsageRepository, UsageDay } from '../database/key-usage.ts';
import type { UseCounts } from '../limits/usage.ts';
import type { UsagePort } from '../resolvers/usage/usage-services.ts';
import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';

export interface KeyUsageDeps {
  readonly repository: Pick<KeyUsageRepository, 'add' | 'since'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
}

export interface KeyUsage extends UsagePort {
  /** Count in memory. Never throws. */
  note(keyId: string, counts: UseCounts): void;
  /** Begin to store the counts once a minute. */
  start(): void;
  /** Store the counts a last time. Never throws. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const STORE_EVERY_MS = 60_000;
/** Maximum number of keys and days that wait to be stored; further ones are not counted while the database is away. */
const MAX_WAITING = 10_000;

type Counts = Omit<UsageDay, 'keyId' | 'dayMs'>;
const NONE: Counts = { calls: 0, points: 0, refusals: 0 };

/**
 * Create the counting of the use of keys: in memory, and added to the stored days once a minute in one statement, so that a call
 * costs no write. What a process has not stored yet is in its own answers only.
 */
export function createKeyUsage({ repository, clock, timers, logger }: KeyUsageDeps): KeyUsage {
  const waiting = new Map<string, UsageDay>();
  let running: Promise<void> = Promise.resolve();
  let timer: unknown = null;
  let isClosed = false;
  let isStored = true;

  const add = ({ keyId, dayMs, ...counts }: UsageDay): void => {
    const key = `${keyId} ${dayMs}`;
    const known = waiting.get(key);
    if (known === undefined && waiting.size >= MAX_WAITING) return;
    waiting.set(key, { keyId, dayMs, ...sumOf(known ?? NONE, counts) });
  };

  const store = async (): Promise<void> => {
    const counts = [...waiting.values()];
    waiting.clear();
    try {
      await repository.add(counts);
      if (!isStored) logger.info({}, 'use of keys stored again');
      isStored = true;
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError)) throw error;
      counts.forEach(add);
      if (isStored) logger.warn({ details: error.details }, 'use of keys not stored');
      isStored = false;
    }
  };
  const storeInTurn = (): Promise<void> => {
    running = running.then(store).catch((error: unknown) => logger.error({ err: error }, 'use of keys not stored'));
    return running;
  };
  const storeLater = (): void => {
    if (isClosed) return;
    timer = timers.setTimeout(() => void storeInTurn().then(storeLater), STORE_EVERY_MS);
  };

  return {
    note(keyId, { calls = 0, points = 0, refusals = 0 }) {
      const dayMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      add({ keyId, dayMs, calls, points, refusals });
    },
    async since(keyId, fromMs) {
      // Counts on their way to the database would be missing, or counted twice.
      await running;
      const days = new Map((await repository.since(keyId, fromMs)).map((day) => [day.dayMs, day]));
      for (const day of waiting.values()) {
        if (day.keyId !== keyId || day.dayMs < fromMs) continue;
        days.set(day.dayMs, { ...day, ...sumOf(days.get(day.dayMs) ?? NONE, day) });
      }
      const shown = [...days.values()].map((day) => ({ ...day, points: Math.max(0, day.points) }));
      return shown.sort((a, b) => a.dayMs - b.dayMs);
    },
    start: storeLater,
    close() {
      isClosed = true;
      if (timer !== null) timers.clearTimeout(timer);
      return storeInTurn();
    },
  };
}

function sumOf(a: Counts, b: Counts): Counts {
  return { calls: a.calls + b.calls, points: a.points + b.points, refusals: a.refusals + b.refusals };
}
