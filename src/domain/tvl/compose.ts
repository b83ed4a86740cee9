import { MarketUtils } from '@morpho-org/blue-sdk';
import { type Decimal, ZERO } from '../../shared/decimal.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import { collateralValueInLoan } from '../leverage/flash-loan.ts';
import { usdOf } from '../market/prices.ts';
import type { TvlMarket, TvlMarkets } from './markets.ts';
import type { ChainTvl, SummedDivergence, TvlAmounts, TvlOutcome, TvlPosition, UnpricedMarket } from './types.ts';

interface MarketSum {
  positions: number;
  /** Loan base units. */
  collateralValue: bigint;
  debt: bigint;
  /** Debt of positions beyond their collateral. */
  badDebt: bigint;
}

/**
 * Sum the open positions with non-zero collateral of a chain, read at `positionsAsOfMs`: collateral by the market's oracle
 * (rounded down), debt with accrued interest (rounded up), both in USD by the loan token's price.
 */
export function composeTvl(
  chain: TvlMarkets,
  positions: readonly TvlPosition[],
  positionsAsOfMs: number,
  unreadableWallets = 0,
): TvlOutcome {
  const composed = new Map(chain.markets.map((market) => [market.market.id, market] as const));
  const waiting = new Set(chain.excluded.map(({ marketId }) => marketId));
  const sums = new Map<MarketId, MarketSum>();
  const wallets = new Set<Address>();
  let counted = 0;
  let outsideCatalog = 0;
  for (const position of positions) {
    if (!position.open || position.collateral === 0n) continue;
    const market = composed.get(position.marketId);
    if (!market && !waiting.has(position.marketId)) {
      outsideCatalog += 1;
      continue;
    }
    counted += 1;
    wallets.add(position.wallet);
    add(sums, position, market);
  }

  const unpriced = unpricedMarkets(sums, composed);
  if (unpriced.length > 0) return { computed: false, unpriced };
  let gross = ZERO;
  let borrowed = ZERO;
  let badDebt = ZERO;
  const diverging: SummedDivergence[] = [];
  let asOfMs = positionsAsOfMs;
  for (const [marketId, sum] of sums) {
    const market = composed.get(marketId);
    if (!market?.loanPrice) continue;
    const inUsd = (assets: bigint) => usdOf(assets, market.market.loan.decimals, market.loanPrice?.value.usd ?? ZERO);
    const [collateralUsd, debtUsd] = [inUsd(sum.collateralValue), inUsd(sum.debt)];
    gross = gross.plus(collateralUsd);
    borrowed = borrowed.plus(debtUsd);
    badDebt = badDebt.plus(inUsd(sum.badDebt));
    if (market.oracleDivergence) {
      diverging.push({
        ...market.oracleDivergence,
        marketId,
        oracle: market.market.oracle,
        grossTvlUsd: collateralUsd.decimalPlaces(2),
        borrowedUsd: debtUsd.decimalPlaces(2),
        positions: sum.positions,
      });
    }
    asOfMs = Math.min(asOfMs, market.facts.lendingState.asOfMs, market.facts.oracle.asOfMs, market.loanPrice.asOfMs);
  }
  const grossTvlUsd = gross.decimalPlaces(2);
  const borrowedUsd = borrowed.decimalPlaces(2);
  const amounts = {
    tvlUsd: grossTvlUsd.minus(borrowedUsd),
    grossTvlUsd,
    borrowedUsd,
    badDebtUsd: badDebt.decimalPlaces(2),
    divergentUsd: diverging.reduce((sum, { grossTvlUsd: usd }) => sum.plus(usd), ZERO),
  };
  return {
    computed: true,
    tvl: {
      chainId: chain.chainId,
      asOfMs,
      ...amounts,
      oracleDivergences: diverging.sort((a, b) => b.grossTvlUsd.minus(a.grossTvlUsd).toNumber()),
      positions: counted,
      users: wallets.size,
      wallets: [...wallets],
      outsideCatalog,
      unreadableWallets,
    },
  };
}

/** Add up the computed chains; `undefined` if there is none. A wallet on two chains is one user. */
export function totalTvl(chains: readonly ChainTvl[]): TvlAmounts | undefined {
  if (chains.length === 0) return undefined;
  const sum = (of: (chain: ChainTvl) => Decimal) => chains.reduce((total, chain) => total.plus(of(chain)), ZERO);
  const hasBadDebt = chains.every(({ badDebtUsd }) => badDebtUsd !== undefined);
  const isCompared = chains.every(({ divergentUsd }) => divergentUsd !== undefined);
  return {
    tvlUsd: sum((chain) => chain.tvlUsd),
    grossTvlUsd: sum((chain) => chain.grossTvlUsd),
    borrowedUsd: sum((chain) => chain.borrowedUsd),
    badDebtUsd: hasBadDebt ? sum(({ badDebtUsd = ZERO }) => badDebtUsd) : undefined,
    divergentUsd: isCompared ? sum(({ divergentUsd = ZERO }) => divergentUsd) : undefined,
    positions: chains.reduce((total, chain) => total + chain.positions, 0),
    users: new Set(chains.flatMap((chain) => chain.wallets)).size,
  };
}

function add(sums: Map<MarketId, MarketSum>, position: TvlPosition, market: TvlMarket | undefined): void {
  let sum = sums.get(position.marketId);
  if (!sum) {
    sum = { positions: 0, collateralValue: 0n, debt: 0n, badDebt: 0n };
    sums.set(position.marketId, sum);
  }
  sum.positions += 1;
  if (!market) return;
  const collateralValue = collateralValueInLoan(position.collateral, market.facts.oracle.value.price);
  const debt = MarketUtils.toBorrowAssets(position.borrowShares, market, 'Up');
  sum.collateralValue += collateralValue;
  sum.debt += debt;
  if (debt > collateralValue) sum.badDebt += debt - collateralValue;
}

function unpricedMarkets(
  sums: ReadonlyMap<MarketId, MarketSum>,
  composed: ReadonlyMap<MarketId, TvlMarket>,
): readonly UnpricedMarket[] {
  return [...sums].flatMap(([marketId, { positions }]): UnpricedMarket[] => {
    const market = composed.get(marketId);
    if (market?.loanPrice) return [];
    return [{ marketId, positions, reason: market ? 'loan_price_unknown' : 'market_not_composed' }];
  });
}
