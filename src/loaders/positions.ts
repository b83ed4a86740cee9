import DataLoader from 'dataloader';
import type { PositionsPort, WalletReading } from '../resolvers/position/position-services.ts';
import type { Address, ChainId } from '../shared/ids.ts';

/** Reads wallets; `PositionServices` satisfies it. */
export type PositionSource = Pick<PositionsPort, 'read'>;

export interface WalletKey {
  readonly chainId: ChainId;
  /** Checksummed. */
  readonly wallet: Address;
}

export interface PositionLoaders {
  readonly wallet: DataLoader<WalletKey, WalletReading, string>;
}

/** Batch wallet reads: however many wallets are asked, one read per chain. A wallet that cannot be read fails alone. */
export function createPositionLoaders(source: PositionSource): PositionLoaders {
  return {
    wallet: new DataLoader(
      async (keys: readonly WalletKey[]) => {
        const asked = new Map<ChainId, Address[]>();
        for (const { chainId, wallet } of keys) {
          const wallets = asked.get(chainId) ?? [];
          wallets.push(wallet);
          asked.set(chainId, wallets);
        }
        const answers = new Map([...asked].map(([chainId, wallets]) => [chainId, source.read(chainId, wallets)]));
        return Promise.all(
          keys.map(async ({ chainId, wallet }) => {
            try {
              return (await answers.get(chainId))?.get(wallet) ?? new Error('the wallet was not read');
            } catch (error) {
              return error instanceof Error ? error : new Error('wallets cannot be read', { cause: error });
            }
          }),
        );
      },
      { cacheKeyFn: ({ chainId, wallet }) => `${chainId}|${wallet}` },
    ),
  };
}
