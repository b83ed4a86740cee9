import type { Market } from '../../../catalog/types.ts';
import type { MarketSampleRepository } from '../../../database/market-samples.ts';
import type { Clock } from '../../../shared/clock.ts';
import { UpstreamUnavailableError } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/logger.ts';
import { createStaleIfError } from '../../../shared/stale-if-error.ts';
import type { Timers } from '../../../shared/timers.ts';
import { type MarketRecord, RECORD_DAYS, recordOf } from '../domain/record.ts';
import type { MarketRecordSource } from '../resolvers/risk-services.ts';

export interface MarketRecordsDeps {
  readonly samples: Pick<MarketSampleRepository, 'since'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Called for every look-up in the cache, and whenever an older record is served during an outage, for metrics. */
  readonly onLookup?: ((hit: boolean) => void) | undefined;
  readonly onRemembered?: (() => void) | undefined;
}

const DAY_MS = 86_400_000;
/** A sample is added once an hour, and replaced until the hour ends. */
const FRESH_MS = 10 * 60_000;
/** An older record misses a day of at most 90. */
const STALE_MS = DAY_MS;
/** Pause before an unavailable record is read again. */
const PAUSE_MS = 10_000;
/** How long a request waits for the database where an older record can be served. */
const WAIT_MS = 1_000;
/** A record is a few hundred bytes. */
const MAX_MARKETS = 1_000;

/** One read, and whether it needed the database. */
interface Lookup {
  readonly market: Pick<Market, 'chainId' | 'id'>;
  hit: boolean;
}

/** Create the reader of market records. A record is read and summarized once in ten minutes, and kept for a day of outage. */
export function createMarketRecords(deps: MarketRecordsDeps): MarketRecordSource {
  const { samples, clock, timers, logger, onLookup, onRemembered } = deps;
  const records = createStaleIfError<MarketRecord, Lookup>({
    clock,
    bounds: { max: MAX_MARKETS },
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    async load(_key, lookup) {
      lookup.hit = false;
      const { chainId, id } = lookup.market;
      return recordOf(await samples.since(chainId, id, clock.now() - RECORD_DAYS * DAY_MS));
    },
    isOutage: (error) => error instanceof UpstreamUnavailableError,
    wait: { timers, ms: WAIT_MS, isOutage: true },
    pauseMs: PAUSE_MS,
    failFast: true,
    onOutage: () => logger.warn({}, 'records of markets cannot be read'),
    onRecovery: () => logger.info({}, 'records of markets are read again'),
  });
  return {
    async read(market) {
      const lookup: Lookup = { market, hit: true };
      try {
        const { value, loadedAtMs, stale } = await records.get(`${market.chainId}:${market.id}`, lookup);
        if (stale) onRemembered?.();
        return { record: value, validUntilMs: stale ? clock.now() + PAUSE_MS : loadedAtMs + FRESH_MS };
      } catch (error) {
        if (!(error instanceof UpstreamUnavailableError)) throw error;
        return { validUntilMs: clock.now() + PAUSE_MS };
      } finally {
        onLookup?.(lookup.hit);
      }
    },
  };
}
