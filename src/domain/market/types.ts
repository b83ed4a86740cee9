import type { Market } from '../../catalog/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { ChainId } from '../../shared/ids.ts';
import type {
  CollateralApy,
  ExitSweep,
  Fact,
  LendingState,
  MarketIncentives,
  OraclePrice,
  SharedLiquidity,
  UsdPrice,
} from '../facts.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { Strategy } from '../strategy/types.ts';

/**
 * One market with all its numbers at full precision, composed from one version of the facts. Rates in percent,
 * LTVs in percent, base units as bigint. Strategies are rendered from it; `/v1/app/markets` shows it as it is.
 */
export interface ComposedMarket {
  readonly market: Market;
  readonly facts: {
    readonly lendingState: Fact<LendingState>;
    readonly oracle: Fact<OraclePrice>;
    readonly collateralApy?: Fact<CollateralApy>;
    readonly incentives?: Fact<MarketIncentives>;
    readonly collateralPrice?: Fact<UsdPrice>;
    readonly loanPrice?: Fact<UsdPrice>;
    readonly exitLiquidity?: Fact<ExitSweep>;
    readonly sharedLiquidity?: Fact<SharedLiquidity>;
  };
  /** Accrued to the block of the lending state, loan base units. */
  readonly totalSupplyAssets: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowShares: bigint;
  /** What can be borrowed at once, loan base units. */
  readonly liquidityAssets: bigint;
  /** Fraction 0..1 in WAD. */
  readonly utilization: bigint;
  readonly borrowApyPct: Decimal;
  readonly borrowIncentiveAprPct?: Decimal;
  readonly collateralIncentiveAprPct?: Decimal;
  readonly netBorrowApyPct: Decimal;
  /** Without the collateral-side incentive. */
  readonly collateralApyPct: Decimal;
  /** With it: what the leverage formula uses. */
  readonly effectiveCollateralApyPct: Decimal;
  readonly liquidationLtvPct: Decimal;
  readonly maxLtvPct: Decimal;
  readonly safeLtvPct: Decimal;
  readonly supplyUsd?: Decimal;
  readonly liquidityUsd?: Decimal;
  readonly publicAllocatorLiquidityUsd?: Decimal;
  readonly stamps: {
    readonly borrow: Stamp;
    readonly oracle: Stamp;
    readonly collateralApy: Stamp;
    readonly exitLiquidity: Stamp;
  };
  readonly gaps: readonly Gap[];
}

/** A catalog market that cannot be composed yet, and why: shown in `/health`. */
export interface ExcludedMarket {
  readonly marketId: string;
  readonly symbol: string;
  readonly waitingFor: readonly { readonly group: string; readonly reason: string }[];
}

/** Everything composed of one chain at one version. */
export interface ComposedChain {
  readonly chainId: ChainId;
  readonly version: number;
  /** When the facts were published, ms. */
  readonly asOfMs: number;
  readonly markets: readonly ComposedMarket[];
  /** All composed strategies, listed or not: loops in catalog order, then equity vaults. */
  readonly strategies: readonly Strategy[];
  readonly excluded: readonly ExcludedMarket[];
}
