import type { Catalog } from '../catalog/types.ts';
import type { PositionReader, ProxyHead } from '../chain/positions.ts';
import type { NamedBlock } from '../chain/reading.ts';
import type { ProxyRepository, ProxyScope } from '../database/proxies.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { inTurns } from '../shared/turns.ts';

export interface WalletDirectoryDeps {
  readonly catalog: Catalog;
  readonly readers: ReadonlyMap<ChainId, PositionReader>;
  readonly proxies: ProxyRepository;
  readonly logger: Logger;
}

export interface KnownWallets {
  /** Every wallet that ever opened a position, ordered by address. */
  readonly wallets: readonly Address[];
  /** Block of the reading, so that further reads use the same. */
  readonly block: NamedBlock;
  /** Contracts whose owner cannot be read: they revert, and will revert at the next reading. */
  readonly unreadable: number;
}

export interface WalletDirectory {
  /**
   * Find all wallets of a chain: remembered owners and those of new proxies. At most 4 requests.
   * @throws ChainReadError
   */
  find(chainId: ChainId, signal?: AbortSignal): Promise<KnownWallets>;
}

/**
 * Failures of a contract itself, which the next reading repeats. After any other failure existing wallets would be left out.
 */
export const OWN_FAILURES: readonly string[] = ['reverted', 'malformed'];

/**
 * Create the directory of wallets. FlashLeverage creates one proxy per position with CREATE, so its nonces enumerate all of
 * them, without a scan of logs. Owners of proxies in final blocks are remembered in the database, because a reorganization may
 * change the others. Without the database everything is read from the chain.
 */
export function createWalletDirectory({ catalog, readers, proxies, logger }: WalletDirectoryDeps): WalletDirectory {
  let remembering = true;
  const remember = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const done = await work();
      if (!remembering) logger.info({}, 'proxy owners stored again');
      remembering = true;
      return done;
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError)) throw error;
      if (remembering) logger.warn({ details: error.details }, 'proxy owners not stored');
      remembering = false;
      return otherwise;
    }
  };

  return {
    find: async (chainId, signal) => {
      const chain = catalog.chain(chainId);
      const reader = readers.get(chainId);
      if (!chain || !reader) throw new Error(`chain ${chainId} has no reader of positions`);
      const options = signal ? { signal } : {};
      const head = await reader.readProxyHead(options);
      const scope = scopeOf(chainId, chain.contracts.flashLeverage, head);
      const known = scope ? await remember(() => proxies.read(scope), []) : [];
      const isFinal = ({ nonce }: { readonly nonce: number }) => nonce <= head.finalCount && nonce <= head.proxyCount;
      const owners = new Map<number, Address | null>();
      for await (const row of inTurns(known)) if (isFinal(row)) owners.set(row.nonce, row.owner);
      const wanted = unknown(owners, head);
      const read = await reader.readProxyOwners(wanted, head.block, options);
      for (const [nonce, reason] of read.failures) {
        if (!OWN_FAILURES.includes(reason)) throw new UpstreamUnavailableError('chain', reason);
        owners.delete(nonce);
      }
      const resolved = [...read.owners].map(([nonce, owner]) => ({ nonce, owner, resolvedBlock: head.block.number }));
      if (scope) await remember(() => proxies.save(scope, resolved.filter(isFinal)), undefined);
      for (const { nonce, owner } of resolved) owners.set(nonce, owner);
      const wallets = new Set(owners.values());
      wallets.delete(null);
      return { wallets: sortedByAddress([...wallets] as Address[]), block: head.block, unreadable: read.failures.size };
    },
  };
}

/** Sort thousands of addresses as `byAddress` does, with one lower-casing per address instead of one per comparison. */
function sortedByAddress(wallets: readonly Address[]): Address[] {
  const keyed = wallets.map((wallet) => ({ wallet, key: wallet.toLowerCase() }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return keyed.map(({ wallet }) => wallet);
}

/** Order addresses by number, independent of checksum capitals. */
export function byAddress(a: Address, b: Address): number {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()];
  return first < second ? -1 : first > second ? 1 : 0;
}

function scopeOf(chainId: ChainId, factory: Address, { genesisHash }: ProxyHead): ProxyScope | null {
  return genesisHash === null ? null : { chainId, factory, genesisHash };
}

/** Nonces without a known owner. */
function unknown(known: ReadonlyMap<number, Address | null>, { proxyCount }: ProxyHead): number[] {
  const nonces: number[] = [];
  for (let nonce = 1; nonce <= proxyCount; nonce += 1) if (!known.has(nonce)) nonces.push(nonce);
  return nonces;
}
