import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import type { Chain, Market } from '../src/catalog/types.ts';
import type { ComposeParams } from '../src/domain/compose.ts';
import { operatorsOf } from '../src/domain/deployment/routers.ts';
import {
  type ChainFacts,
  DEPLOYMENT_KEY,
  emptyChainFacts,
  type Fact,
  type FactGroup,
  type FactGroups,
  type FreshnessBudgets,
} from '../src/domain/facts.ts';
import { compacted, Decimal } from '../src/shared/decimal.ts';
import type { Address, MarketId } from '../src/shared/ids.ts';
import type { Publications } from '../src/snapshot/types.ts';

/** 2026-06-01T12:00:00Z: before the principal tokens of the catalog mature. */
export const NOW_MS = Date.UTC(2026, 5, 1, 12);
const DAY_MS = 86_400_000;
const HISTORY_DAYS = 95;

const SLOW = 43_200;
export const BUDGETS: FreshnessBudgets = {
  lendingState: 300,
  oracle: 900,
  oracleFeed: 90_000,
  borrowHistory: 3_600,
  dailyHistory: 172_800,
  collateralApy: {
    yieldmarket: 1_800,
    aggregator: SLOW,
    incentivemarket: SLOW,
    stableindex: SLOW,
    onchain: SLOW,
    none: SLOW,
  },
  incentives: 3_600,
  incentiveHistory: 3_600,
  price: 900,
  exitLiquidity: 86_400,
  sharedLiquidity: 3_600,
  stableIndex: SLOW,
  tvl: 900,
  deployment: 900,
  marketSupport: 900,
  tokenContract: 900,
  opsPortfolios: 60,
};

export const PARAMS: Omit<ComposeParams, 'nowMs'> = {
  budgets: BUDGETS,
  listing: { minDaysToMaturity: 7, minLiquidityUsd: new Decimal(1_000) },
  appUrl: 'https://app.example',
};

/** A chain with any number of loop markets: the curated ones repeated, each with its own collateral and oracle. */
export function syntheticChain(markets: number): Chain {
  const chain = createCatalog(curatedChains).chain(1);
  const loops = chain?.markets.filter(({ kind }) => kind === 'loop') ?? [];
  // Flat strings, as in a catalog.
  const hex = (n: number, digits: number) => ['0x', n.toString(16).padStart(digits, '0')].join('');
  const made = Array.from({ length: markets }, (_, i) => {
    const like = loops[i % loops.length];
    if (!like) throw new Error('the catalog has no loop market');
    return {
      ...like,
      id: hex(i + 1, 64) as MarketId,
      oracle: hex(1_000_000_000 + i, 40) as Address,
      collateral: { ...like.collateral, address: hex(i + 1, 40) as Address },
    };
  });
  if (!chain) throw new Error('the catalog has no chain 1');
  return { ...chain, markets: made, equityVaults: [], tokens: made.map(({ collateral }) => collateral) };
}

/** Values that the deployed contracts of a chain return when nothing is wrong. */
function deploymentOf(chain: Chain): FactGroups['deployment'] {
  const allowed = (addresses: readonly Address[]) => addresses.map((address) => ({ address, isAllowed: true }));
  return {
    hasCode: true,
    liquidationBuffer: 25n * 10n ** 14n,
    yieldFee: 10n ** 17n,
    depositFee: 10n ** 15n,
    treasury: chain.contracts.flashLeverage,
    isPaused: false,
    swapRouters: allowed([...new Set(Object.values(chain.swapRouters).flat())]),
    operators: allowed(operatorsOf(chain)),
  };
}

function paramsOf({ loan, collateral, oracle, irm, lltv }: Market): FactGroups['marketSupport']['params'] {
  return { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
}

/** Complete facts, with daily histories of 95 days. */
export function syntheticFacts(chain: Chain): ChainFacts {
  const facts = emptyChainFacts(chain.chainId);
  const groups = facts.groups as unknown as { [G in FactGroup]: { items: Map<string, Fact<FactGroups[G]>> } };
  const fact = <T>(value: T): Fact<T> => ({ value, asOfMs: NOW_MS - 60_000, source: 'bench' });
  const today = Math.floor(NOW_MS / DAY_MS) * DAY_MS;
  const days = Array.from({ length: HISTORY_DAYS }, (_, i) => today - (HISTORY_DAYS - 1 - i) * DAY_MS);
  groups.deployment.items.set(DEPLOYMENT_KEY, fact(deploymentOf(chain)));
  for (const [n, market] of chain.markets.entries()) {
    const { id, oracle, loan, collateral, correlated } = market;
    const unit = 10n ** BigInt(loan.decimals);
    groups.lendingState.items.set(
      id,
      fact({
        totalSupplyAssets: 10_000_000n * unit + BigInt(n),
        totalSupplyShares: 9_500_000n * unit * 1_000_000n,
        totalBorrowAssets: 8_500_000n * unit,
        totalBorrowShares: 8_000_000n * unit * 1_000_000n,
        lastUpdate: BigInt(NOW_MS / 1_000 - 7_260),
        fee: 0n,
        rateAtTarget: 1_268_391_679n,
        borrowRate: 1_198_000_000n + BigInt(n),
        blockNumber: 100n,
        blockTimestamp: BigInt(NOW_MS / 1_000 - 60),
      }),
    );
    const places = BigInt(36 + loan.decimals - collateral.decimals);
    const feeds = [{ address: oracle, updatedAt: BigInt(NOW_MS / 1_000 - 600) }];
    groups.oracle.items.set(oracle, fact({ price: 107n * 10n ** (places - 2n), blockNumber: 100n, feeds }));
    groups.incentives.items.set(id, fact({ borrow: [], collateral: [] }));
    groups.incentiveHistory.items.set(id, fact({ campaigns: [] }));
    groups.sharedLiquidity.items.set(id, fact({ sources: [] }));
    groups.marketSupport.items.set(id, fact({ isSupported: true, isCorrelated: correlated, params: paramsOf(market) }));
    for (const { address, decimals } of [loan, collateral]) {
      groups.tokenContract.items.set(address, fact({ hasCode: true, decimals: BigInt(decimals) }));
    }
    const history = days.map((atMs, i) => ({ atMs, ratePct: compacted(new Decimal(`3.${(i + n) % 10}17`)) }));
    groups.borrowHistory.items.set(id, fact({ points: history }));
    groups.price.items.set(loan.address, fact({ usd: new Decimal('0.9998') }));
    groups.collateralApy.items.set(collateral.address, fact({ apyPct: new Decimal('6.123456'), history }));
    const slippagePct = { '100000': '0.04', '500000': '0.2', '1000000': '0.9', '5000000': '1.7' } as const;
    const exact = Object.entries(slippagePct).map(([size, loss]) => [size, new Decimal(loss)] as const);
    groups.exitLiquidity.items.set(
      collateral.address,
      fact({ slippagePct: Object.fromEntries(exact) as unknown as FactGroups['exitLiquidity']['slippagePct'] }),
    );
  }
  return { ...facts, version: 1, publishedMs: NOW_MS - 30_000 };
}

/**
 * The facts after another refresh of all lending states and oracles, a minute later each: new objects, in which interest
 * has accrued, the rate has moved along the curve, and the collateral has earned. All other facts are the same.
 */
export function refreshedFacts(facts: ChainFacts, round: number): ChainFacts {
  const { lendingState, oracle } = facts.groups;
  const more = BigInt(round);
  const grown = (value: bigint, perRound: bigint) => value + (value * more) / perRound;
  const state = ({ value, ...fact }: Fact<FactGroups['lendingState']>) => ({
    ...fact,
    value: {
      ...value,
      totalBorrowAssets: grown(value.totalBorrowAssets, 10_000_000n),
      totalSupplyAssets: grown(value.totalSupplyAssets, 11_000_000n),
      borrowRate: grown(value.borrowRate, 100_000n),
      blockNumber: value.blockNumber + more,
    },
  });
  const price = ({ value, ...fact }: Fact<FactGroups['oracle']>) => ({
    ...fact,
    value: { ...value, price: grown(value.price, 10_000_000n), blockNumber: value.blockNumber + more },
  });
  const groups = {
    ...facts.groups,
    lendingState: { ...lendingState, items: mapped(lendingState.items, state) },
    oracle: { ...oracle, items: mapped(oracle.items, price) },
  };
  return { ...facts, version: facts.version + round, groups };
}

function mapped<K, V>(items: ReadonlyMap<K, V>, map: (item: V) => V): Map<K, V> {
  const made = new Map<K, V>();
  for (const [key, item] of items) {
    made.set(key, map(item));
  }
  return made;
}

/** The same facts in the form that a refresh publishes. */
export function publicationsOf(facts: ChainFacts, groups: readonly FactGroup[]): Publications {
  const made = groups.map((group) => [
    group,
    { attemptedAtMs: NOW_MS, items: facts.groups[group].items as ReadonlyMap<string, unknown>, failures: new Map() },
  ]);
  return Object.fromEntries(made) as Publications;
}
