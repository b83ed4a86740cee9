import { type Selectable, sql } from 'kysely';
import type { IndexerRecord, IndexerRunRecord } from '../domain/history/indexer-state.ts';
import { type PositionKey, RECORDED_EVENTS, type ReadRange, type RecordedLog } from '../domain/history/types.ts';
import type { ChainId, Hex } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { noteRun, rangeOf, readRecords } from './history/indexer-runs.ts';
import { rowOf, toLog } from './history/log-rows.ts';
import type { PositionEventsTable } from './schema.ts';

/** A block up to which logs were read. */
export interface ReadBlock {
  readonly number: bigint;
  readonly hash: Hex;
  /** ms. */
  readonly atMs: number;
}

/** How far the logs of a chain were read. */
export interface IndexerCursor extends ReadRange {
  /** Chain, contracts and tokens that were read: the hash of the first block, "-", and what differs with the rest. */
  readonly scope: string;
}

/** One step of reading: the logs of blocks that adjoin those that were read before, or overlap with them. */
export interface ReadStep {
  readonly cursor: IndexerCursor;
  readonly logs: readonly RecordedLog[];
  /** Blocks whose stored logs are wrong, and are removed first. */
  readonly replaced?: readonly bigint[] | undefined;
  /** Last block of a step that goes on to newer blocks. */
  readonly newest?: ReadBlock | undefined;
}

/** Positions, and a page of the logs of their transactions. */
export interface LogsQuery {
  readonly chainId: ChainId;
  readonly keys: readonly Pick<PositionKey, 'wallet' | 'positionIndex' | 'account' | 'marketId'>[];
  readonly limit: number;
  /** Last log of the page before; absent: the first page. */
  readonly after?: Pick<RecordedLog, 'blockNumber' | 'logIndex'> | undefined;
}

export interface PositionHistoryRepository {
  cursor(chainId: ChainId): Promise<IndexerCursor | null>;
  /**
   * Begin anew at a block: everything that was stored of the chain is removed, except the states of its markets if `keepsMarks`.
   * One transaction.
   */
  begin(chainId: ChainId, cursor: IndexerCursor, newest: ReadBlock, keepsMarks?: boolean): Promise<void>;
  /**
   * Have the logs of a chain read anew by the next run, which keeps the states of markets. Until then they stay as they are.
   * Returns the range that was read; `null` = nothing was.
   */
  requestReindex(chainId: ChainId): Promise<ReadRange | null>;
  /**
   * Store a step and its cursor, in one transaction. `false` = another process has moved the cursor meanwhile, and nothing was
   * stored.
   */
  append(chainId: ChainId, before: IndexerCursor, step: ReadStep): Promise<boolean>;
  /** All logs of a range of blocks, in chain order. */
  between(
    chainId: ChainId,
    range: { readonly fromBlock: bigint; readonly toBlock: bigint },
  ): Promise<readonly RecordedLog[]>;
  /** Blocks up to which logs were read, the newest first. */
  readBlocks(chainId: ChainId, limit?: number): Promise<readonly ReadBlock[]>;
  /** Remove everything after a block, because the chain has other blocks there. One transaction; `false` as of `append`. */
  rewind(chainId: ChainId, before: IndexerCursor, to: ReadBlock): Promise<boolean>;
  /** Number of positions whose opening is stored, and of stock markets whose creation is. */
  beginnings(chainId: ChainId): Promise<{ readonly openings: number; readonly createdMarkets: number }>;
  /** Record the latest run of a chain that has a cursor. */
  noteRun(chainId: ChainId, run: IndexerRunRecord): Promise<void>;
  /** How far every chain is read, one statement for all. */
  records(): Promise<readonly IndexerRecord[]>;
  /**
   * Read the logs of positions within the blocks of the cursor, and all other logs of their transactions, in chain order. Transfers
   * of 0 tokens, which earlier versions have stored, are left out here and in `between`.
   */
  logs(query: LogsQuery): Promise<readonly RecordedLog[]>;
}

/** Blocks that are kept for finding the begin of a reorganization: an hour of steps at the head of a chain. */
const KEPT_BLOCKS = 512;
/** Rows of one statement: 19 columns each, and Postgres takes 65,535 parameters. */
const ROWS_PER_INSERT = 1_000;

/** Create the repository of position logs. Every call may throw `UpstreamUnavailableError`. */
export function createPositionHistoryRepository(db: Database): PositionHistoryRepository {
  return {
    cursor: (chainId) => readCursor(db, chainId),
    begin: (chainId, cursor, newest, keepsMarks = false) =>
      db.transaction().execute(async (trx) => {
        const tables = ['position_events', 'indexer_blocks', 'indexer_cursor'] as const;
        for (const table of keepsMarks ? tables : [...tables, 'market_marks' as const]) {
          await trx.deleteFrom(table).where('chain_id', '=', chainId).execute();
        }
        await trx
          .insertInto('indexer_cursor')
          .values({ chain_id: chainId, ...cursorRow(cursor) })
          .execute();
        await addBlock(trx, chainId, newest);
      }),
    requestReindex: async (chainId) => {
      // A run that goes on meanwhile does not find its cursor, and ends.
      const row = await db
        .updateTable('indexer_cursor')
        .set({ scope: sql<string>`split_part(scope, '-', 1) || '-reindex'` })
        .where('chain_id', '=', chainId)
        .returningAll()
        .executeTakeFirst();
      return row ? rangeOf(row) : null;
    },
    append: (chainId, before, step) => append(db, chainId, before, step),
    between: (chainId, range) => readBetween(db, chainId, range),
    readBlocks: async (chainId, limit = KEPT_BLOCKS) => {
      const rows = await db
        .selectFrom('indexer_blocks')
        .select(['block_number', 'block_hash', 'block_time'])
        .where('chain_id', '=', chainId)
        .orderBy('block_number', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        number: BigInt(row.block_number),
        hash: row.block_hash as Hex,
        atMs: row.block_time.getTime(),
      }));
    },
    rewind: (chainId, before, to) =>
      db.transaction().execute(async (trx) => {
        const cursor = { ...before, toBlock: to.number, toMs: to.atMs };
        if (!(await move(trx, chainId, before, cursor))) return false;
        for (const table of ['position_events', 'indexer_blocks', 'market_marks'] as const) {
          await trx
            .deleteFrom(table)
            .where('chain_id', '=', chainId)
            .where('block_number', '>', String(to.number))
            .execute();
        }
        return true;
      }),
    beginnings: (chainId) =>
      db
        .selectFrom('position_events')
        .select([
          sql<number>`(count(distinct (wallet, position_index)) filter (where wallet is not null))::integer`.as(
            'openings',
          ),
          sql<number>`count(distinct market_id)::integer`.as('createdMarkets'),
        ])
        .where('chain_id', '=', chainId)
        .where('event', 'in', ['LeveragePositionOpened', 'CreateMarket'])
        .executeTakeFirstOrThrow(),
    noteRun: (chainId, run) => noteRun(db, chainId, run),
    records: () => readRecords(db),
    logs: (query) => readLogs(db, query),
  };
}

/** Store a step and its cursor. */
function append(
  db: Database,
  chainId: ChainId,
  before: IndexerCursor,
  { cursor, logs, replaced = [], newest }: ReadStep,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await move(trx, chainId, before, cursor))) return false;
    if (replaced.length > 0) {
      await trx
        .deleteFrom('position_events')
        .where('chain_id', '=', chainId)
        .where('block_number', 'in', replaced.map(String))
        .execute();
    }
    for (let from = 0; from < logs.length; from += ROWS_PER_INSERT) {
      const rows = logs.slice(from, from + ROWS_PER_INSERT).map((log) => rowOf(chainId, log));
      // Blocks are read twice at their joints. Logs that are stored belong to this chain, because others were removed.
      await trx
        .insertInto('position_events')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    if (newest) await addBlock(trx, chainId, newest);
    return true;
  });
}

async function readBetween(
  db: Database,
  chainId: ChainId,
  { fromBlock, toBlock }: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<readonly RecordedLog[]> {
  const rows = await db
    .selectFrom('position_events')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('block_number', '>=', String(fromBlock))
    .where('block_number', '<=', String(toBlock))
    .where(({ eb, or }) => or([eb('event', '!=', 'Transfer'), eb('assets', '!=', '0')]))
    .orderBy('block_number')
    .orderBy('log_index')
    .execute();
  return rows.flatMap(toLog);
}

async function readCursor(db: Database, chainId: ChainId): Promise<IndexerCursor | null> {
  const row = await db.selectFrom('indexer_cursor').selectAll().where('chain_id', '=', chainId).executeTakeFirst();
  return row ? { scope: row.scope, ...rangeOf(row) } : null;
}

/** Move the cursor, unless another process has moved it since it was read. */
async function move(trx: Database, chainId: ChainId, before: IndexerCursor, after: IndexerCursor): Promise<boolean> {
  const moved = await trx
    .updateTable('indexer_cursor')
    .set(cursorRow(after))
    .where('chain_id', '=', chainId)
    .where('scope', '=', before.scope)
    .where('from_block', '=', String(before.fromBlock))
    .where('to_block', '=', String(before.toBlock))
    .executeTakeFirst();
  return moved.numUpdatedRows === 1n;
}

async function addBlock(trx: Database, chainId: ChainId, { number, hash, atMs }: ReadBlock): Promise<void> {
  const row = {
    chain_id: chainId,
    block_number: String(number),
    block_hash: hash.toLowerCase(),
    block_time: new Date(atMs),
  };
  await trx
    .insertInto('indexer_blocks')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'block_number'])
        .doUpdateSet({ block_hash: row.block_hash, block_time: row.block_time }),
    )
    .execute();
  await sql`
    delete from indexer_blocks where chain_id = ${chainId} and block_number < (
      select min(block_number) from (
        select block_number from indexer_blocks where chain_id = ${chainId} order by block_number desc limit ${KEPT_BLOCKS}
      ) as kept
    )`.execute(trx);
}

async function readLogs(db: Database, { chainId, keys, limit, after }: LogsQuery): Promise<readonly RecordedLog[]> {
  if (keys.length === 0) return [];
  const accounts = keys.map(({ account }) => account.toLowerCase());
  const wallets = keys.map(({ wallet }) => wallet.toLowerCase());
  const indices = keys.map(({ positionIndex }) => positionIndex);
  const markets = keys.map(({ marketId }) => marketId);
  const [block, index] = after ? [String(after.blockNumber), after.logIndex] : ['-1', 0];
  const { rows } = await sql<Selectable<PositionEventsTable>>`
    with own as (
      select tx_hash, block_number from position_events
      where chain_id = ${chainId}
        and (account, market_id) in (select * from unnest(${accounts}::text[], ${markets}::text[]))
      union
      select tx_hash, block_number from position_events
      where chain_id = ${chainId}
        and (wallet, position_index) in (select * from unnest(${wallets}::text[], ${indices}::integer[]))
    )
    select event.* from position_events as event
    join indexer_cursor as cursor on cursor.chain_id = event.chain_id
    where event.chain_id = ${chainId}
      and event.block_number between cursor.from_block and cursor.to_block
      and (event.block_number, event.log_index) > (${block}::bigint, ${index}::integer)
      and (event.event <> 'Transfer' or event.assets <> 0)
      and event.event = any(${[...RECORDED_EVENTS]}::text[])
      and (event.tx_hash, event.block_number) in (select tx_hash, block_number from own)
    order by event.block_number, event.log_index
    limit ${limit}`.execute(db);
  return rows.flatMap(toLog);
}

function cursorRow({ scope, fromBlock, fromMs, toBlock, toMs, isWhole }: IndexerCursor) {
  return {
    scope,
    from_block: String(fromBlock),
    from_time: new Date(fromMs),
    to_block: String(toBlock),
    to_time: new Date(toMs),
    is_whole: isWhole,
  };
}
