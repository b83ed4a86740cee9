import { type Expression, type ExpressionBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { getAddress } from 'viem';
import type { Database } from '../../../database/client.ts';
import { notAhead } from '../../../database/drift-sightings.ts';
import type { DriftHistoryTable, Tables } from '../../../database/schema.ts';
import { DRIFT_KINDS, DRIFT_SEVERITIES } from '../../../domain/drift/types.ts';
import type { MarketId, StrategyId } from '../../../shared/ids.ts';
import type { DriftHistoryFilter, DriftRecord, DriftRecordPage, DriftRecordQuery } from '../domain/types.ts';

/** Read a page of records, the latest recorded first. @throws UpstreamUnavailableError */
export async function listDriftRecords(
  db: Database,
  { filter, size, fromEnd, after, before }: DriftRecordQuery,
  nowMs: number,
): Promise<DriftRecordPage> {
  const matching = db.selectFrom('drift_history').where((eb) => eb.and(conditionsOf(eb, filter)));
  const [{ count }, found, ahead] = await Promise.all([
    matching.select(sql<number>`count(*)::integer`.as('count')).executeTakeFirstOrThrow(),
    matching
      .selectAll()
      .$if(after !== undefined, (query) => query.where('id', '<', String(after)))
      .$if(before !== undefined, (query) => query.where('id', '>', String(before)))
      .orderBy('id', fromEnd ? 'asc' : 'desc')
      .limit(size + 1) // one more shows whether there is a further page
      .execute(),
    outside(),
  ]);
  const more = found.length > size;
  const page = found.slice(0, size);
  if (fromEnd) page.reverse();
  return {
    records: page.map((row) => notAhead(toRecord(row), nowMs)),
    totalCount: count,
    hasPreviousPage: fromEnd ? more : ahead,
    hasNextPage: fromEnd ? ahead : more,
  };

  /** Whether entries lie beyond the cursor from which the page is taken. */
  async function outside(): Promise<boolean> {
    const edge = fromEnd ? before : after;
    if (edge === undefined) return false;
    const row = await matching
      .select('id')
      .where('id', fromEnd ? '<=' : '>=', String(edge))
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }
}

function conditionsOf(
  eb: ExpressionBuilder<Tables, 'drift_history'>,
  { chainIds, kinds, severities, wallets, marketIds, vaultIds, isGone }: DriftHistoryFilter,
): Expression<SqlBool>[] {
  const among = (column: 'kind' | 'severity' | 'wallet' | 'market_id' | 'vault_id', values?: readonly string[]) =>
    values === undefined ? [] : [sql<boolean>`${eb.ref(column)} = any(${[...values]}::text[])`];
  return [
    sql<boolean>`chain_id = any(${[...chainIds]}::integer[])`,
    // A later version may have written others.
    ...among('kind', kinds ?? DRIFT_KINDS),
    ...among('severity', severities ?? DRIFT_SEVERITIES),
    ...among(
      'wallet',
      wallets?.map((wallet) => wallet.toLowerCase()),
    ),
    ...among(
      'market_id',
      marketIds?.map((id) => id.toLowerCase()),
    ),
    ...among(
      'vault_id',
      vaultIds?.map((id) => id.toLowerCase()),
    ),
    ...(isGone === undefined ? [] : [eb('gone_at', isGone ? 'is not' : 'is', null)]),
  ];
}

function toRecord(row: Selectable<DriftHistoryTable>): DriftRecord {
  return {
    id: BigInt(row.id),
    kind: row.kind,
    severity: row.severity,
    chainId: row.chain_id,
    wallet: getAddress(row.wallet),
    positionIndex: row.position_index,
    marketId: row.market_id as MarketId,
    vaultId: row.vault_id as StrategyId | null,
    firstSeenMs: row.first_seen.getTime(),
    lastSeenMs: row.last_seen.getTime(),
    goneMs: row.gone_at?.getTime() ?? null,
  };
}
