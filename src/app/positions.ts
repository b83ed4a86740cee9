import type { Catalog } from '../catalog/types.ts';
import { createPositionReader } from '../chain/positions.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { Database } from '../database/client.ts';
import type { DriftSightings } from '../database/drift-sightings.ts';
import { createPartSales } from '../database/history/part-sales.ts';
import type { PortfolioSampleRepository } from '../database/portfolio-samples.ts';
import { createProxyRepository } from '../database/proxies.ts';
import { createRegistrationRepository } from '../database/registrations.ts';
import type { ChainFacts } from '../domain/facts.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { OpsServices } from '../resolvers/ops/ops-services.ts';
import type { PositionServices } from '../resolvers/position/position-services.ts';
import { createPortfolios } from '../services/portfolios.ts';
import { createPositions, readAllPositions } from '../services/positions.ts';
import { createWalletDirectory } from '../services/wallets.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import type { ReadPositions } from '../warmers/types.ts';
import { forRequests, inTime } from './database-waits.ts';

export interface PositionServicesDeps {
  readonly catalog: Catalog;
  readonly nodes: ReadonlyMap<ChainId, ChainNodes>;
  /** The same nodes for waiting readers. */
  readonly readerNodes: ReadonlyMap<ChainId, ChainNodes>;
  readonly db: Database;
  readonly samples: PortfolioSampleRepository;
  readonly drift: DriftSightings;
  readonly composed: (chainId: ChainId) => ComposedChain;
  readonly facts: (chainId: ChainId) => ChainFacts;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Timers of short waits within a request. */
  readonly waits: Timers;
  readonly logger: Logger;
  /** How long a report of all portfolios is cached, seconds. */
  readonly portfoliosStaleAfterSec: number;
}

export interface WiredPositions extends PositionServices, Pick<OpsServices, 'ops'> {
  /** The reading for the TVL warmer. */
  readonly readPositions: ReadPositions;
}

/** Wire the readers of positions: the services of requests, and the readings for builds and for the TVL warmer. */
export function createPositionServices(deps: PositionServicesDeps): WiredPositions {
  const { catalog, db, composed, clock, logger } = deps;
  const readersOf = (all: ReadonlyMap<ChainId, ChainNodes>) =>
    new Map(
      catalog.chains.flatMap((chain) => {
        const nodes = all.get(chain.chainId);
        return nodes ? [[chain.chainId, createPositionReader({ nodes, chain, clock })] as const] : [];
      }),
    );
  const { read, save } = createProxyRepository(db);
  // A run that sums all positions does not wait for a slow database.
  const proxies = { read: inTime(deps.timers, read), save: inTime(deps.timers, save) };
  const registrations = createRegistrationRepository(db);
  const backed = (nodes: ReadonlyMap<ChainId, ChainNodes>) => {
    const readers = readersOf(nodes);
    return { readers, directory: createWalletDirectory({ catalog, readers, proxies, logger }) };
  };
  const forReaders = backed(deps.readerNodes);
  const forWarmers = backed(deps.nodes);
  return {
    positions: createPositions({
      ...forReaders,
      catalog,
      registrations: { byWallets: forRequests(deps.timers, registrations.byWallets) },
      composed,
      waits: deps.waits,
    }),
    ops: createPortfolios({
      ...deps,
      ...forReaders,
      registrations,
      partSales: createPartSales(db),
      staleAfterSec: deps.portfoliosStaleAfterSec,
    }),
    readPositions: (chainId, signal) => readAllPositions(forWarmers, chainId, signal),
  };
}
