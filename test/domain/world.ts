import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { CollateralApySource } from '../../src/catalog/schema.ts';
import type { Chain, Market } from '../../src/catalog/types.ts';
import type { ComposeParams } from '../../src/domain/compose.ts';
import type { ContractDeployment } from '../../src/domain/deployment/types.ts';
import type { OracleFeed } from '../../src/domain/facts.ts';
import {
  type ChainFacts,
  DEPLOYMENT_KEY,
  emptyChainFacts,
  type Fact,
  type FactGroup,
  type FactGroups,
  type Failure,
  type FreshnessBudgets,
} from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { RatePoint } from '../../src/shared/rate-history.ts';

/** 2026-06-01T12:00:00Z: before the principal tokens of the catalog mature. */
/** Parts of every oracle's price. */
export const FEED: OracleFeed = { address: '0x00000000000000000000000000000000000000f1', updatedAt: 1_760_000_000n };

export const NOW_MS = Date.UTC(2026, 5, 1, 12);
export const DAY = 86_400_000;

const catalog = createCatalog(curatedChains);

export function chainOf(chainId: number): Chain {
  const chain = catalog.chain(chainId);
  if (!chain) throw new Error(`no chain ${chainId} in the catalog`);
  return chain;
}

export function marketOf(chain: Chain, collateral: string, loan: string): Market {
  const market = chain.markets.find((m) => m.collateral.displaySymbol === collateral && m.loan.symbol === loan);
  if (!market) throw new Error(`no market ${collateral}/${loan}`);
  return market;
}

const sources: Record<CollateralApySource, number> = {
  yieldmarket: 1_800,
  aggregator: 43_200,
  incentivemarket: 43_200,
  stableindex: 43_200,
  onchain: 43_200,
  none: 43_200,
};

export const BUDGETS: FreshnessBudgets = {
  lendingState: 300,
  oracle: 900,
  oracleFeed: 90_000,
  borrowHistory: 3_600,
  dailyHistory: 172_800,
  collateralApy: sources,
  incentives: 3_600,
  incentiveHistory: 3_600,
  price: 900,
  exitLiquidity: 86_400,
  sharedLiquidity: 3_600,
  stableIndex: 43_200,
  tvl: 900,
  deployment: 900,
  marketSupport: 900,
  tokenContract: 900,
  opsPortfolios: 60,
};

/** Terms of the local worlds' contract. */
export const CONTRACT: ContractDeployment = {
  hasCode: true,
  liquidationBuffer: 25n * 10n ** 14n,
  yieldFee: 5n * 10n ** 16n,
  depositFee: 0n,
  treasury: '0x00000000000000000000000000000000000000C3',
  isPaused: false,
  swapRouters: [],
  operators: [],
};

export const PARAMS: ComposeParams = {
  nowMs: NOW_MS,
  budgets: BUDGETS,
  listing: { minDaysToMaturity: 7, minLiquidityUsd: new Decimal(1_000) },
  appUrl: 'https://app.example',
};

function fact<T>(value: T, asOfMs = NOW_MS - 60_000, source = 'test'): Fact<T> {
  return { value, asOfMs, source };
}

export function daily(days: number, pct: (daysAgo: number) => string): RatePoint[] {
  const today = Math.floor(NOW_MS / DAY) * DAY;
  return Array.from({ length: days }, (_, index) => {
    const daysAgo = days - 1 - index;
    return { atMs: today - daysAgo * DAY, ratePct: new Decimal(pct(daysAgo)) };
  });
}

/** Complete facts for every market of a chain. */
export function completeFacts(chain: Chain, version = 1): ChainFacts {
  const facts = emptyChainFacts(chain.chainId);
  const groups = facts.groups as unknown as { [G in FactGroup]: { items: Map<string, Fact<FactGroups[G]>> } };
  groups.deployment.items.set(DEPLOYMENT_KEY, fact(CONTRACT));
  for (const market of chain.markets) {
    const { loan, collateral, oracle, irm, lltv } = market;
    const params = { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
    groups.marketSupport.items.set(market.id, fact({ isSupported: true, isCorrelated: market.correlated, params }));
    for (const { address, decimals, symbol } of [loan, collateral]) {
      groups.tokenContract.items.set(address, fact({ hasCode: true, decimals: BigInt(decimals), symbol }));
    }
    const unit = 10n ** BigInt(loan.decimals);
    groups.lendingState.items.set(
      market.id,
      fact({
        totalSupplyAssets: 10_000_000n * unit,
        totalSupplyShares: 9_500_000n * unit * 1_000_000n,
        totalBorrowAssets: 8_500_000n * unit,
        totalBorrowShares: 8_000_000n * unit * 1_000_000n,
        lastUpdate: BigInt(NOW_MS / 1_000 - 7_260),
        fee: 0n,
        rateAtTarget: 1_268_391_679n,
        borrowRate: 1_198_000_000n,
        blockNumber: 100n,
        blockTimestamp: BigInt(NOW_MS / 1_000 - 60),
      }),
    );
    const places = BigInt(36 + loan.decimals - collateral.decimals);
    groups.oracle.items.set(
      market.oracle,
      fact({ price: 107n * 10n ** (places - 2n), blockNumber: 100n, feeds: [FEED] }),
    );
    groups.incentives.items.set(market.id, fact({ borrow: [], collateral: [] }));
    groups.incentiveHistory.items.set(market.id, fact({ campaigns: [] }));
    if (chain.contracts.publicAllocator) groups.sharedLiquidity.items.set(market.id, fact({ sources: [] }));
    groups.borrowHistory.items.set(market.id, fact({ points: daily(95, (ago) => String(3 + (ago % 10) / 10)) }));
    const price = loan.symbol === 'WETH' ? '2500' : '0.9998';
    groups.price.items.set(loan.address, fact({ usd: new Decimal(price) }));
    if (collateral.apySource !== 'none') {
      const history = daily(95, (ago) => String(6 + (ago % 5) / 10));
      groups.collateralApy.items.set(
        collateral.address,
        fact({ apyPct: new Decimal('6.123456'), history }, NOW_MS - 3_600_000, collateral.apySource),
      );
    }
    groups.exitLiquidity.items.set(
      collateral.address,
      fact({
        slippagePct: {
          '100000': new Decimal('0.04'),
          '500000': new Decimal('0.2'),
          '1000000': new Decimal('0.9'),
          '5000000': new Decimal('1.7'),
        },
      }),
    );
  }
  return { ...facts, version, publishedMs: NOW_MS - 30_000 };
}

/** The same facts with one item replaced, or removed with a failure. */
export function withItem<G extends FactGroup>(
  facts: ChainFacts,
  group: G,
  key: string,
  change:
    | { readonly value: FactGroups[G]; readonly asOfMs?: number; readonly failure?: Failure }
    | { readonly failure?: Failure },
): ChainFacts {
  const state = facts.groups[group];
  const items = new Map<string, Fact<FactGroups[G]>>(state.items);
  const failures = new Map(state.failures);
  if ('value' in change) items.set(key, fact(change.value, change.asOfMs));
  else items.delete(key);
  if (change.failure) failures.set(key, change.failure);
  return { ...facts, groups: { ...facts.groups, [group]: { ...state, items, failures } } };
}
