import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { Catalog } from '../src/catalog/index.ts';
import { createDatabase, type Database } from '../src/database/client.ts';
import type { Registration } from '../src/database/registrations.ts';
import type { PositionRegistrationsTable } from '../src/database/schema.ts';
import type { PortfolioSample } from '../src/domain/portfolio/report.ts';
import { createAlertRepository } from '../src/features/alerts/database/alerts.ts';
import { withAlertTables } from '../src/features/alerts/database/tables.ts';
import type { NewAlertRecord } from '../src/features/alerts/domain/records.ts';
import type { Decimal } from '../src/shared/decimal.ts';
import { seededDeadEvent } from './seed/alerts.ts';
import { PAST_DAYS, type SeededPast, seededPasts } from './seed/market-samples.ts';
import { seededSamples } from './seed/portfolio-samples.ts';
import { seededRegistrations } from './seed/registrations.ts';

/** Rows per statement: a statement takes at most 65,535 parameters, and a row has 19. */
const BATCH = 2_000;

const COLUMNS = [
  'market_id',
  'is_open',
  'deposited_usd',
  'added_usd',
  'removed_usd',
  'returned_usd',
  'collateral_apy_pct_at_open',
  'borrow_apy_pct_at_open',
  'leverage_apy_pct_at_open',
  'desired_ltv_pct',
  'entry_price',
  'exit_price',
  'equity_vault_id',
  'created_at',
  'updated_at',
  'closed_at',
] as const satisfies readonly (keyof PositionRegistrationsTable)[];

const HOUR_MS = 3_600_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Wait for a Postgres that was just started on a busy machine. */
const CONNECT_TIMEOUT_MS = 30_000;

/** Fill a migrated database with the registrations of the app in the local world. */
export async function seedDatabase(url: string, catalog: Catalog, nowMs: number): Promise<void> {
  const db = createDatabase({
    url,
    poolSize: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  try {
    await seedRegistrations(db, seededRegistrations(catalog, nowMs));
    await seedPortfolioSamples(db, seededSamples(catalog, nowMs));
    await seedMarketSamples(db, seededPasts(catalog), nowMs);
  } finally {
    await db.destroy();
  }
}

/** Register the alerts of the local world. Those of an earlier start get the address of the present receiver. */
export async function seedAlerts(url: string, alerts: readonly NewAlertRecord[], nowMs: number): Promise<void> {
  const db = createDatabase({
    url,
    poolSize: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const repository = createAlertRepository(db, { now: () => nowMs });
  const tables = withAlertTables(db);
  try {
    for (const alert of alerts) {
      const known = await tables
        .updateTable('alerts')
        .set({ url: alert.url })
        .where('id', '=', alert.id)
        .executeTakeFirst();
      if (known.numUpdatedRows > 0n) continue;
      await repository.insert(alert, Number.POSITIVE_INFINITY);
      if (alert !== alerts[0]) continue;
      await repository.announce(seededDeadEvent(alert));
      await tables
        .updateTable('alert_deliveries')
        .set({ status: 'dead', attempts: 12, failure: 'unreachable', finished_at: new Date(nowMs) })
        .execute();
    }
  } finally {
    await db.destroy();
  }
}

/** Register positions as the app would. A row of the same chain, wallet and index is replaced: repeated seeding changes nothing. */
export async function seedRegistrations(db: Database, registrations: readonly Registration[]): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (let start = 0; start < registrations.length; start += BATCH) {
      const rows = registrations.slice(start, start + BATCH).map(toRow);
      await transaction
        .insertInto('position_registrations')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['chain_id', 'wallet', 'position_index']).doUpdateSet(excludedValues),
        )
        .execute();
    }
  });
}

/** Store totals as if the service had run before. Existing hours stay. */
async function seedPortfolioSamples(db: Database, samples: readonly PortfolioSample[]): Promise<void> {
  await db
    .insertInto('portfolio_samples')
    .values(
      samples.map((sample) => ({
        chain_id: sample.chainId,
        hour: new Date(Math.floor(sample.atMs / HOUR_MS) * HOUR_MS),
        sampled_at: new Date(sample.atMs),
        positions: sample.positions,
        deposited_usd: sample.depositedUsd.toFixed(),
        net_value_usd: sample.netValueUsd.toFixed(),
        incentives_usd: sample.incentivesUsd.toFixed(),
        total_usd: sample.totalUsd.toFixed(),
      })),
    )
    .onConflict((conflict) => conflict.columns(['chain_id', 'hour']).doNothing())
    .execute();
}

/**
 * Store prices and rates as if the service had run before, from the newest hour of each market on. Made in Postgres, because they
 * are many.
 */
async function seedMarketSamples(db: Database, pasts: readonly SeededPast[], nowMs: number): Promise<void> {
  const column = (read: (past: SeededPast) => string | number) => pasts.map((past) => String(read(past)));
  await sql`
    insert into market_samples (chain_id, market_id, hour, sampled_at, price, borrow_rate)
    select chain_id, market_id, date_trunc('hour', at, 'UTC'), at,
      round(price * (power(1 + growth, -age / 365) * exp(swing * (1 - exp(-age)) *
        (0.6 * sin(age / 17 + phase) + 0.4 * sin(age / 3.1 + 2 * phase))))::numeric),
      round(borrow_rate * (1 + 0.2 * sin(age / 5 + phase))::numeric)
    from unnest(
      ${column(({ chainId }) => chainId)}::integer[], ${column(({ marketId }) => marketId)}::text[],
      ${column(({ price }) => String(price))}::numeric[], ${column(({ borrowRate }) => String(borrowRate))}::numeric[],
      ${column(({ growth }) => growth)}::float8[], ${column(({ swing }) => swing)}::float8[],
      ${column(({ phase }) => phase)}::float8[]
    ) as past (chain_id, market_id, price, borrow_rate, growth, swing, phase),
    lateral (select hours / 24.0::float8 as age, ${new Date(nowMs)}::timestamptz - hours * interval '1 hour' as at
      from generate_series(1, ${PAST_DAYS * 24}::integer) as hours) as hourly,
    lateral (select max(hour) as hour from market_samples as known
      where known.chain_id = past.chain_id and known.market_id = past.market_id) as newest
    where newest.hour is null or date_trunc('hour', at, 'UTC') > newest.hour
    on conflict do nothing`.execute(db);
}

/** Take over every column of the row that could not be inserted. */
function excludedValues(): Record<string, RawBuilder<unknown>> {
  return Object.fromEntries(COLUMNS.map((column) => [column, sql.ref(`excluded.${column}`)]));
}

function toRow(registration: Registration): Insertable<PositionRegistrationsTable> {
  return {
    wallet: registration.wallet.toLowerCase(),
    chain_id: registration.chainId,
    market_id: registration.marketId,
    position_index: registration.positionIndex,
    is_open: registration.isOpen,
    deposited_usd: registration.depositedUsd.toFixed(),
    added_usd: registration.addedUsd.toFixed(),
    removed_usd: registration.removedUsd.toFixed(),
    returned_usd: registration.returnedUsd.toFixed(),
    collateral_apy_pct_at_open: textOrNull(registration.collateralApyPctAtOpen),
    borrow_apy_pct_at_open: textOrNull(registration.borrowApyPctAtOpen),
    leverage_apy_pct_at_open: textOrNull(registration.leverageApyPctAtOpen),
    desired_ltv_pct: textOrNull(registration.desiredLtvPct),
    entry_price: textOrNull(registration.entryPrice),
    exit_price: textOrNull(registration.exitPrice),
    equity_vault_id: registration.equityVaultId,
    created_at: new Date(registration.createdAtMs),
    updated_at: new Date(registration.updatedAtMs),
    closed_at: registration.closedAtMs === null ? null : new Date(registration.closedAtMs),
  };
}

function textOrNull(value: Decimal | null): string | null {
  return value === null ? null : value.toFixed();
}
