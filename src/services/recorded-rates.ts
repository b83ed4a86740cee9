import { LRUCache } from 'lru-cache';
import type { SampleRepository } from '../database/samples.ts';
import type { HistoryRange } from '../loaders/history.ts';
import type { Clock } from '../shared/clock.ts';
import { Decimal } from '../shared/decimal.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { createStaleIfError, type Loaded } from '../shared/stale-if-error.ts';
import type { Timers } from '../shared/timers.ts';

/** One of our own rate samples, as a fraction. */
export interface RecordedRate {
  readonly atMs: number;
  readonly borrowApy: Decimal;
}

type Series = ReadonlyMap<MarketId, readonly RecordedRate[]>;

export interface RecordedRates {
  /**
   * Read the hourly rates of markets, oldest first. During an outage of the database the remembered rates are returned.
   * @throws UpstreamUnavailableError when the remembered rates of a market do not reach back to the start of the range
   */
  read(chainId: ChainId, marketIds: readonly MarketId[], range: HistoryRange): Promise<Series>;
}

export interface RecordedRatesDeps {
  readonly samples: Pick<SampleRepository, 'readHourly'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Called whenever remembered rates are served, for metrics. */
  readonly onRemembered?: (() => void) | undefined;
  readonly maxBytes?: number | undefined;
}

const HOUR_MS = 3_600_000;
/** A year of hours of 40 markets is about 10 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A time of 8 bytes; rates are text of one byte per character. */
const BYTES_PER_TIME = 8;
const BYTES_PER_SERIES = 200;
/** Minimum interval between renewals of a market's remembered rates: reads are frequent, samples rare. */
const RENEW_MS = 60_000;
/** Maximum number of equal reads running at the same time. */
const MAX_RUNNING = 1_000;
/** Pause between reads of the database after a failure, where remembered rates can be served. */
const PAUSE_MS = 2_000;
/** Wait timeout for a database that hangs before remembered rates are served. */
const WAIT_MS = 2_000;
/** The wait timeout during an outage: enough for a database that has recovered. */
const OUTAGE_WAIT_MS = 200;

/** The rates of a market from `fromMs` to the time of the read, in a compact form, because they are kept for long. */
interface RememberedRates {
  readonly fromMs: number;
  readonly readAtMs: number;
  readonly times: Float64Array;
  /** Exact decimals, separated by spaces. */
  readonly rates: string;
}

interface Read {
  readonly chainId: ChainId;
  readonly marketIds: readonly MarketId[];
  readonly range: HistoryRange;
}

/**
 * Create the reader of recorded rates. It remembers the last good read of each market for outages of the database. Only reads
 * that reach to the present are remembered, because the newest rates would be missing in any other.
 */
export function createRecordedRates(deps: RecordedRatesDeps): RecordedRates {
  const { samples, clock, timers, logger } = deps;
  const known = new LRUCache<string, RememberedRates>({
    maxSize: deps.maxBytes ?? MAX_BYTES,
    sizeCalculation: ({ times, rates }) => BYTES_PER_SERIES + times.length * BYTES_PER_TIME + rates.length,
  });

  const remember = (
    key: string,
    { fromMs, toMs }: HistoryRange,
    rates: readonly RecordedRate[],
    readAtMs: number,
  ): void => {
    if (toMs < readAtMs) return;
    const before = known.get(key);
    if (before !== undefined && before.fromMs <= fromMs && readAtMs - before.readAtMs < RENEW_MS) return;
    // Rates of an earlier read that reached further back stay valid, unless there is a gap in between.
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

  /** The remembered rates of all markets; `undefined` = those of one market do not reach back to the start. */
  const recall = ({ chainId, marketIds, range: { fromMs, toMs } }: Read): Loaded<() => Series> | undefined => {
    const found = new Map<MarketId, RememberedRates>();
    for (const id of marketIds) {
      const remembered = known.get(keyOf(chainId, id));
      if (remembered === undefined || remembered.fromMs > fromMs) return undefined;
      found.set(id, remembered);
    }
    const within = ({ atMs }: RecordedRate) => atMs >= fromMs && atMs < toMs;
    return {
      value: () => new Map([...found].map(([id, remembered]) => [id, ratesOf(remembered).filter(within)])),
      loadedAtMs: Math.min(...[...found.values()].map(({ readAtMs }) => readAtMs)),
    };
  };

  const reads = createStaleIfError<() => Series, Read>({
    clock,
    bounds: { max: MAX_RUNNING },
    freshMs: 0,
    isCacheable: () => false,
    async load(_key, { chainId, marketIds, range }) {
      const readAtMs = clock.now();
      const read = await samples.readHourly(chainId, marketIds, range);
      const rates = new Map(marketIds.map((id) => [id, read.get(id) ?? []]));
      for (const [id, own] of rates) remember(keyOf(chainId, id), range, own, readAtMs);
      return () => rates;
    },
    fallback: (_key, read) => recall(read),
    isOutage: (error) => error instanceof UpstreamUnavailableError,
    wait: { timers, ms: WAIT_MS, outageMs: OUTAGE_WAIT_MS, isOutage: true },
    pauseMs: PAUSE_MS,
    onOutage: () => logger.warn({}, 'recorded rates are served from memory'),
    onRecovery: () => logger.info({}, 'recorded rates are read again'),
  });

  return {
    async read(chainId, marketIds, range) {
      const key = `${chainId} ${range.fromMs} ${range.toMs} ${marketIds.join(' ')}`;
      const { value, stale } = await reads.get(key, { chainId, marketIds, range });
      if (stale) deps.onRemembered?.();
      return value();
    },
  };
}

function keyOf(chainId: ChainId, id: MarketId): string {
  return `${chainId}:${id}`;
}

function ratesOf({ times, rates }: RememberedRates): RecordedRate[] {
  const texts = rates === '' ? [] : rates.split(' ');
  return texts.map((text, i) => ({ atMs: times[i] ?? 0, borrowApy: new Decimal(text) }));
}
