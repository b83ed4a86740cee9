import type { Catalog } from '../catalog/types.ts';
import type { ChainClient } from '../chain/client.ts';
import { createPositionReader } from '../chain/positions.ts';
import type { Database } from '../database/client.ts';
import { createPortfolioSampleRepository } from '../database/portfolio-samples.ts';
import { createProxyRepository } from '../database/proxies.ts';
import { createRegistrationRepository } from '../database/registrations.ts';
import { createSightingRepository } from '../database/sightings.ts';
import type { ChainFacts } from '../domain/facts.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { OpsServices } from '../resolvers/ops-services.ts';
import type { PositionServices } from '../resolvers/position-services.ts';
import { createPortfolios } from '../services/portfolios.ts';
import { createPositions, readAllPositions } from '../services/positions.ts';
import { createWalletDirectory } from '../services/wallets.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import type { ReadPositions } from '../warmers/types.ts';

export interface PositionServicesDeps {
  readonly catalog: Catalog;
  readonly chains: ReadonlyMap<ChainId, ChainClient>;
  readonly db: Database;
  readonly composed: (chainId: ChainId) => ComposedChain;
  readonly facts: (chainId: ChainId) => ChainFacts;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** How long a report of all portfolios is kept, seconds. */
  readonly portfoliosStaleAfterSec: number;
}

/** Wire everything that reads positions: the services of the request path, and the reading that the TVL warmer takes. */
export function createPositionServices(
  deps: PositionServicesDeps,
): PositionServices & OpsServices & { readonly readPositions: ReadPositions } {
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
    ops: createPortfolios({
      ...deps,
      readers,
      directory,
      registrations,
      sightings: createSightingRepository(db),
      samples: createPortfolioSampleRepository(db),
      staleAfterSec: deps.portfoliosStaleAfterSec,
    }),
    readPositions: (chainId, signal) => readAllPositions({ directory, readers }, chainId, signal),
  };
}
