import { LRUCache } from 'lru-cache';
import type { SampleRepository } from '../database/samples.ts';
import type { HistoryRange } from '../loaders/history.ts';
import type { Clock } from '../shared/clock.ts';
import { Decimal } from '../shared/decimal.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import { settlesWithin } from '../shared/wait-timeout.ts';

/** A rate that we sampled, as a fraction. */
export interface RecordedRate {
  readonly atMs: number;
  readonly borrowApy: Decimal;
}

export interface RecordedRates {
  /**
   * Read the hourly rates of markets, oldest first, or what was read of them before when the database cannot be asked.
   * @throws UpstreamUnavailableError when one of them was never read so far back
   */
  read(
    chainId: ChainId,
    marketIds: readonly MarketId[],
    range: HistoryRange,
  ): Promise<ReadonlyMap<MarketId, readonly RecordedRate[]>>;
}

export interface RecordedRatesDeps {
  readonly samples: Pick<SampleRepository, 'readHourly'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Told whenever remembered rates are served, for metrics. */
  readonly onRemembered?: () => void;
  readonly maxBytes?: number;
}

const HOUR_MS = 3_600_000;
/** A year of hours of 40 markets is about 10 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A time of 8 bytes; rates are text of one byte per character. */
const BYTES_PER_TIME = 8;
const BYTES_PER_SERIES = 200;
/** What is remembered of a market is renewed at most this often: reads are many, samples few. */
const RENEW_MS = 60_000;
/** While the database cannot be asked, it is asked this often. */
const ASK_AGAIN_MS = 2_000;
/** Who can be served from memory waits for a database that hangs no longer than this. */
const PATIENCE_MS = 2_000;
/** And once it is known to be away: long enough for one that is back. */
const PATIENCE_AWAY_MS = 200;

/** What was read of a market: everything from `fromMs` until it was read. Kept small, because it is kept for long. */
interface Remembered {
  readonly fromMs: number;
  readonly readAtMs: number;
  readonly times: Float64Array;
  /** Exact decimals, separated by spaces. */
  readonly rates: string;
}

/**
 * Read recorded rates, remembering the last good read of each market: while the database is away that is served, and told as
 * old as it is. Only reads that reach to the present are remembered: of others it would be unknown what came after.
 */
export function createRecordedRates(deps: RecordedRatesDeps): RecordedRates {
  const { samples, clock, timers, logger } = deps;
  const known = new LRUCache<string, Remembered>({
    maxSize: deps.maxBytes ?? MAX_BYTES,
    sizeCalculation: ({ times, rates }) => BYTES_PER_SERIES + times.length * BYTES_PER_TIME + rates.length,
  });
  let away: { readonly askAgainAtMs: number } | null = null;

  const remember = (
    key: string,
    { fromMs, toMs }: HistoryRange,
    rates: readonly RecordedRate[],
    readAtMs: number,
  ): void => {
    if (toMs < readAtMs) return;
    const before = known.get(key);
    if (before !== undefined && before.fromMs <= fromMs && readAtMs - before.readAtMs < RENEW_MS) return;
    // What was read further back before still stands, unless nothing is known of the time between.
    const fromHourMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
    const joined = before !== undefined && before.fromMs < fromMs && fromMs <= before.readAtMs ? before : null;
    const older = joined === null ? [] : ratesOf(joined).filter(({ atMs }) => atMs < fromHourMs);
    const all = [...older, ...rates];
    known.set(key, {
      fromMs: joined?.fromMs ?? fromMs,
      readAtMs,
      times: Float64Array.from(all, ({ atMs }) => atMs),
      rates: all.map(({ borrowApy }) => borrowApy.toFixed()).join(' '),
    });
  };

  const covers = (chainId: ChainId, marketIds: readonly MarketId[], { fromMs }: HistoryRange): boolean =>
    marketIds.every((id) => (known.peek(keyOf(chainId, id))?.fromMs ?? Number.POSITIVE_INFINITY) <= fromMs);
  const recall = (
    chainId: ChainId,
    marketIds: readonly MarketId[],
    { fromMs, toMs }: HistoryRange,
  ): ReadonlyMap<MarketId, readonly RecordedRate[]> => {
    const found = new Map<MarketId, readonly RecordedRate[]>();
    for (const id of marketIds) {
      const remembered = known.get(keyOf(chainId, id));
      // Forgotten while the database was waited for.
      if (remembered === undefined) throw new UpstreamUnavailableError('database', 'timeout', { retryAfterSec: 2 });
      const rates = ratesOf(remembered).filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
      found.set(id, rates);
    }
    return found;
  };

  const ask = async (
    chainId: ChainId,
    marketIds: readonly MarketId[],
    range: HistoryRange,
  ): Promise<ReadonlyMap<MarketId, readonly RecordedRate[]>> => {
    const readAtMs = clock.now();
    const read = await samples.readHourly(chainId, marketIds, range);
    if (away !== null) logger.info({}, 'recorded rates are read again');
    away = null;
    return new Map(
      marketIds.map((id) => {
        const rates = read.get(id) ?? [];
        remember(keyOf(chainId, id), range, rates, readAtMs);
        return [id, rates];
      }),
    );
  };
  const cannotAsk = (): void => {
    if (away === null) logger.warn({}, 'recorded rates are served from memory');
    away = { askAgainAtMs: clock.now() + ASK_AGAIN_MS };
  };

  return {
    async read(chainId, marketIds, range) {
      if (!covers(chainId, marketIds, range)) return ask(chainId, marketIds, range);
      const isPausing = away !== null && clock.now() < away.askAgainAtMs;
      const asked = isPausing ? null : ask(chainId, marketIds, range);
      if (asked !== null && (await settlesWithin(asked, away === null ? PATIENCE_MS : PATIENCE_AWAY_MS, timers))) {
        try {
          return await asked;
        } catch (error) {
          if (!(error instanceof UpstreamUnavailableError)) throw error;
        }
      }
      asked?.catch(() => {});
      if (!isPausing) cannotAsk();
      deps.onRemembered?.();
      return recall(chainId, marketIds, range);
    },
  };
}

function keyOf(chainId: ChainId, id: MarketId): string {
  return `${chainId}:${id}`;
}

function ratesOf({ times, rates }: Remembered): RecordedRate[] {
  const texts = rates === '' ? [] : rates.split(' ');
  return texts.map((text, i) => ({ atMs: times[i] ?? 0, borrowApy: new Decimal(text) }));
}
