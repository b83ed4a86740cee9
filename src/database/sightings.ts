import { sql } from 'kysely';
import type { Address, ChainId } from '../shared/ids.ts';
import type { Database } from './client.ts';

/** A sighting by its key. Its wallet decides whether a later reading that lacks it may forget it. */
export interface Sighting {
  readonly key: string;
  readonly wallet: Address;
}

export interface SightingRepository {
  /** Read the first sightings of a chain or of some of its wallets, in one statement. */
  firstSeen(chainId: ChainId, wallets?: readonly Address[]): Promise<ReadonlyMap<string, number>>;
  /** Store new sightings, in one statement. A known sighting keeps its earlier time. */
  remember(chainId: ChainId, sightings: readonly Sighting[], atMs: number): Promise<void>;
  /** Delete the sightings of a chain except these keys and those of these wallets, in one statement. */
  forgetAllBut(chainId: ChainId, keys: readonly string[], wallets: readonly Address[]): Promise<void>;
}

/** Create the repository of first sightings of disagreements. Every call may throw `UpstreamUnavailableError`. */
export function createSightingRepository(db: Database): SightingRepository {
  return {
    firstSeen: async (chainId, wallets) => {
      let query = db.selectFrom('drift_sightings').select(['key', 'first_seen']).where('chain_id', '=', chainId);
      if (wallets) query = query.where('wallet', '=', sql<string>`any(${lower(wallets)}::text[])`);
      const rows = await query.execute();
      return new Map(rows.map(({ key, first_seen }) => [key, first_seen.getTime()]));
    },
    remember: async (chainId, sightings, atMs) => {
      if (sightings.length === 0) return;
      await sql`
        insert into drift_sightings (chain_id, key, wallet, first_seen)
        select ${chainId}::integer, key, wallet, ${new Date(atMs)}::timestamptz
        from unnest(
          ${sightings.map(({ key }) => key)}::text[],
          ${lower(sightings.map(({ wallet }) => wallet))}::text[]
        ) as met (key, wallet)
        on conflict (chain_id, key) do update set first_seen = excluded.first_seen
        where drift_sightings.first_seen > excluded.first_seen`.execute(db);
    },
    forgetAllBut: async (chainId, keys, wallets) => {
      await sql`
        delete from drift_sightings
        where chain_id = ${chainId}::integer
          and not (key = any(${[...keys]}::text[]))
          and not (wallet = any(${lower(wallets)}::text[]))`.execute(db);
    },
  };
}

function lower(wallets: readonly Address[]): string[] {
  return wallets.map((wallet) => wallet.toLowerCase());
}
