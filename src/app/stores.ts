import { sql } from 'kysely';
import { createDatabase, type Database, type DatabaseDeps } from '../database/client.ts';
import { createSchemaEntry, type SchemaEntry } from '../database/connection/schema-entry.ts';
import { createDatabaseWatch, type DatabaseStatus } from '../database/connection/watch.ts';
import { createDriftSightingRepository, type DriftSightings } from '../database/drift-sightings.ts';
import { createKeyUsageRepository } from '../database/key-usage.ts';
import { createMarketSampleRepository, type MarketSampleRepository } from '../database/market-samples.ts';
import { createPortfolioSampleRepository, type PortfolioSampleRepository } from '../database/portfolio-samples.ts';
import { createRecordedRateRepository, type RecordedRateRepository } from '../database/recorded-rates.ts';
import { createReplicaReads, type ReplicaStatus } from '../database/replica.ts';
import { createSampleRepository, type SampleRepository } from '../database/samples.ts';
import { createTvlSampleRepository, type TvlSampleRepository } from '../database/tvl-samples.ts';
import { createKeyService, type KeyService, type KeyServiceDeps } from '../keys/verify-key.ts';
import { createKeyUsage, type KeyUsage } from '../services/key-usage.ts';
import type { AppDeps } from './deps.ts';

/** The network gets a second more, so a caller waits 5 s at most. */
const STATEMENT_TIMEOUT_MS = 4_000;
/** Waits for a replica are shorter, because the primary follows. */
const REPLICA_TIMEOUT_MS = 2_000;
const REPLICA_CONNECT_TIMEOUT_MS = 1_000;

export interface DatabasesStatus extends DatabaseStatus {
  /** Absent without DATABASE_READ_URL. */
  readonly replica?: ReplicaStatus | undefined;
}

/** The databases and their repositories. */
export interface Stores {
  readonly db: Database;
  /** Keep statements from the database until its schema is checked. */
  readonly withhold: SchemaEntry['withhold'];
  readonly databaseStatus: () => DatabasesStatus;
  readonly keys: KeyService;
  readonly samples: SampleRepository;
  readonly marketSamples: MarketSampleRepository;
  readonly recordedRates: RecordedRateRepository;
  readonly portfolioSamples: PortfolioSampleRepository;
  readonly tvlSamples: TvlSampleRepository;
  readonly usage: KeyUsage;
  readonly drift: DriftSightings;
  /** Remove samples that are expired or from the future; returns their number. */
  readonly prune: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Create the databases with their repositories, and the service of keys. Nothing connects yet. */
export function createStores(
  { config, clock, logger, timers }: AppDeps,
  onQuery: DatabaseDeps['onQuery'],
  onCheck: KeyServiceDeps['onCheck'],
): Stores {
  const { env } = config;
  const watch = createDatabaseWatch(logger, clock);
  const entry = createSchemaEntry(clock, timers);
  const poolSize = env.DATABASE_POOL_SIZE;
  const db = createDatabase(
    { url: env.DATABASE_URL ?? '', poolSize, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
    { clock, watch, onQuery, withheld: entry.problem },
  );
  const replica = createReplica({ config, clock, logger }, onQuery);
  const samples = createSampleRepository(db, clock);
  const marketSamples = createMarketSampleRepository(db, clock);
  const recordedRates = createRecordedRateRepository(db, clock);
  const portfolioSamples = createPortfolioSampleRepository(db, clock);
  const tvlSamples = createTvlSampleRepository(db, clock);
  const keyUsage = createKeyUsageRepository(db, clock);
  const drift = createDriftSightingRepository(db, clock);
  const keys = createKeyService({
    db,
    clock,
    timers,
    logger,
    sampleKeys: config.sampleKeys,
    graceMs: env.KEY_GRACE_SEC * 1_000,
    onCheck,
    pepper: env.KEY_PEPPER,
  });
  // Without a probe, a process without statements would report a problem that has ended, a warmer for minutes.
  let isAsking = false;
  const askAgain = (): void => {
    if (isAsking) return;
    isAsking = true;
    const done = (): void => {
      isAsking = false;
    };
    void sql`select 1`.execute(db).then(done, done);
  };
  return {
    db,
    withhold: entry.withhold,
    databaseStatus() {
      const status = watch.status();
      if (status.problem !== null) askAgain();
      return { ...status, replica: replica?.reads.status() };
    },
    keys,
    samples: replica?.samples(samples) ?? samples,
    marketSamples,
    recordedRates,
    portfolioSamples: replica?.portfolioSamples(portfolioSamples) ?? portfolioSamples,
    tvlSamples,
    usage: createKeyUsage({ repository: keyUsage, clock, timers, logger }),
    drift,
    prune: async () => {
      let removed = 0;
      const stores = [samples, marketSamples, recordedRates, portfolioSamples, tvlSamples, keyUsage, drift, keys];
      for (const { prune } of stores) removed += await prune();
      return removed;
    },
    close: async () => {
      await Promise.all([db.destroy(), replica?.db.destroy()]);
    },
  };
}

/**
 * Create the reads of the replica. Only hourly and daily histories are read there. Keys, the register, and values that are read
 * before an update need the primary, because the replica may lag behind.
 */
function createReplica(
  { config, clock, logger }: Pick<AppDeps, 'config' | 'clock' | 'logger'>,
  onQuery: DatabaseDeps['onQuery'],
) {
  const { DATABASE_READ_URL: url, DATABASE_READ_MAX_LAG_SEC: maxLagSec, DATABASE_POOL_SIZE: poolSize } = config.env;
  if (url === undefined) return undefined;
  const watch = createDatabaseWatch(logger, clock, 'DATABASE_READ_URL');
  const db = createDatabase(
    {
      url,
      poolSize,
      statementTimeoutMs: REPLICA_TIMEOUT_MS,
      connectTimeoutMs: REPLICA_CONNECT_TIMEOUT_MS,
    },
    { clock, watch, onQuery },
  );
  const reads = createReplicaReads({ replica: db, watch, clock, logger, maxLagSec });
  const copied = createSampleRepository(db, clock);
  const copiedPortfolios = createPortfolioSampleRepository(db, clock);
  return {
    db,
    reads,
    samples: (primary: SampleRepository): SampleRepository => ({
      ...primary,
      readDaily: reads.prefer(copied.readDaily, primary.readDaily),
      readHourly: reads.prefer(copied.readHourly, primary.readHourly),
    }),
    portfolioSamples: (primary: PortfolioSampleRepository): PortfolioSampleRepository => ({
      ...primary,
      since: reads.prefer(copiedPortfolios.since, primary.since),
    }),
  };
}
