import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import { Decimal } from '../shared/decimal.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved, replaces } from './observed.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A year and the longest trailing window (30 days), with some days of margin. */
export const SAMPLE_RETENTION_DAYS = 400;

/** One measurement of a market's state. Rates are fractions, amounts loan base units. */
export interface RateSample {
  readonly marketId: MarketId;
  readonly atMs: number;
  readonly borrowApy: Decimal;
  readonly utilization: Decimal;
  readonly supplyAssets: bigint;
  readonly borrowAssets: bigint;
  readonly liquidityAssets: bigint;
}

/** The mean of a market's hourly samples of a UTC day. */
export interface DailyRate {
  readonly marketId: MarketId;
  /** Start of the day. */
  readonly dayMs: number;
  readonly borrowApy: Decimal;
  readonly utilization: Decimal;
  /** Number of sampled hours, 1 to 24. */
  readonly hours: number;
}

export interface TimeRange {
  /** Inclusive: the hour that contains it counts. */
  readonly fromMs: number;
  /** Exclusive; absent: until the newest sample. */
  readonly toMs?: number | undefined;
}

export interface SampleRepository {
  /** Store the samples, one per market and hour: the latest of the hour wins. One statement. */
  recordSamples(chainId: ChainId, samples: readonly RateSample[]): Promise<void>;
  /** Read the daily means of all markets of a chain, or of one; by market and day, oldest first. */
  readDaily(chainId: ChainId, range: TimeRange, marketId?: MarketId): Promise<readonly DailyRate[]>;
  /** Read the hourly samples of markets, oldest first, in one statement. A market without samples has no entry. */
  readHourly(
    chainId: ChainId,
    marketIds: readonly MarketId[],
    range: TimeRange,
  ): Promise<ReadonlyMap<MarketId, readonly RateSample[]>>;
  /** Remove rows that are older than `SAMPLE_RETENTION_DAYS` or from the future, and return their number. */
  prune(): Promise<number>;
}

/**
 * Create the repository of our own rate samples. A row from the future is not read, and the next sample of its hour replaces
 * it. Every call may throw `UpstreamUnavailableError`.
 */
export function createSampleRepository(db: Database, clock: Clock): SampleRepository {
  return {
    recordSamples: async (chainId, samples) => {
      if (samples.length > 0) await upsertSamples(chainId, samples, clock.now()).execute(db);
    },
    readDaily: (chainId, range, marketId) => readDaily(db, clock, chainId, range, marketId),
    readHourly: (chainId, marketIds, range) => readHourly(db, clock, chainId, marketIds, range),
    prune: async () => {
      const nowMs = clock.now();
      const oldest = new Date(nowMs - SAMPLE_RETENTION_DAYS * DAY_MS);
      const result = await db
        .deleteFrom('rate_samples')
        .where(({ eb, or }) => or([eb('hour', '<', oldest), eb('sampled_at', '>', latestObserved(nowMs))]))
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

/** `distinct on`, because an upsert may not touch a row twice, and a batch may contain a market twice. */
function upsertSamples(chainId: ChainId, samples: readonly RateSample[], nowMs: number): RawBuilder<unknown> {
  const column = (pick: (sample: RateSample) => string) => samples.map(pick);
  return sql`
    insert into rate_samples
      (chain_id, market_id, hour, sampled_at, borrow_apy, utilization, supply_assets, borrow_assets, liquidity_assets)
    select distinct on (market_id, hour) ${chainId}::integer, *
    from unnest(
      ${column((sample) => sample.marketId)}::text[],
      ${column((sample) => isoTime(hourOf(sample.atMs)))}::timestamptz[],
      ${column((sample) => isoTime(sample.atMs))}::timestamptz[],
      ${column((sample) => sample.borrowApy.toFixed())}::numeric[],
      ${column((sample) => sample.utilization.toFixed())}::numeric[],
      ${column((sample) => sample.supplyAssets.toString())}::numeric[],
      ${column((sample) => sample.borrowAssets.toString())}::numeric[],
      ${column((sample) => sample.liquidityAssets.toString())}::numeric[]
    ) as given (market_id, hour, sampled_at, borrow_apy, utilization, supply_assets, borrow_assets, liquidity_assets)
    order by market_id, hour, sampled_at desc
    on conflict (chain_id, market_id, hour) do update set
      sampled_at = excluded.sampled_at,
      borrow_apy = excluded.borrow_apy,
      utilization = excluded.utilization,
      supply_assets = excluded.supply_assets,
      borrow_assets = excluded.borrow_assets,
      liquidity_assets = excluded.liquidity_assets
    where ${replaces('rate_samples', nowMs)}`;
}

async function readDaily(
  db: Database,
  clock: Clock,
  chainId: ChainId,
  range: TimeRange,
  marketId: MarketId | undefined,
): Promise<readonly DailyRate[]> {
  const day = sql<Date>`date_trunc('day', hour at time zone 'UTC') at time zone 'UTC'`;
  let query = db
    .selectFrom('rate_samples')
    .select([
      'market_id',
      day.as('day'),
      // Sums are exact; the database would round an average.
      sql<string>`sum(borrow_apy)`.as('borrow_apy_sum'),
      sql<string>`sum(utilization)`.as('utilization_sum'),
      sql<number>`count(*)::integer`.as('hours'),
    ])
    .where('chain_id', '=', chainId)
    .where('hour', '>=', new Date(hourOf(range.fromMs)))
    .where('sampled_at', '<=', latestObserved(clock.now()))
    .groupBy(['market_id', day])
    .orderBy('market_id')
    .orderBy(day);
  if (range.toMs !== undefined) query = query.where('hour', '<', new Date(range.toMs));
  if (marketId !== undefined) query = query.where('market_id', '=', marketId);
  const rows = await query.execute();
  return rows.map((row) => ({
    marketId: row.market_id as MarketId,
    dayMs: row.day.getTime(),
    borrowApy: new Decimal(row.borrow_apy_sum).dividedBy(row.hours),
    utilization: new Decimal(row.utilization_sum).dividedBy(row.hours),
    hours: row.hours,
  }));
}

async function readHourly(
  db: Database,
  clock: Clock,
  chainId: ChainId,
  marketIds: readonly MarketId[],
  range: TimeRange,
): Promise<ReadonlyMap<MarketId, readonly RateSample[]>> {
  if (marketIds.length === 0) return new Map();
  let query = db
    .selectFrom('rate_samples')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where(sql<boolean>`market_id = any(${marketIds}::text[])`)
    .where('hour', '>=', new Date(hourOf(range.fromMs)))
    .where('sampled_at', '<=', latestObserved(clock.now()))
    .orderBy('hour');
  if (range.toMs !== undefined) query = query.where('hour', '<', new Date(range.toMs));
  const byMarket = new Map<MarketId, RateSample[]>();
  for (const row of await query.execute()) {
    const marketId = row.market_id as MarketId;
    const samples = byMarket.get(marketId) ?? [];
    byMarket.set(marketId, samples);
    samples.push({
      marketId,
      atMs: row.sampled_at.getTime(),
      borrowApy: new Decimal(row.borrow_apy),
      utilization: new Decimal(row.utilization),
      supplyAssets: BigInt(row.supply_assets),
      borrowAssets: BigInt(row.borrow_assets),
      liquidityAssets: BigInt(row.liquidity_assets),
    });
  }
  return byMarket;
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
