import type { Catalog } from '../catalog/types.ts';
import type { ChainReader } from '../chain/reader.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { Upstreams } from '../upstreams/index.ts';
import { createBorrowHistoryWarmer } from './borrow-history.ts';
import { createOnchainApyWarmer, createProviderApyWarmer, tokensWithSource } from './collateral-apy.ts';
import { createDeploymentWarmer } from './deployment.ts';
import { createExitLiquidityWarmer } from './exit-liquidity.ts';
import { createIncentiveHistoryWarmer } from './incentive-history.ts';
import { createIncentivesWarmer } from './incentives.ts';
import { createLendingStateWarmer } from './lending-state.ts';
import { createPricesWarmer } from './prices.ts';
import type { Snapshot } from './refresh.ts';
import { createSharedLiquidityWarmer } from './shared-liquidity.ts';
import { createStableIndexWarmer } from './stable-index.ts';
import { createTvlWarmer } from './tvl.ts';
import {
  type Beside,
  type Cadences,
  DEFAULT_CADENCES,
  type ReadApys,
  type ReadBorrowHistory,
  type ReadCampaigns,
  type ReadPositions,
  type RecordApys,
  type RecordCampaigns,
  type RecordMarkets,
  type RecordSamples,
  type RecordTvl,
  type Warmer,
} from './types.ts';

export * from './runner/runner.ts';
export * from './types.ts';

export type WarmerUpstreams = Pick<
  Upstreams,
  'yieldmarket' | 'aggregator' | 'incentivemarket' | 'stableIndex' | 'incentives' | 'prices' | 'indexer' | 'routes'
>;

export interface WarmersDeps {
  readonly catalog: Catalog;
  readonly chainReaders: ReadonlyMap<ChainId, ChainReader>;
  readonly upstreams: WarmerUpstreams;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cadences?: Partial<Cadences> | undefined;
  readonly recordSamples: RecordSamples;
  readonly recordMarkets: RecordMarkets;
  readonly readBorrowHistory: ReadBorrowHistory;
  readonly recordCampaigns: RecordCampaigns;
  readonly readCampaigns: ReadCampaigns;
  readonly recordApys: RecordApys;
  readonly readApys: ReadApys;
  readonly readPositions: ReadPositions;
  readonly recordTvl: RecordTvl;
  /** Absent: runs wait for their writes. */
  readonly beside?: Beside | undefined;
}

/**
 * Create a warmer for every source that the catalog uses on each chain. Shared liquidity needs a public allocator on the
 * chain.
 * @throws Error for a chain of the catalog without a reader
 */
export function createWarmers(deps: WarmersDeps): readonly Warmer[] {
  const { catalog, chainReaders, upstreams } = deps;
  const cadences = { ...DEFAULT_CADENCES, ...deps.cadences };
  const perChain = catalog.chains.flatMap((chain): Warmer[] => {
    const reader = chainReaders.get(chain.chainId);
    if (!reader) throw new Error(`Chain ${chain.chainId} (${chain.name}) has no reader.`);
    const providers = [
      [upstreams.yieldmarket, cadences.yieldmarketApy],
      [upstreams.aggregator, cadences.slowApy],
      [upstreams.incentivemarket, cadences.slowApy],
    ] as const;
    const used = providers.filter(([port]) => tokensWithSource(chain, port.name).length > 0);
    return [
      createLendingStateWarmer(deps, chain, reader, cadences.lendingState),
      createDeploymentWarmer(deps, chain, reader, cadences.deployment),
      ...used.map(([port, everySec]) => createProviderApyWarmer(deps, chain, port, everySec)),
      ...(tokensWithSource(chain, 'onchain').length > 0
        ? [createOnchainApyWarmer(deps, chain, reader, cadences.onchainApy)]
        : []),
      createIncentivesWarmer(deps, chain, upstreams.incentives, cadences.incentives),
      createIncentiveHistoryWarmer(deps, chain, upstreams.incentives, cadences.incentiveHistory),
      createExitLiquidityWarmer(deps, chain, upstreams.routes, cadences.exitLiquidity),
      ...(chain.contracts.publicAllocator === undefined
        ? []
        : [createSharedLiquidityWarmer(deps, chain, upstreams.indexer, cadences.sharedLiquidity)]),
      createBorrowHistoryWarmer(deps, chain, upstreams.indexer, cadences.borrowHistory),
      createTvlWarmer(deps, chain, cadences.tvl),
    ];
  });
  const { chains } = catalog;
  return [
    ...perChain,
    createPricesWarmer(deps, chains, upstreams.prices, cadences.prices),
    createStableIndexWarmer(deps, chains, upstreams.stableIndex, cadences.slowApy),
  ];
}
