import type { Catalog } from '../catalog/types.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import { marketsAt } from '../domain/market/at-block.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import { composeWallet } from '../domain/position/wallet.ts';
import type { PositionsPort } from '../resolvers/position/position-services.ts';
import type { ChainId } from '../shared/ids.ts';
import type { VaultOf } from '../transactions/deps.ts';
import type { ReadWallet } from '../transactions/equity/index.ts';

export interface WalletReadingDeps {
  readonly catalog: Catalog;
  readonly positions: PositionsPort;
  readonly composed: (chainId: ChainId) => ComposedChain;
}

/** Combine the reads that builders need of a wallet: its holdings, and the vault that one of its loops belongs to. */
export function createWalletReading({ catalog, positions, composed }: WalletReadingDeps): {
  readonly readWallet: ReadWallet;
  readonly vaultOf: VaultOf;
} {
  return {
    readWallet: async (chainId, user) => {
      const chain = catalog.chain(chainId);
      const reading = (await positions.read(chainId, [user])).get(user);
      if (!chain || !reading) throw new ChainReadError('missing');
      if (reading instanceof Error) throw reading;
      const { holdings, tags } = reading;
      return {
        holdings,
        composed: composeWallet(chain, marketsAt(composed(chainId), holdings.markets), holdings, tags),
      };
    },
    // A candidate of an ambiguous match is listed among the plain positions, and managed as one.
    vaultOf: async (chainId, user, positionId) => {
      const attribution = await positions.vaultOf(chainId, user, positionId);
      return attribution === null || attribution.match === 'ambiguous' ? null : attribution.vaultId;
    },
  };
}
