import { sql } from 'kysely';
import type { MarketMark } from '../domain/history/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId, Hex, MarketId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved } from './observed.ts';
import { SAMPLE_RETENTION_DAYS } from './samples.ts';

const DAY_MS = 86_400_000;
/**
 * Nodes without the state of a block are asked for it again after a quarter of its age, within these bounds: most nodes have only
 * the states of new blocks, and one may have been replaced by an archive.
 */
const ASK_AGAIN = { leastSec: 300, mostSec: 86_400, ageShare: 4 } as const;

/** A block of events whose markets have no mark yet. */
export interface UnmarkedBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly atMs: number;
  readonly marketIds: readonly MarketId[];
}

/** The state of a market at a block, or that the node does not have it. */
export interface MarkReading {
  readonly marketId: MarketId;
  readonly blockNumber: bigint;
  readonly atMs: number;
  /** Whether it is a sample of its hour, and not of an event. */
  readonly isSample: boolean;
  readonly mark: Pick<MarketMark, 'price' | 'totalBorrowAssets' | 'totalBorrowShares'> | null;
}

/** The markets of positions, and since when and how many marks are read of each. */
export interface MarksQuery {
  readonly chainId: ChainId;
  readonly marketId: MarketId;
  readonly fromBlock: bigint;
  /** Maximum number of samples; the marks of `blocks` are all read. */
  readonly samples: number;
  readonly blocks: readonly bigint[];
}

export interface MarketMarkRepository {
  /** Blocks of events without a mark, or whose mark is to be compared, the newest first. */
  unmarked(chainId: ChainId, limit: number): Promise<readonly UnmarkedBlock[]>;
  /** Markets of stored events. */
  markets(chainId: ChainId): Promise<readonly MarketId[]>;
  /** Have the marks at events of a chain read again by the next runs, which compare them. Returns their number. */
  requestCheck(chainId: ChainId): Promise<number>;
  /** Time of the newest sample of a chain, ms; `null` = there is none. */
  newestSampleMs(chainId: ChainId): Promise<number | null>;
  record(chainId: ChainId, readings: readonly MarkReading[]): Promise<void>;
  /** Read the marks of a market at blocks, and samples spread evenly over the time, oldest first. */
  read(query: MarksQuery): Promise<readonly MarketMark[]>;
  /** Read the marks of a market at blocks alone, oldest first. */
  at(chainId: ChainId, marketId: MarketId, blocks: readonly bigint[]): Promise<readonly MarketMark[]>;
  /** Remove samples that are older than `SAMPLE_RETENTION_DAYS` or from the future, and return their number. */
  prune(): Promise<number>;
}

/** Create the repository of market states at blocks. Every call may throw `UpstreamUnavailableError`. */
export function createMarketMarkRepository(db: Database, clock: Clock): MarketMarkRepository {
  return {
    unmarked: (chainId, limit) => readUnmarked(db, chainId, limit, new Date(clock.now())),
    requestCheck: (chainId) => requestCheck(db, chainId),
    async markets(chainId) {
      const rows = await db
        .selectFrom('position_events')
        .select('market_id')
        .distinct()
        .where('chain_id', '=', chainId)
        .where('market_id', 'is not', null)
        .execute();
      return rows.map(({ market_id }) => market_id as MarketId);
    },
    async newestSampleMs(chainId) {
      const row = await db
        .selectFrom('market_marks')
        .select(({ fn }) => fn.max('block_time').as('at'))
        .where('chain_id', '=', chainId)
        .where('is_sample', '=', true)
        .where('block_time', '<=', latestObserved(clock.now()))
        .executeTakeFirst();
      return row?.at?.getTime() ?? null;
    },
    async record(chainId, readings) {
      if (readings.length === 0) return;
      const rows = readings.map(({ marketId, blockNumber, atMs, isSample, mark }) => ({
        chain_id: chainId,
        market_id: marketId,
        block_number: String(blockNumber),
        block_time: new Date(atMs),
        is_sample: isSample,
        asked_at: new Date(clock.now()),
        price: mark ? String(mark.price) : null,
        borrow_assets: mark ? String(mark.totalBorrowAssets) : null,
        borrow_shares: mark ? String(mark.totalBorrowShares) : null,
      }));
      await db
        .insertInto('market_marks')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['chain_id', 'market_id', 'block_number']).doUpdateSet((eb) => ({
            block_time: eb.ref('excluded.block_time'),
            // That of an event stays, because samples are removed in time.
            is_sample: sql<boolean>`market_marks.is_sample and excluded.is_sample`,
            asked_at: eb.ref('excluded.asked_at'),
            price: eb.ref('excluded.price'),
            borrow_assets: eb.ref('excluded.borrow_assets'),
            borrow_shares: eb.ref('excluded.borrow_shares'),
          })),
        )
        .execute();
    },
    read: (query) => readMarks(db, query, latestObserved(clock.now())),
    at: (chainId, marketId, blocks) => readMarksAt(db, chainId, marketId, blocks),
    async prune() {
      const nowMs = clock.now();
      const removed = await db
        .deleteFrom('market_marks')
        .where('is_sample', '=', true)
        .where(({ eb, or }) =>
          or([
            eb('block_time', '<', new Date(nowMs - SAMPLE_RETENTION_DAYS * DAY_MS)),
            eb('block_time', '>', latestObserved(nowMs)),
          ]),
        )
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

/** The time of marks that are to be compared. */
const TO_CHECK = new Date(0);

async function requestCheck(db: Database, chainId: ChainId): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('market_marks')
    .set({ asked_at: TO_CHECK })
    .where('chain_id', '=', chainId)
    .where('is_sample', '=', false)
    .where('price', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

async function readUnmarked(
  db: Database,
  chainId: ChainId,
  limit: number,
  now: Date,
): Promise<readonly UnmarkedBlock[]> {
  const { rows } = await sql<{
    block_number: string;
    block_hash: string;
    block_time: Date;
    market_ids: string[];
  }>`
    select block_number, min(block_hash) as block_hash, min(block_time) as block_time,
      array_agg(distinct market_id) as market_ids
    from position_events as event
    where chain_id = ${chainId} and market_id is not null and account is not null and not exists (
      select from market_marks as mark
      where mark.chain_id = event.chain_id and mark.market_id = event.market_id
        and mark.block_number = event.block_number
        and ((mark.price is not null and not mark.is_sample and mark.asked_at > ${TO_CHECK})
          or (mark.price is null and mark.asked_at > ${now}::timestamptz - make_interval(secs => least(${ASK_AGAIN.mostSec},
            greatest(${ASK_AGAIN.leastSec}, extract(epoch from mark.asked_at - mark.block_time) / ${ASK_AGAIN.ageShare})))))
    )
    group by block_number order by block_number desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    number: BigInt(row.block_number),
    hash: row.block_hash as Hex,
    atMs: row.block_time.getTime(),
    marketIds: row.market_ids as MarketId[],
  }));
}

async function readMarks(
  db: Database,
  { chainId, marketId, fromBlock, samples, blocks }: MarksQuery,
  latest: Date,
): Promise<readonly MarketMark[]> {
  const { rows } = await sql<MarkRow>`
    select block_number, block_time, price, borrow_assets, borrow_shares from (
      select *, row_number() over (order by block_number) as place, count(*) over () as total,
        block_number = any(${blocks.map(String)}::bigint[]) as is_named
      from market_marks
      where chain_id = ${chainId} and market_id = ${marketId} and block_number >= ${String(fromBlock)}
        and price is not null and block_time <= ${latest}
    ) as marks
    where is_named or place % greatest(1, ceil(total::numeric / ${samples})::bigint) = 0
    order by block_number`.execute(db);
  return rows.map(toMark);
}

async function readMarksAt(
  db: Database,
  chainId: ChainId,
  marketId: MarketId,
  blocks: readonly bigint[],
): Promise<readonly MarketMark[]> {
  if (blocks.length === 0) return [];
  const { rows } = await sql<MarkRow>`
    select block_number, block_time, price, borrow_assets, borrow_shares from market_marks
    where chain_id = ${chainId} and market_id = ${marketId}
      and block_number = any(${blocks.map(String)}::bigint[]) and price is not null
    order by block_number`.execute(db);
  return rows.map(toMark);
}

interface MarkRow {
  readonly block_number: string;
  readonly block_time: Date;
  readonly price: string;
  readonly borrow_assets: string;
  readonly borrow_shares: string;
}

function toMark(row: MarkRow): MarketMark {
  return {
    blockNumber: BigInt(row.block_number),
    atMs: row.block_time.getTime(),
    price: BigInt(row.price),
    totalBorrowAssets: BigInt(row.borrow_assets),
    totalBorrowShares: BigInt(row.borrow_shares),
  };
}
