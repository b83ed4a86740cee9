import type { CollateralApySource } from '../../catalog/schema.ts';
import type { Market } from '../../catalog/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { ChainId, MarketId } from '../../shared/ids.ts';
import type { HistoricalMeans } from '../apy/history.ts';
import type { WindowMeans } from '../apy/series.ts';
import type { DeploymentTerms } from '../deployment/terms.ts';
import type {
  BorrowHistory,
  CollateralApy,
  ExitSweep,
  Fact,
  IncentiveCampaign,
  LendingState,
  MarketIncentives,
  OraclePrice,
  RestrictedCampaign,
  SharedLiquidity,
  UsdPrice,
} from '../facts.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { OracleDivergence, Warning } from '../plausibility/types.ts';
import type { IndexedStrategy } from '../strategy/keys.ts';
import type { Strategy } from '../strategy/types.ts';
import type { ContractFees, MarketFees } from './fees.ts';
import type { MarketLimits } from './statics.ts';

/** The incentive of one side of a market right now. */
export interface RunningIncentive {
  readonly aprPct: Decimal;
  /** Running campaigns with an APR above zero, the largest first. */
  readonly campaigns: readonly IncentiveCampaign[];
  /** Running campaigns that are in no APY. */
  readonly restricted: readonly RestrictedCampaign[];
  /** A running campaign could not be read: the sum is at least this. */
  readonly isLowerBound: boolean;
}

/** Unconfirmed values that are worse than the published ones; absent where there is none. */
export interface Worst {
  readonly liquidityUsd?: Decimal | undefined;
  readonly collateralApyPct?: Decimal | undefined;
}

/** Trailing means of a market, percent at full precision. */
export interface MarketHistory {
  /** Of the collateral's own APY, without incentives. */
  readonly collateralApyPct: WindowMeans;
  /** Both sides with incentives, levered at the safe LTV. */
  readonly carry?: HistoricalMeans | undefined;
  readonly quarterlyBorrowApyPct?: Decimal | undefined;
}

/** The averages of a market's histories. The next composition reuses them while their inputs are the same objects. */
export interface AveragedHistory {
  readonly inputs: readonly unknown[];
  readonly history: MarketHistory;
  /** The means that strategies show, percent with 2 decimals. */
  readonly formatted: Pick<Strategy, 'yieldSustainabilityPct' | 'historicalLeverageApyPct' | 'quarterlyBorrowApyPct'>;
  readonly gaps: readonly Gap[];
}

/**
 * One market with all its numbers at full precision, composed from one version of the facts. Rates in percent, LTVs in
 * percent, base units as bigint. Strategies are rendered from it; `/v1/app/markets` serves it directly.
 */
export interface ComposedMarket {
  readonly market: Market;
  readonly facts: {
    readonly lendingState: Fact<LendingState>;
    readonly oracle: Fact<OraclePrice>;
    readonly collateralApy?: Fact<CollateralApy> | undefined;
    readonly incentives?: Fact<MarketIncentives> | undefined;
    readonly exitLiquidity?: Fact<ExitSweep> | undefined;
    readonly sharedLiquidity?: Fact<SharedLiquidity> | undefined;
    readonly borrowHistory?: Fact<BorrowHistory> | undefined;
  };
  /**
   * USD per whole token, only when plausible. A collateral without a price of its own has source `oracle`: oracle price × loan
   * price.
   */
  readonly collateralPrice?: Fact<UsdPrice> | undefined;
  readonly loanPrice?: Fact<UsdPrice> | undefined;
  /** Accrued to the block of the lending state, loan base units. */
  readonly totalSupplyAssets: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowShares: bigint;
  /** Liquidity that can be borrowed at once, loan base units. */
  readonly liquidityAssets: bigint;
  /** Fraction 0..1 in WAD. */
  readonly utilization: bigint;
  readonly borrowApyPct: Decimal;
  /** `null` = measured, none is running; absent = not measured. */
  readonly borrowIncentive?: RunningIncentive | null | undefined;
  readonly collateralIncentive?: RunningIncentive | null | undefined;
  /** Without the incentive while incentives are unknown; this field then has a gap. */
  readonly netBorrowApyPct: Decimal;
  /** Also `none` for a principal token past its maturity, which earns nothing. */
  readonly collateralApySource: CollateralApySource;
  /** Without the collateral-side incentive. */
  readonly collateralApyPct: Decimal;
  /**
   * With the collateral-side incentive; input of the leverage formula. Without it while incentives are unknown; this field
   * then has a gap.
   */
  readonly effectiveCollateralApyPct: Decimal;
  readonly liquidationLtvPct: Decimal;
  readonly maxLtvPct: Decimal;
  readonly safeLtvPct: Decimal;
  /** The LTV limits with the leverage that they allow. Markets with equal limits share the object. */
  readonly limits: MarketLimits;
  /** Fees of the contract that holds positions, for this market. */
  readonly fees: MarketFees;
  readonly supplyUsd?: Decimal | undefined;
  readonly liquidityUsd?: Decimal | undefined;
  readonly publicAllocatorLiquidityUsd?: Decimal | undefined;
  readonly history: MarketHistory;
  readonly averaged: AveragedHistory;
  readonly stamps: {
    readonly borrow: Stamp;
    readonly oracle: Stamp;
    readonly collateralApy: Stamp;
    /** `NEVER_MS` until the first measurement. */
    readonly exitLiquidity: Stamp;
    /** The older of the two prices; absent while neither is known. */
    readonly prices?: Stamp | undefined;
    /** Absent while they were never measured. */
    readonly incentives?: Stamp | undefined;
  };
  /**
   * Terms of the deployed contract for positions on the market; absent on the stock legs of vaults, which the contract does
   * not hold.
   */
  readonly deployment?: DeploymentTerms | undefined;
  /** Absent when the oracle is near its reference. */
  readonly oracleDivergence?: OracleDivergence | undefined;
  readonly warnings: readonly Warning[];
  readonly worst: Worst;
  readonly gaps: readonly Gap[];
}

/** A catalog market or vault that cannot be composed yet, and why: shown in `/health`. */
export interface ExcludedMarket {
  /** Market id, or the id of an equity vault. */
  readonly marketId: string;
  readonly symbol: string;
  readonly waitingFor: readonly { readonly group: string; readonly reason: string }[];
}

export interface ChainLookup {
  readonly markets: ReadonlyMap<MarketId, ComposedMarket>;
  readonly strategies: ReadonlyMap<string, Strategy>;
  /** All strategies with the keys that lists are filtered and sorted on. */
  readonly indexed: readonly IndexedStrategy[];
  /** The strategies of a market, in their own order. */
  readonly strategiesByMarket: ReadonlyMap<MarketId, readonly Strategy[]>;
}

/** Everything that is composed for one chain at one version. */
export interface ComposedChain {
  readonly chainId: ChainId;
  readonly version: number;
  /** When the facts were published, ms. */
  readonly asOfMs: number;
  readonly markets: readonly ComposedMarket[];
  /** All composed strategies, listed or not: loops in catalog order, then equity vaults. */
  readonly strategies: readonly Strategy[];
  readonly excluded: readonly ExcludedMarket[];
  /** Fees of the contract that holds positions. */
  readonly fees: ContractFees;
  /** Markets and strategies by their keys, indexed once per version. */
  readonly lookup: ChainLookup;
  /**
   * The next moment at which the same facts compose differently (a campaign starts or ends, a principal token nears or reaches
   * its maturity), ms; absent without one.
   */
  readonly recomposeAtMs?: number | undefined;
}
