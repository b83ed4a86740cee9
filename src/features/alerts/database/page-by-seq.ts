import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AlertPageQuery } from '../domain/records.ts';
import type { TablesWithAlerts } from './tables.ts';

/** Read a page of a table with a column `seq`, the newest first. */
export async function pageBySeq<Row>(
  db: Kysely<TablesWithAlerts>,
  table: 'alerts' | 'alert_deliveries',
  matching: RawBuilder<unknown>,
  { size, fromEnd, after, before }: Omit<AlertPageQuery, 'ownerId'>,
) {
  const from = sql.table(table);
  const below = after === undefined ? sql`true` : sql`seq < ${String(after)}::bigint`;
  const above = before === undefined ? sql`true` : sql`seq > ${String(before)}::bigint`;
  const edge = fromEnd ? before : after;
  const beyond =
    edge === undefined
      ? sql`false`
      : fromEnd
        ? sql`seq <= ${String(edge)}::bigint`
        : sql`seq >= ${String(edge)}::bigint`;
  const [{ rows: found }, { rows: counts }] = await Promise.all([
    // One more row shows whether there is a further page.
    sql<Row>`
      select * from ${from} where ${matching} and ${below} and ${above}
      order by seq ${fromEnd ? sql`asc` : sql`desc`} limit ${size + 1}`.execute(db),
    sql<{ count: number; ahead: boolean }>`
      select count(*)::integer as count, coalesce(bool_or(${beyond}), false) as ahead
      from ${from} where ${matching}`.execute(db),
  ]);
  const [{ count, ahead } = { count: 0, ahead: false }] = counts;
  const more = found.length > size;
  const rows = found.slice(0, size);
  if (fromEnd) rows.reverse();
  return {
    rows,
    totalCount: count,
    hasPreviousPage: fromEnd ? more : ahead,
    hasNextPage: fromEnd ? ahead : more,
  };
}
