import { sql } from 'kysely';
import type { Database } from '../../../database/client.ts';
import type { ChainId, Hex, MarketId } from '../../../shared/ids.ts';
import type { LiquidationHistory, RecordedLiquidation } from '../domain/observe.ts';

export interface LiquidationRepository {
  /** Read the liquidations after a block, as far as the logs of the chain were read; `null` = none was read. */
  after(chainId: ChainId, block: bigint): Promise<LiquidationHistory | null>;
}

/** Newest liquidations of one reading. */
const MAX_LIQUIDATIONS = 20_000;

interface Row {
  readonly to_block: string;
  readonly to_time: Date;
  readonly account: string | null;
  readonly market_id: string;
  readonly block_number: string;
  readonly block_time: Date;
  readonly tx_hash: string;
}

/** Create the reading of liquidations in the history of positions. Every call may throw `UpstreamUnavailableError`. */
export function createLiquidationRepository(db: Database): LiquidationRepository {
  return {
    after: async (chainId, block) => {
      const { rows } = await sql<Row>`
        select cursor.to_block, cursor.to_time, event.account, event.market_id, event.block_number, event.block_time,
          event.tx_hash
        from indexer_cursor as cursor left join position_events as event
          on event.chain_id = cursor.chain_id and event.event = 'Liquidate'
          and event.block_number > ${String(block)}::bigint
          and event.block_number between cursor.from_block and cursor.to_block
        where cursor.chain_id = ${chainId}
        order by event.block_number desc, event.log_index desc limit ${MAX_LIQUIDATIONS}`.execute(db);
      const [newest] = rows;
      if (!newest) return null;
      const byAccount = new Map<string, RecordedLiquidation[]>();
      const places = new Map<string, number>();
      for (const row of rows.toReversed()) {
        if (row.account === null) continue;
        const transaction = `${row.tx_hash}-${row.account}-${row.market_id}`;
        const place = places.get(transaction) ?? 0;
        places.set(transaction, place + 1);
        const found = byAccount.get(row.account) ?? [];
        byAccount.set(row.account, found);
        found.push({
          id: `${transaction}-${place}`,
          marketId: row.market_id as MarketId,
          blockNumber: BigInt(row.block_number),
          atMs: row.block_time.getTime(),
          txHash: row.tx_hash as Hex,
        });
      }
      return {
        toBlock: BigInt(newest.to_block),
        toMs: newest.to_time.getTime(),
        of: (account) => byAccount.get(account.toLowerCase()) ?? [],
      };
    },
  };
}
