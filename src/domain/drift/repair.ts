import { ADDRESS_PATTERN, EQUITY_PREFIX, MARKET_ID_PATTERN } from '../../shared/ids.ts';
import type { Drift } from './types.ts';

/**
 * Suggest the SQL that brings the register in line with the chain; only an operator runs it. It changes at most one row,
 * and none when the register has changed since. Its only values are checked hex strings and integers, so that no value of a
 * chain or of the register becomes SQL. `null` = the key of the row is not of its expected form.
 */
export function repairOf(
  drift: Pick<Drift, 'kind' | 'chainId' | 'wallet' | 'marketId' | 'positionIndex' | 'vaultId' | 'otherMarketId'> & {
    readonly chain: Pick<Drift['chain'], 'status'>;
  },
): string | null {
  const { chainId, wallet, marketId, positionIndex, vaultId, otherMarketId } = drift;
  if (!isIndex(chainId) || !isIndex(positionIndex) || !ADDRESS_PATTERN.test(wallet)) return null;
  if (![marketId, otherMarketId, vaultId?.replace(EQUITY_PREFIX, '')].every((id) => id == null || isMarketId(id)))
    return null;
  const row = { chainId, wallet: `'${wallet.toLowerCase()}'`, marketId: `'${marketId.toLowerCase()}'`, positionIndex };
  const state = { isOpen: drift.chain.status === 'open', vault: vaultId === null ? 'null' : `'${vaultId}'` };
  switch (drift.kind) {
    case 'no_db_row':
      return otherMarketId === null
        ? insertion(row, state)
        : update(
            { ...row, marketId: `'${otherMarketId}'` },
            `market_id = ${row.marketId}, is_open = ${state.isOpen}, closed_at = ${closedAt(state)}`,
          );
    case 'db_open_chain_closed':
      return update(row, 'is_open = false, closed_at = now()', 'is_open');
    case 'db_closed_chain_open':
      return update(row, 'is_open = true, closed_at = null', 'not is_open');
  }
}

interface RowKey {
  readonly chainId: number;
  readonly wallet: string;
  readonly marketId: string;
  readonly positionIndex: number;
}

interface RowState {
  readonly isOpen: boolean;
  readonly vault: string;
}

function isMarketId(text: string): boolean {
  return MARKET_ID_PATTERN.test(text);
}

function closedAt({ isOpen }: RowState): string {
  return isOpen ? 'null' : 'now()';
}

/** The range of the register's columns. */
function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 2 ** 31;
}

function update({ chainId, wallet, marketId, positionIndex }: RowKey, set: string, condition?: string): string {
  return [
    `update position_registrations set ${set}, updated_at = now()`,
    `where chain_id = ${chainId} and wallet = ${wallet} and market_id = ${marketId} and position_index = ${positionIndex}${condition === undefined ? '' : ` and ${condition}`};`,
  ].join('\n');
}

/** The chain does not keep the deposit in USD: psql asks for it as a variable, and refuses the statement without. */
function insertion({ chainId, wallet, marketId, positionIndex }: RowKey, state: RowState): string {
  return [
    'insert into position_registrations (chain_id, wallet, market_id, position_index, equity_vault_id, is_open, deposited_usd, created_at, updated_at, closed_at)',
    `values (${chainId}, ${wallet}, ${marketId}, ${positionIndex}, ${state.vault}, ${state.isOpen}, :deposited_usd, now(), now(), ${closedAt(state)})`,
    'on conflict (chain_id, wallet, position_index) do nothing;',
  ].join('\n');
}
