import { sql } from 'kysely';
import { getAddress } from 'viem';
import type { Address, ChainId, Hex } from '../shared/ids.ts';
import { inTurns } from '../shared/turns.ts';
import type { Database } from './client.ts';

/** The factory contract and its chain. The genesis hash separates chains of the same id. */
export interface ProxyScope {
  readonly chainId: ChainId;
  readonly factory: Address;
  readonly genesisHash: Hex;
}

/** Owner of the contract that the factory created with a nonce. */
export interface ResolvedProxy {
  readonly nonce: number;
  /** Checksummed; `null` = it has no owner. */
  readonly owner: Address | null;
  /** Block at which this owner was first read. */
  readonly resolvedBlock: bigint;
}

export interface ProxyRepository {
  /** Read all remembered owners, ordered by nonce, in one statement. */
  read(scope: ProxyScope): Promise<readonly ResolvedProxy[]>;
  /** Store owners, in one statement. A known owner keeps its first block; a different owner replaces it. */
  save(scope: ProxyScope, proxies: readonly ResolvedProxy[]): Promise<void>;
}

/** Create the repository of the owners of position proxies. Every call may throw `UpstreamUnavailableError`. */
export function createProxyRepository(db: Database): ProxyRepository {
  return {
    read: (scope) => read(db, scope),
    save: async (scope, proxies) => {
      if (proxies.length > 0) await upsert(db, scope, proxies);
    },
  };
}

async function read(db: Database, { chainId, factory, genesisHash }: ProxyScope): Promise<readonly ResolvedProxy[]> {
  const rows = await db
    .selectFrom('position_proxies')
    .select(['nonce', 'owner', 'resolved_block'])
    .where('chain_id', '=', chainId)
    .where('factory', '=', factory.toLowerCase())
    .where('genesis_hash', '=', genesisHash)
    .orderBy('nonce')
    .execute();
  const known = new Map<string, Address>();
  const proxies: ResolvedProxy[] = [];
  for await (const { nonce, owner, resolved_block } of inTurns(rows)) {
    const wallet = owner === null ? null : checksummed(owner, known);
    proxies.push({ nonce, owner: wallet, resolvedBlock: BigInt(resolved_block) });
  }
  return proxies;
}

async function upsert(db: Database, scope: ProxyScope, proxies: readonly ResolvedProxy[]): Promise<void> {
  await sql`
    insert into position_proxies (chain_id, factory, genesis_hash, nonce, owner, resolved_block)
    select ${scope.chainId}::integer, ${scope.factory.toLowerCase()}, ${scope.genesisHash}, *
    from unnest(
      ${proxies.map(({ nonce }) => nonce)}::integer[],
      ${proxies.map(({ owner }) => owner?.toLowerCase() ?? null)}::text[],
      ${proxies.map(({ resolvedBlock }) => resolvedBlock.toString())}::bigint[]
    )
    on conflict (chain_id, factory, genesis_hash, nonce) do update set
      owner = excluded.owner,
      resolved_block = excluded.resolved_block
    where position_proxies.owner is distinct from excluded.owner`.execute(db);
}

/** A checksum costs a hash, so it is computed once per wallet instead of once per proxy. */
function checksummed(owner: string, known: Map<string, Address>): Address {
  const hit = known.get(owner) ?? getAddress(owner);
  known.set(owner, hit);
  return hit;
}
