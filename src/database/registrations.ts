import { type Selectable, sql } from 'kysely';
import { getAddress } from 'viem';
import type { RegisteredRow } from '../domain/portfolio/types.ts';
import { compacted, Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import type { PositionRegistrationsTable } from './schema.ts';

/** A position as the app registered it. `null` = not registered. */
export type Registration = RegisteredRow;

/** The last row of a page. The next page starts after it, even if rows were added or removed in between. */
export interface RegistrationCursor {
  readonly wallet: Address;
  readonly positionIndex: number;
}

export interface RegistrationPage {
  readonly rows: readonly Registration[];
  /** `null` after the last page. */
  readonly next: RegistrationCursor | null;
}

export interface RegistrationCounts {
  readonly rows: number;
  readonly wallets: number;
  readonly open: number;
  readonly closed: number;
  /** Rows of equity vaults. */
  readonly equity: number;
}

export interface RegistrationRepository {
  /** Read the rows of any number of wallets, of all chains or one, in one statement. Every requested wallet has an entry. */
  byWallets(wallets: readonly Address[], chainId?: ChainId): Promise<ReadonlyMap<Address, readonly Registration[]>>;
  /** Read a page of a chain, ordered by wallet and position index. */
  pageOfChain(
    chainId: ChainId,
    page: { readonly limit: number; readonly after?: RegistrationCursor | null | undefined },
  ): Promise<RegistrationPage>;
  counts(chainId: ChainId): Promise<RegistrationCounts>;
}

/** Create the reader of the app's registrations. Every call may throw `UpstreamUnavailableError`. It never writes. */
export function createRegistrationRepository(db: Database): RegistrationRepository {
  return {
    byWallets: (wallets, chainId) => byWallets(db, wallets, chainId),
    pageOfChain: (chainId, page) => pageOfChain(db, chainId, page),
    counts: (chainId) => countsOf(db, chainId),
  };
}

async function byWallets(
  db: Database,
  wallets: readonly Address[],
  chainId: ChainId | undefined,
): Promise<ReadonlyMap<Address, readonly Registration[]>> {
  const checksum = checksummer();
  const grouped = new Map<Address, Registration[]>(wallets.map((wallet) => [checksum(wallet), []]));
  if (grouped.size === 0) return grouped;
  const wanted = [...grouped.keys()].map((wallet) => wallet.toLowerCase());
  let query = db
    .selectFrom('position_registrations')
    .selectAll()
    .where('wallet', '=', sql<string>`any(${wanted}::text[])`)
    .orderBy('wallet')
    .orderBy('chain_id')
    .orderBy('position_index');
  if (chainId !== undefined) query = query.where('chain_id', '=', chainId);
  for (const row of await query.execute()) {
    const registration = toRegistration(row, checksum);
    grouped.get(registration.wallet)?.push(registration);
  }
  return grouped;
}

async function pageOfChain(
  db: Database,
  chainId: ChainId,
  page: { readonly limit: number; readonly after?: RegistrationCursor | null | undefined },
): Promise<RegistrationPage> {
  let query = db
    .selectFrom('position_registrations')
    .selectAll()
    .where('chain_id', '=', chainId)
    .orderBy('wallet')
    .orderBy('position_index')
    .limit(page.limit + 1); // one more shows whether there is a next page
  if (page.after !== undefined && page.after !== null) {
    const { wallet, positionIndex } = page.after;
    query = query.where(sql<boolean>`(wallet, position_index) > (${wallet.toLowerCase()}, ${positionIndex}::integer)`);
  }
  const found = await query.execute();
  const checksum = checksummer();
  const rows = found.slice(0, page.limit).map((row) => toRegistration(row, checksum));
  const last = rows.at(-1);
  const hasNext = found.length > page.limit && last !== undefined;
  return { rows, next: hasNext ? { wallet: last.wallet, positionIndex: last.positionIndex } : null };
}

async function countsOf(db: Database, chainId: ChainId): Promise<RegistrationCounts> {
  return db
    .selectFrom('position_registrations')
    .select([
      sql<number>`count(*)::integer`.as('rows'),
      sql<number>`count(distinct wallet)::integer`.as('wallets'),
      sql<number>`(count(*) filter (where is_open))::integer`.as('open'),
      sql<number>`(count(*) filter (where not is_open))::integer`.as('closed'),
      sql<number>`count(equity_vault_id)::integer`.as('equity'),
    ])
    .where('chain_id', '=', chainId)
    .executeTakeFirstOrThrow();
}

function toRegistration(
  row: Selectable<PositionRegistrationsTable>,
  checksum: (wallet: string) => Address,
): Registration {
  return {
    wallet: checksum(row.wallet),
    chainId: row.chain_id,
    marketId: row.market_id as MarketId,
    positionIndex: row.position_index,
    isOpen: row.is_open,
    depositedUsd: compacted(new Decimal(row.deposited_usd)),
    addedUsd: compacted(new Decimal(row.added_usd)),
    removedUsd: compacted(new Decimal(row.removed_usd)),
    returnedUsd: compacted(new Decimal(row.returned_usd)),
    collateralApyPctAtOpen: decimalOrNull(row.collateral_apy_pct_at_open),
    borrowApyPctAtOpen: decimalOrNull(row.borrow_apy_pct_at_open),
    leverageApyPctAtOpen: decimalOrNull(row.leverage_apy_pct_at_open),
    desiredLtvPct: decimalOrNull(row.desired_ltv_pct),
    entryPrice: decimalOrNull(row.entry_price),
    exitPrice: decimalOrNull(row.exit_price),
    equityVaultId: row.equity_vault_id as StrategyId | null,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    closedAtMs: row.closed_at?.getTime() ?? null,
  };
}

function decimalOrNull(value: string | null): Decimal | null {
  return value === null ? null : compacted(new Decimal(value));
}

/** A checksum costs a hash, so it is computed once per wallet instead of once per row. */
function checksummer(): (wallet: string) => Address {
  const known = new Map<string, Address>();
  return (wallet) => {
    const hit = known.get(wallet) ?? getAddress(wallet);
    known.set(wallet, hit);
    return hit;
  };
}
