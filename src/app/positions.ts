import type { Catalog } from '../catalog/types.ts';
import type { ChainClient } from '../chain/client.ts';
import { createPositionReader } from '../chain/positions.ts';
import type { Database } from '../database/client.ts';
import { createProxyRepository } from '../database/proxies.ts';
import { createRegistrationRepository } from '../database/registrations.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { PositionServices } from '../resolvers/position-services.ts';
import { createPositions, readAllPositions } from '../services/positions.ts';
import { createWalletDirectory } from '../services/wallets.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { ReadPositions } from '../warmers/types.ts';

export interface PositionServicesDeps {
  readonly catalog: Catalog;
  readonly chains: ReadonlyMap<ChainId, ChainClient>;
  readonly db: Database;
  readonly composed: (chainId: ChainId) => ComposedChain;
  readonly logger: Logger;
}

/** Wire everything that reads positions: the services of the request path, and the reading that the TVL warmer takes. */
export function createPositionServices(
  deps: PositionServicesDeps,
): PositionServices & { readonly readPositions: ReadPositions } {
  const { catalog, chains, db, composed, logger } = deps;
  const readers = new Map(
    catalog.chains.flatMap((chain) => {
      const client = chains.get(chain.chainId);
      return client ? [[chain.chainId, createPositionReader({ client, chain })] as const] : [];
    }),
  );
  const directory = createWalletDirectory({ catalog, readers, proxies: createProxyRepository(db), logger });
  const registrations = createRegistrationRepository(db);
  return {
    positions: createPositions({ catalog, readers, directory, registrations, composed }),
    readPositions: (chainId, signal) => readAllPositions({ directory, readers }, chainId, signal),
  };
}
