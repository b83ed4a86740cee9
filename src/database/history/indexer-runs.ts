import { type Selectable, sql } from 'kysely';
import type { IndexerRecord, IndexerRunRecord } from '../../domain/history/indexer-state.ts';
import type { ReadRange } from '../../domain/history/types.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Database } from '../client.ts';
import type { IndexerCursorTable } from '../schema.ts';

type RangeRow = Pick<Selectable<IndexerCursorTable>, 'from_block' | 'from_time' | 'to_block' | 'to_time' | 'is_whole'>;

/** The range that a row of the cursor stands for. */
export function rangeOf(row: RangeRow): ReadRange {
  return {
    fromBlock: BigInt(row.from_block),
    fromMs: row.from_time.getTime(),
    toBlock: BigInt(row.to_block),
    toMs: row.to_time.getTime(),
    isWhole: row.is_whole,
  };
}

/** Record the latest run of a chain that has a cursor. */
export async function noteRun(
  db: Database,
  chainId: ChainId,
  { atMs, head, headMs, expected, failure }: IndexerRunRecord,
): Promise<void> {
  const at = new Date(atMs);
  await db
    .updateTable('indexer_cursor')
    .set(({ fn, ref, val }) => ({
      ran_at: at,
      // A run that failed at once knows neither.
      head_block: head === null ? ref('head_block') : val(String(head)),
      head_at: headMs === null ? ref('head_at') : val(new Date(headMs)),
      expected: expected === null ? ref('expected') : val(expected),
      failure,
      failing_since: failure === null ? null : fn.coalesce('failing_since', val(at)),
    }))
    .where('chain_id', '=', chainId)
    .execute();
}

/** Read how far every chain is read, in one statement. */
export async function readRecords(db: Database): Promise<readonly IndexerRecord[]> {
  const { rows } = await sql<Selectable<IndexerCursorTable> & { readonly found: number }>`
    select cursor.*, (
      select count(distinct (wallet, position_index)) filter (where event = 'LeveragePositionOpened')
        + count(distinct market_id) filter (where event = 'CreateMarket')
      from position_events as log
      where log.chain_id = cursor.chain_id and log.event in ('LeveragePositionOpened', 'CreateMarket')
    )::integer as found
    from indexer_cursor as cursor order by chain_id`.execute(db);
  return rows.map((row) => ({
    chainId: row.chain_id as ChainId,
    range: rangeOf(row),
    found: row.found,
    run: row.ran_at && {
      atMs: row.ran_at.getTime(),
      head: row.head_block === null ? null : BigInt(row.head_block),
      headMs: row.head_at?.getTime() ?? null,
      expected: row.expected,
      failure: row.failure,
      failingSinceMs: row.failing_since?.getTime() ?? null,
    },
  }));
}
