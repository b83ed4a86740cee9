import { type Chain, createCatalog, curatedChains, type Market, type Token } from '../../src/catalog/index.ts';
import type { ChainReader, DeploymentReading, LendingReading } from '../../src/chain/reader.ts';
import {
  type ChainFacts,
  DEPLOYMENT_KEY,
  FACT_GROUPS,
  type FactGroup,
  type FailureReason,
  type LendingState,
} from '../../src/domain/facts.ts';
import type { TvlPosition } from '../../src/domain/tvl/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { ChainId, MarketId } from '../../src/shared/ids.ts';
import { createMemorySnapshot } from '../../src/snapshot/memory.ts';
import type { SnapshotStore } from '../../src/snapshot/types.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import type { Batch, RouteRequest } from '../../src/upstreams/types.ts';
import { priceKey } from '../../src/upstreams/types.ts';
import type { WarmerUpstreams } from '../../src/warmers/index.ts';
import { createWarmers } from '../../src/warmers/index.ts';
import type {
  BorrowRateSample,
  Campaigns,
  DailyApyRate,
  DailyBorrowRate,
  PricedMarket,
  RunMode,
  RunReport,
  Warmer,
} from '../../src/warmers/types.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { type FakeTime, fakeTime } from './fake-time.ts';

export const catalog = createCatalog(curatedChains);
export const ethereum = catalog.chain(1) as Chain;
export const firstMarket = ethereum.markets[0] as Market;
export const token = (symbol: string): Token => {
  const found = ethereum.tokens.find((candidate) => candidate.symbol === symbol);
  if (!found) throw new Error(symbol);
  return found;
};
export const DAY_MS = 86_400_000;
export const NOW_MS = 20_000 * DAY_MS + 3_600_000;

/** Answers by port: valid by default, replaceable by a test. An unexpected call throws. */
export type Ports = { -readonly [P in keyof WarmerUpstreams]: WarmerUpstreams[P] };

export interface World {
  readonly time: FakeTime;
  readonly snapshot: SnapshotStore;
  readonly ports: Ports;
  readonly readers: Map<ChainId, { -readonly [K in keyof ChainReader]: ChainReader[K] }>;
  readonly samples: BorrowRateSample[];
  readonly priced: Map<MarketId, PricedMarket>;
  readonly logs: readonly string[];
  days: readonly DailyBorrowRate[] | Error;
  keepSamples: boolean;
  readonly campaigns: Map<ChainId, Campaigns>;
  readonly apys: Map<string, DailyApyRate>;
  positions: ReadonlyMap<ChainId, readonly TvlPosition[]> | Error;
  /** Age of the block of the positions. */
  positionsLagMs: number;
  readonly warmers: readonly Warmer[];
  /** Run one warmer like the runner. */
  run(name: string, mode?: RunMode, signal?: AbortSignal): Promise<RunReport>;
  facts(chainId?: ChainId): ChainFacts;
}

export const pct = (value: string): Decimal => new Decimal(value);
export const fails = (reason: FailureReason) => (): Promise<never> => Promise.reject(new UpstreamError('test', reason));
export const all = <T>(keys: readonly string[], value: (key: string) => T): Batch<T> => ({
  values: new Map(keys.map((key) => [key, value(key)])),
  failures: new Map(),
});

function lendingState(blockNumber: bigint, blockTimestamp: bigint): LendingState {
  return {
    totalSupplyAssets: 1_000n * 10n ** 6n,
    totalSupplyShares: 1_000n * 10n ** 12n,
    totalBorrowAssets: 900n * 10n ** 6n,
    totalBorrowShares: 900n * 10n ** 12n,
    lastUpdate: blockTimestamp,
    fee: 0n,
    rateAtTarget: 1_268_391_679n,
    borrowRate: 1_268_391_679n,
    blockNumber,
    blockTimestamp,
  };
}

/** Answers of a valid chain at a block. Every oracle values a collateral token at one loan token. */
export function readingAt(chain: Chain, number: bigint, timestampMs: number): LendingReading {
  const timestamp = BigInt(Math.floor(timestampMs / 1_000));
  const prices = chain.markets.map(({ oracle, loan, collateral }) => {
    const price = 10n ** BigInt(36 + loan.decimals - collateral.decimals);
    return [oracle, { price, blockNumber: number }] as const;
  });
  const states = chain.markets.map(({ id }) => [id, lendingState(number, timestamp)] as const);
  return {
    block: { number, timestamp },
    lending: { values: new Map(states), failures: new Map() },
    oracle: { values: new Map(prices), failures: new Map() },
  };
}

/** All warmers over valid ports and a stopped clock. */
export function world(): World {
  const time = fakeTime(NOW_MS);
  const logger = rememberingLogger();
  const snapshot = createMemorySnapshot({ clock: time.clock, logger });
  const apys = (name: 'yieldmarket' | 'aggregator' | 'incentivemarket') => ({
    name,
    apys: async (_chain: Chain, tokens: readonly { address: string }[]) =>
      all(
        tokens.map(({ address }) => address),
        () => ({ apyPct: pct('7.5') }),
      ),
  });
  const price = (name: 'coingecko' | 'defillama', usd: string): Ports['prices'][0] => ({
    name,
    usdPrices: async (tokens) => ({
      values: new Map(tokens.filter((t) => t.coingeckoId).map((t) => [priceKey(t), { usd: pct(usd) }])),
      failures: new Map(tokens.filter((t) => !t.coingeckoId).map((t) => [priceKey(t), 'not_configured'])),
    }),
  });
  const ports: Ports = {
    yieldmarket: apys('yieldmarket'),
    aggregator: apys('aggregator'),
    incentivemarket: apys('incentivemarket'),
    stableIndex: {
      pools: async () =>
        all(['66985a81-9c51-46ca-9977-42b4fe7bc6df', 'other'], (id) => ({
          id,
          asset: id === 'other' ? 'sUSDS' : 'sUSDe',
          avg7dPct: pct('4.25'),
          history: [{ atMs: 1, ratePct: pct('4') }],
        })),
    },
    incentives: {
      live: async (_chain, ids) => all(ids, () => ({ borrow: [], collateral: [] })),
      ended: async () => new Map(),
      history: async (ids) => all(ids, () => []),
    },
    prices: [price('coingecko', '1'), price('defillama', '1.01')],
    indexer: {
      sharedLiquidity: async (_chain, ids) => all(ids, () => ({ sources: [] })),
      borrowHistory: async (_chain, ids) => all(ids, () => ({ points: [] })),
    },
    routes: { route: async ({ amountIn, chain, tokenIn }) => ({ amountOut: atPar(chain, tokenIn, amountIn) }) },
  };
  const readers = new Map(
    catalog.chains.map((chain) => [
      chain.chainId,
      {
        chainId: chain.chainId,
        readLendingState: async () => readingAt(chain, 100n, time.clock.now()),
        readDeployment: async () => ({
          block: { number: 100n, timestamp: BigInt(Math.floor(time.clock.now() / 1_000)) },
          deployment: {
            values: new Map([[DEPLOYMENT_KEY, { hasCode: true, swapRouters: [], operators: [] }]]),
            failures: new Map(),
          },
          marketSupport: all(
            chain.markets.map(({ id }) => id),
            () => ({ isSupported: true }),
          ) as DeploymentReading['marketSupport'],
          tokenContract: all(
            chain.tokens.filter(({ isNative }) => !isNative).map(({ address }) => address),
            (at) => ({
              hasCode: true,
              decimals: BigInt(chain.tokens.find(({ address }) => address === at)?.decimals ?? 0),
            }),
          ) as DeploymentReading['tokenContract'],
        }),
        readOnchainRates: async (tokens) => ({
          block: { number: 100n, timestamp: BigInt(Math.floor(time.clock.now() / 1_000)) },
          rates: { values: new Map(tokens.map(({ address }) => [address, 10n ** 27n])), failures: new Map() },
        }),
      } satisfies ChainReader as ChainReader,
    ]),
  );
  const state: World = {
    time,
    snapshot,
    ports,
    readers,
    samples: [],
    priced: new Map(),
    logs: logger.messages,
    days: [],
    keepSamples: true,
    campaigns: new Map(),
    apys: new Map(),
    positions: new Map(),
    positionsLagMs: 0,
    get warmers() {
      return createWarmers({
        catalog,
        chainReaders: readers,
        upstreams: ports,
        snapshot,
        clock: time.clock,
        logger,
        recordTvl: async () => {
          if (!state.keepSamples) throw new Error('the database is away');
        },
        recordCampaigns: async (chainId, campaigns) => {
          if (!state.keepSamples) throw new Error('the database is away');
          state.campaigns.set(chainId, campaigns);
        },
        readCampaigns: async (chainId) => {
          if (!state.keepSamples) throw new Error('the database is away');
          return state.campaigns.get(chainId) ?? new Map();
        },
        recordApys: async (_chainId, observations) => {
          if (!state.keepSamples) throw new Error('the database is away');
          for (const { token, atMs, apyPct } of observations) {
            const dayMs = Math.floor(atMs / 86_400_000) * 86_400_000;
            state.apys.set(`${token}:${dayMs}`, { token, dayMs, apyPct });
          }
        },
        readApys: async () => {
          if (!state.keepSamples) throw new Error('the database is away');
          return [...state.apys.values()];
        },
        recordSamples: async (_chainId, samples) => {
          if (!state.keepSamples) throw new Error('the database is away');
          state.samples.push(...samples);
        },
        recordMarkets: async (_chainId, samples) => {
          for (const [id, sample] of samples) state.priced.set(id, sample);
        },
        readBorrowHistory: async () => {
          if (state.days instanceof Error) throw state.days;
          return state.days;
        },
        readPositions: async (chainId) => {
          if (state.positions instanceof Error) throw state.positions;
          return {
            positions: state.positions.get(chainId) ?? [],
            asOfMs: time.clock.now() - state.positionsLagMs,
            unreadable: 0,
          };
        },
      });
    },
    run: (name, mode = 'all', signal = new AbortController().signal) => {
      const warmer = state.warmers.find((candidate) => candidate.name === name);
      if (!warmer) throw new Error(`no warmer ${name}`);
      return warmer.run(signal, mode);
    },
    facts: (chainId = 1) => snapshot.facts(chainId),
  };
  return state;
}

/** Proceeds of a sale at one dollar per whole token, in the chain's stablecoin. */
export function atPar(chain: Chain, token: string, amountIn: bigint): bigint {
  const decimals = chain.tokens.find(({ address }) => address === token)?.decimals ?? 18;
  return (amountIn * 10n ** BigInt(chain.stable.decimals)) / 10n ** BigInt(decimals);
}

/** USD that a request sells, if every token is worth one. */
export function sizeOf({ chain, tokenIn, amountIn }: RouteRequest): string {
  return (atPar(chain, tokenIn, amountIn) / 10n ** BigInt(chain.stable.decimals)).toString();
}

/** The groups with a difference. */
export function changedGroups(before: ChainFacts, after: ChainFacts): readonly FactGroup[] {
  return FACT_GROUPS.filter((group) => before.groups[group] !== after.groups[group]);
}
