import type { Insertable, Selectable } from 'kysely';
import { getAddress } from 'viem';
import { RECORDED_EVENTS, type RecordedEvent, type RecordedLog } from '../../domain/history/types.ts';
import type { Address, ChainId, Hex, MarketId } from '../../shared/ids.ts';
import type { PositionEventsTable } from '../schema.ts';

/** Convert a row; none for an event that a later version may have written. */
export function toLog(row: Selectable<PositionEventsTable>): RecordedLog[] {
  const event = RECORDED_EVENTS.find((known): known is RecordedEvent => known === row.event);
  if (!event) return [];
  return [
    {
      blockNumber: BigInt(row.block_number),
      blockHash: row.block_hash as Hex,
      atMs: row.block_time.getTime(),
      txHash: row.tx_hash as Hex,
      logIndex: row.log_index,
      event,
      marketId: row.market_id as MarketId | null,
      account: addressOf(row.account),
      wallet: addressOf(row.wallet),
      positionIndex: row.position_index,
      token: addressOf(row.token),
      sender: addressOf(row.sender),
      receiver: addressOf(row.receiver),
      assets: BigInt(row.assets),
      shares: BigInt(row.shares),
      collateral: BigInt(row.collateral),
      badDebt: BigInt(row.bad_debt),
      badDebtShares: BigInt(row.bad_debt_shares),
    },
  ];
}

function addressOf(value: string | null): Address | null {
  return value === null ? null : getAddress(value);
}

/** Convert a log to its row. */
export function rowOf(chainId: ChainId, log: RecordedLog): Insertable<PositionEventsTable> {
  return {
    chain_id: chainId,
    block_number: String(log.blockNumber),
    log_index: log.logIndex,
    block_hash: log.blockHash.toLowerCase(),
    block_time: new Date(log.atMs),
    tx_hash: log.txHash.toLowerCase(),
    event: log.event,
    market_id: log.marketId,
    account: log.account?.toLowerCase() ?? null,
    wallet: log.wallet?.toLowerCase() ?? null,
    position_index: log.positionIndex,
    token: log.token?.toLowerCase() ?? null,
    sender: log.sender?.toLowerCase() ?? null,
    receiver: log.receiver?.toLowerCase() ?? null,
    assets: String(log.assets),
    shares: String(log.shares),
    collateral: String(log.collateral),
    bad_debt: String(log.badDebt),
    bad_debt_shares: String(log.badDebtShares),
  };
}
