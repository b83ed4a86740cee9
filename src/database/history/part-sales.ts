import { sql } from 'kysely';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { Database } from '../client.ts';

/**
 * The positions of which a part was sold, by their index, of each wallet in lower case; those that were not, or whose history is
 * not read, are absent.
 */
export type PartSales = ReadonlyMap<string, ReadonlySet<number>>;

interface Row {
  readonly wallet: string;
  readonly position_index: number;
}

/**
 * Create the reading of sales of a part in the history of positions. The contract reports such a sale as a withdrawal of
 * collateral and a repayment, one after the other; two calls of one transaction have a movement on Morpho between them.
 * Every call may throw `UpstreamUnavailableError`.
 */
export function createPartSales(db: Database): (chainId: ChainId, wallets: readonly Address[]) => Promise<PartSales> {
  return async (chainId, wallets) => {
    const owners = wallets.map((wallet) => wallet.toLowerCase());
    const { rows } = await sql<Row>`
      select distinct withdrawn.wallet, withdrawn.position_index
      from position_events as withdrawn join position_events as repaid
        on repaid.chain_id = withdrawn.chain_id and repaid.tx_hash = withdrawn.tx_hash and repaid.event = 'LoanRepaid'
        and repaid.wallet = withdrawn.wallet and repaid.position_index = withdrawn.position_index
      where withdrawn.chain_id = ${chainId} and withdrawn.event = 'CollateralWithdrawn'
        and withdrawn.wallet = any(${owners}::text[])
        and not exists (
          select from position_events as other
          where other.chain_id = withdrawn.chain_id and other.tx_hash = withdrawn.tx_hash and (
            (other.event = 'LeveragePositionClosed' and other.wallet = withdrawn.wallet
              and other.position_index = withdrawn.position_index)
            or (other.event in ('Repay', 'WithdrawCollateral')
              and other.log_index between least(withdrawn.log_index, repaid.log_index)
              and greatest(withdrawn.log_index, repaid.log_index))))`.execute(db);
    const found = new Map<string, Set<number>>();
    for (const { wallet, position_index: index } of rows)
      found.set(wallet, (found.get(wallet) ?? new Set()).add(index));
    return found;
  };
}
