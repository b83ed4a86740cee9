import { type RawBuilder, sql } from 'kysely';
import { type Drift, type DriftOccurrence, type KnownDrift, MAX_EARLIER_DRIFT } from '../domain/drift/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved } from './observed.ts';
import { SAMPLE_RETENTION_DAYS } from './samples.ts';

/** The disagreements that a reading of a chain found. */
export interface DriftReading {
  readonly chainId: ChainId;
  /** Time at which the reading began, ms. */
  readonly atMs: number;
  readonly found: readonly Pick<Drift, 'wallet' | 'positionIndex' | 'kind' | 'severity' | 'marketId' | 'vaultId'>[];
  /** Wallets that the reading covers: these, or all but these. Disagreements of other wallets stay as they are. */
  readonly wallets: { readonly only: readonly Address[] } | { readonly except: readonly Address[] };
}

export interface DriftSightings {
  /** Read the earlier sightings on a chain, or of some of its wallets, by `driftKey`, in one statement. */
  known(chainId: ChainId, wallets?: readonly Address[]): Promise<ReadonlyMap<string, KnownDrift>>;
  /**
   * Store a reading, in one transaction. A disagreement that is found is open; one that is not found is gone. Readings may be
   * stored in any order and by several processes: an older one does not change the records of a newer one.
   */
  record(reading: DriftReading): Promise<void>;
  /** Remove records that have been gone for 400 days, and those from the future; return their number. */
  prune(): Promise<number>;
}

const KEPT_MS = SAMPLE_RETENTION_DAYS * 86_400_000;
/** Of the advisory locks of Postgres, beside the id of the chain. */
const LOCK = 1_784_101_437;

const KEY = sql<string>`wallet || '-' || position_index || '-' || kind`;

/** Create the repository of the sightings of drift. Every call may throw `UpstreamUnavailableError`. */
export function createDriftSightingRepository(db: Database, clock: Clock): DriftSightings {
  return {
    known: (chainId, wallets) => known(db, chainId, wallets, clock.now()),
    record: (reading) =>
      db.transaction().execute(async (transaction) => {
        // Two processes store one after the other, so that neither reopens a record that the other has just closed.
        await sql`select pg_advisory_xact_lock(${LOCK}::integer, ${reading.chainId}::integer)`.execute(transaction);
        for (const statement of statementsOf(reading)) await statement.execute(transaction);
      }),
    prune: async () => {
      const latest = latestObserved(clock.now());
      const removed = await db
        .deleteFrom('drift_history')
        .where(({ or, eb }) =>
          or([
            eb('gone_at', '<', new Date(clock.now() - KEPT_MS)),
            eb('gone_at', '>', latest),
            eb('last_seen', '>', latest),
          ]),
        )
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

async function known(
  db: Database,
  chainId: ChainId,
  wallets: readonly Address[] | undefined,
  nowMs: number,
): Promise<ReadonlyMap<string, KnownDrift>> {
  const ofWallets = wallets === undefined ? sql`true` : sql`wallet = any(${lower(wallets)}::text[])`;
  // A version before stores first sightings in `drift_sightings` only.
  const { rows } = await sql<{ key: string; first_seen: Date; last_seen: Date | null; gone_at: Date | null }>`
    select key, first_seen, last_seen, gone_at from (
      select ${KEY} as key, first_seen, last_seen, gone_at,
        row_number() over (partition by wallet, position_index, kind, gone_at is null order by gone_at desc) as rank
      from drift_history where chain_id = ${chainId}::integer and ${ofWallets}
    ) as seen where rank <= ${MAX_EARLIER_DRIFT}
    union all
    select key, first_seen, null, null from drift_sightings where chain_id = ${chainId}::integer and ${ofWallets}
    order by gone_at desc nulls last`.execute(db);
  const found = new Map<string, { firstSeenMs: number | null; earlier: DriftOccurrence[] }>();
  for (const { key, first_seen, last_seen, gone_at } of rows) {
    const one = found.get(key) ?? { firstSeenMs: null, earlier: [] };
    found.set(key, one);
    const [firstSeenMs, goneMs] = [first_seen.getTime(), gone_at?.getTime()];
    if (goneMs === undefined) one.firstSeenMs = Math.min(one.firstSeenMs ?? firstSeenMs, firstSeenMs);
    else one.earlier.push(notAhead({ firstSeenMs, lastSeenMs: last_seen?.getTime() ?? goneMs, goneMs }, nowMs));
  }
  return found;
}

/** A time in the future was written by a process with a wrong clock, and counts as now. */
export function notAhead<
  T extends { readonly firstSeenMs: number; readonly lastSeenMs: number; readonly goneMs: number | null },
>(times: T, nowMs: number): T {
  return {
    ...times,
    firstSeenMs: Math.min(times.firstSeenMs, nowMs),
    lastSeenMs: Math.min(times.lastSeenMs, nowMs),
    goneMs: times.goneMs === null ? null : Math.min(times.goneMs, nowMs),
  };
}

/** The statements that store a reading, in the order in which they have to run. */
function statementsOf({ chainId, atMs, found, wallets }: DriftReading): readonly RawBuilder<unknown>[] {
  const at = sql`${new Date(atMs)}::timestamptz`;
  const latest = sql`${latestObserved(atMs)}::timestamptz`;
  const chain = sql`${chainId}::integer`;
  const isRead =
    'only' in wallets
      ? sql`wallet = any(${lower(wallets.only)}::text[])`
      : sql`not (wallet = any(${lower(wallets.except)}::text[]))`;
  const seen = sql`unnest(
      ${lower(found.map(({ wallet }) => wallet))}::text[],
      ${found.map(({ positionIndex }) => positionIndex)}::integer[],
      ${found.map(({ kind }) => kind)}::text[],
      ${found.map(({ severity }) => severity)}::text[],
      ${found.map(({ marketId }) => marketId.toLowerCase())}::text[],
      ${found.map(({ vaultId }) => vaultId)}::text[]
    ) as seen (wallet, position_index, kind, severity, market_id, vault_id)`;
  const same = (a: string, b: string) =>
    sql.raw(`${a}.wallet = ${b}.wallet and ${a}.position_index = ${b}.position_index and ${a}.kind = ${b}.kind`);
  const isNewer = sql.raw('excluded.last_seen >= drift_history.last_seen');
  return [
    // A newer reading has ended the disagreement, so this one does not reopen it.
    sql`
      insert into drift_history
        (chain_id, wallet, position_index, kind, severity, market_id, vault_id, first_seen, last_seen)
      select ${chain}, seen.wallet, seen.position_index, seen.kind, severity, market_id, vault_id,
        least(${at}, before.first_seen), ${at}
      from ${seen}
      left join drift_sightings as before on before.chain_id = ${chain}
        and before.key = seen.wallet || '-' || seen.position_index || '-' || seen.kind
      where not exists (
        select from drift_history as newer where newer.chain_id = ${chain} and ${same('newer', 'seen')}
          and newer.gone_at > ${at} and newer.gone_at <= ${latest}
      )
      order by least(${at}, before.first_seen), seen.wallet, seen.position_index
      on conflict (chain_id, wallet, position_index, kind) where gone_at is null do update set
        first_seen = least(drift_history.first_seen, excluded.first_seen),
        last_seen = case when drift_history.last_seen > ${latest} then excluded.last_seen
          else greatest(drift_history.last_seen, excluded.last_seen) end,
        severity = case when ${isNewer} then excluded.severity else drift_history.severity end,
        market_id = case when ${isNewer} then excluded.market_id else drift_history.market_id end,
        vault_id = case when ${isNewer} then excluded.vault_id else drift_history.vault_id end`,
    sql`
      update drift_history as had
      set gone_at = ${at}, first_seen = least(first_seen, ${at}), last_seen = least(last_seen, ${at})
      where chain_id = ${chain} and gone_at is null and ${isRead}
        and (last_seen <= ${at} or last_seen > ${latest})
        and not exists (select from ${seen} where ${same('seen', 'had')})`,
    sql`
      delete from drift_sightings as before
      where chain_id = ${chain} and ${isRead}
        and not exists (
          select from drift_history where chain_id = ${chain} and gone_at is null and ${KEY} = before.key
        )`,
    sql`
      insert into drift_sightings (chain_id, key, wallet, first_seen)
      select chain_id, ${KEY}, wallet, first_seen from drift_history where chain_id = ${chain} and gone_at is null
      on conflict (chain_id, key) do update set first_seen = excluded.first_seen
      where drift_sightings.first_seen > excluded.first_seen`,
  ];
}

function lower(wallets: readonly Address[]): string[] {
  return wallets.map((wallet) => wallet.toLowerCase());
}
