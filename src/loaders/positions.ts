import DataLoader from 'dataloader';
import type { Portfolio, RegisteredRow } from '../domain/portfolio/types.ts';
import type { OpsPort, ServedReport } from '../resolvers/ops/ops-services.ts';
import type { PositionsPort, WalletReading } from '../resolvers/position/position-services.ts';
import type { LeveragePort } from '../resolvers/transaction/partner-services.ts';
import type { Address, ChainId } from '../shared/ids.ts';

/** Reads wallets; `Services` satisfies it. */
export interface PositionSources {
  readonly positions: Pick<PositionsPort, 'read' | 'registered'>;
  readonly leverage: Pick<LeveragePort, 'proxyOwners'>;
  readonly ops: Pick<OpsPort, 'live' | 'report'>;
}

export interface WalletKey {
  readonly chainId: ChainId;
  /** Checksummed. */
  readonly wallet: Address;
}

type WalletLoader<T> = DataLoader<WalletKey, T, string>;

export interface PositionLoaders {
  readonly wallet: WalletLoader<WalletReading>;
  /** Rows of the register; fails alone when they cannot be read. */
  readonly registered: WalletLoader<readonly RegisteredRow[]>;
  /** Owner of a position by the address of its contract; `null` = the address is not a position's contract. */
  readonly proxyOwner: WalletLoader<{ readonly owner: Address; readonly positionId: number } | null>;
  readonly portfolio: WalletLoader<Portfolio>;
  /** All wallets of a chain: one version of the report in everything that a context answers. */
  readonly report: DataLoader<ChainId, ServedReport>;
}

/**
 * Create the loaders of wallets. For any number of wallets there is one read per chain and kind. A wallet that cannot be read
 * fails alone.
 */
export function createPositionLoaders({ positions, leverage, ops }: PositionSources): PositionLoaders {
  return {
    wallet: perChain((chainId, wallets) => positions.read(chainId, wallets)),
    registered: perChain((chainId, wallets) => positions.registered(chainId, wallets)),
    proxyOwner: perChain((chainId, wallets) => leverage.proxyOwners(chainId, wallets)),
    portfolio: perChain((chainId, wallets) => ops.live(chainId, wallets)),
    report: new DataLoader((chainIds: readonly ChainId[]) =>
      Promise.all(chainIds.map((chainId) => ops.report(chainId).catch(asError))),
    ),
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('wallets cannot be read', { cause: error });
}

function perChain<T>(
  read: (chainId: ChainId, wallets: readonly Address[]) => Promise<ReadonlyMap<Address, T | Error>>,
): WalletLoader<T> {
  return new DataLoader(
    async (keys: readonly WalletKey[]) => {
      const byChain = new Map<ChainId, Address[]>();
      for (const { chainId, wallet } of keys) {
        const wallets = byChain.get(chainId) ?? [];
        wallets.push(wallet);
        byChain.set(chainId, wallets);
      }
      const answers = new Map([...byChain].map(([chainId, wallets]) => [chainId, read(chainId, wallets)]));
      return Promise.all(
        keys.map(async ({ chainId, wallet }) => {
          try {
            const answer = (await answers.get(chainId))?.get(wallet);
            return answer === undefined ? new Error('the wallet was not read') : answer;
          } catch (error) {
            return asError(error);
          }
        }),
      );
    },
    { cacheKeyFn: ({ chainId, wallet }) => `${chainId}|${wallet}` },
  );
}
