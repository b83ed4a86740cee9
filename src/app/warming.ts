import type { Catalog } from '../catalog/types.ts';
import { createChainReader } from '../chain/reader.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { MarketSampleRepository } from '../database/market-samples.ts';
import type { RecordedRateRepository } from '../database/recorded-rates.ts';
import type { SampleRepository } from '../database/samples.ts';
import type { TvlSampleRepository } from '../database/tvl-samples.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { ChainId } from '../shared/ids.ts';
import { createFileSnapshot } from '../snapshot/file.ts';
import { createMemoryLease, createRedisLease } from '../snapshot/lease.ts';
import { createRedisSnapshot } from '../snapshot/redis.ts';
import { keepCatalogItems } from '../snapshot/retention.ts';
import type { SnapshotStore } from '../snapshot/types.ts';
import type { Upstreams } from '../upstreams/index.ts';
import { createHousekeepingWarmer } from '../warmers/housekeeping.ts';
import { createWarmers } from '../warmers/index.ts';
import { createWarmerRunner, type RunEvent, type WarmerRunner } from '../warmers/runner/runner.ts';
import type { Cadences, ReadPositions, Warmer } from '../warmers/types.ts';
import { createBackgroundWrites, inTime } from './database-waits.ts';
import type { AppDeps } from './deps.ts';

interface Shared extends Pick<AppDeps, 'config' | 'logger' | 'clock' | 'timers' | 'random'> {
  readonly catalog: Catalog;
  /** `undefined` = facts and jobs are those of this process. */
  readonly redisConnections: RedisConnections | undefined;
}

/** Create the store of the facts: shared through Redis if configured, otherwise in this process with a file. */
export function createSnapshot({ config, catalog, redisConnections, clock, timers, logger }: Shared): SnapshotStore {
  const keep = (chainId: ChainId) => keepCatalogItems(catalog, chainId);
  return redisConnections === undefined
    ? createFileSnapshot({ path: config.env.SNAPSHOT_FILE, clock, timers, logger, keep })
    : createRedisSnapshot({ connections: redisConnections, chainIds: catalog.chainIds, clock, logger, keep });
}

export interface WarmingDeps extends Shared {
  readonly snapshot: SnapshotStore;
  readonly nodes: ReadonlyMap<ChainId, ChainNodes>;
  readonly upstreams: Upstreams;
  readonly samples: SampleRepository;
  readonly marketSamples: Pick<MarketSampleRepository, 'record'>;
  readonly recordedRates: RecordedRateRepository;
  readonly tvlSamples: Pick<TvlSampleRepository, 'record'>;
  /** Each removes rows that are expired or from the future, and returns their number. */
  readonly prunes: readonly (() => Promise<number>)[];
  readonly cadences: Cadences;
  /** Jobs that fill other tables than the snapshot. */
  readonly otherJobs: readonly Warmer[];
  readonly readPositions: ReadPositions;
  readonly onRun?: ((event: RunEvent) => void) | undefined;
}

export interface Warming {
  readonly runner: WarmerRunner;
  /** Resolves after the first round of warmers. */
  readonly warmed: Promise<void>;
  /** Start the warmers. Without `warming` the facts only follow other processes. */
  start(warming: boolean): void;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** History needed by compositions: the longest trailing window, with a margin. */
const HISTORY_DAYS = 400;

/** Wire the jobs that fill the snapshot and the tables, each run by one process at a time. */
export function createWarming(deps: WarmingDeps): Warming {
  const { logger, clock, timers, catalog, snapshot, samples, recordedRates, redisConnections: connections } = deps;
  const lease = connections === undefined ? createMemoryLease() : createRedisLease({ connections, clock, logger });
  const chainReaders = new Map(
    catalog.chains.flatMap((chain) => {
      const nodes = deps.nodes.get(chain.chainId);
      return nodes ? [[chain.chainId, createChainReader({ nodes, chain, clock })] as const] : [];
    }),
  );
  const writes = createBackgroundWrites();
  const runner = createWarmerRunner({
    warmers: [
      ...createWarmers({
        catalog,
        chainReaders,
        upstreams: deps.upstreams,
        snapshot,
        clock,
        logger,
        cadences: deps.cadences,
        readPositions: deps.readPositions,
        beside: writes.beside,
        recordSamples: (chainId, taken) => samples.recordSamples(chainId, taken),
        recordMarkets: deps.marketSamples.record,
        recordTvl: ({ asOfMs, ...tvl }) => deps.tvlSamples.record({ ...tvl, atMs: asOfMs }),
        recordCampaigns: recordedRates.recordCampaigns,
        readCampaigns: inTime(timers, recordedRates.readCampaigns),
        recordApys: recordedRates.recordApys,
        readApys: inTime(timers, recordedRates.readApys),
        readBorrowHistory: inTime(timers, (chainId: ChainId) => {
          const nowMs = clock.now();
          return samples.readDaily(chainId, { fromMs: nowMs - HISTORY_DAYS * DAY_MS, toMs: nowMs });
        }),
      }),
      ...deps.otherJobs,
      createHousekeepingWarmer(deps.prunes),
    ],
    clock,
    timers,
    logger,
    lease,
    random: deps.random,
    onRun: deps.onRun,
  });
  let finish: () => void = () => {};
  const warmed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    runner: {
      ...runner,
      // Completely, including its writes to the database.
      async refresh(name) {
        const events = await runner.refresh(name);
        await writes.settle();
        return events;
      },
    },
    warmed,
    start(warming) {
      void (warming ? runner.start().then(writes.settle) : Promise.resolve()).then(finish);
    },
    async stop() {
      await runner.stop();
      await writes.settle();
      await Promise.all([lease.close(), snapshot.close()]);
    },
  };
}
