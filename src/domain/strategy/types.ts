import type { CollateralApySource, CollateralCategory } from '../../catalog/schema.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { VISIBILITY_CHECKS } from '../../shared/vocabulary.ts';
import type { DeploymentTerms } from '../deployment/terms.ts';
import type { ExitSizeUsd } from '../facts.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { ShownFees } from '../market/fees.ts';
import type { Warning } from '../market/types.ts';

/*
 * The composed strategy. Field names and number formats are those of the frozen v1 contract (section 2.1);
 * strings are ready to show. `undefined` = not measured (absent in REST), `null` = measured, there is none or it
 * cannot apply. Every empty field has its reason in `gaps`.
 */

export interface LadderEntry {
  /** Decimal with 1 place. */
  readonly leverage: string;
  /** Percent with 1 place. */
  readonly ltvPct: string;
  /** Signed percent with 2 places. */
  readonly leverageApyPct: string;
}

export interface StrategyCollateral {
  readonly address: Address;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly category: CollateralCategory;
  readonly project?: string;
  readonly yieldSource?: string;
  /** Curated; absent when the curators have not written one. */
  readonly description?: string;
  /** USD per token, plain decimal. */
  readonly priceUsd?: string;
  /** Who priced it; `oracle` = oracle price × loan price. GraphQL only. */
  readonly priceSource?: string;
  readonly isPt: boolean;
  /** Unix seconds. */
  readonly maturity: number | null;
  readonly maturityDate: string | null;
  readonly underlying?: { readonly address: Address; readonly symbol: string };
}

export interface StrategyLoan {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** USD per token, plain decimal. */
  readonly priceUsd?: string;
  /** Who priced it. GraphQL only. */
  readonly priceSource?: string;
}

export interface Incentive {
  readonly aprPct: string;
  readonly breakdown: readonly { readonly symbol: string; readonly aprPct: string }[];
  readonly campaignUrl?: string;
  /** When the first of the running campaigns ends, ms. */
  readonly endsAtMs: number;
}

/** Trailing averages in percent with 2 places; a window is absent when the history does not cover it. */
export interface TrailingAverages {
  readonly avg30d?: string;
  readonly avg60d?: string;
  readonly avg90d?: string;
}

export type ExitLiquidity =
  | { readonly measured: false }
  | {
      readonly measured: true;
      readonly asOfMs: number;
      readonly method: string;
      readonly direction: string;
      /** Percent with 2 places per USD size; `null` = no route at that size. */
      readonly slippagePct: Readonly<Record<ExitSizeUsd, string | null>>;
    };

export type ExitTier = 'deep' | 'good' | 'limited' | 'thin';

export interface SpiralHints {
  readonly exitLiquidityTier?: {
    readonly value: ExitTier;
    readonly thresholds: { readonly listingMaxPct: number; readonly depthCleanMaxPct: number };
  };
  readonly profile?: { readonly value: 'leveraged_perp'; readonly leverageApyMeaning: string };
  /** What to know of values that are shown; absent when there is nothing. */
  readonly warnings?: readonly Warning[];
}

export type VisibilityCheckName = (typeof VISIBILITY_CHECKS)[number];

/** One listing rule and how the strategy fares. `value` and `threshold` are plain strings; `null` = unknown or without one. What is unknown passes: a source that fails does not empty the list. */
export interface VisibilityCheck {
  readonly name: VisibilityCheckName;
  readonly passed: boolean;
  readonly value: string | null;
  readonly threshold: string | null;
  /** Of rules about the deployed contract: who told it, and when; absent while nothing was measured. */
  readonly source?: string;
  readonly stamp?: Stamp;
  /** What is taken because the rule cannot tell; absent where it can. */
  readonly note?: string;
}

export interface Visibility {
  readonly visible: boolean;
  readonly checks: readonly VisibilityCheck[];
}

/** What only an equity vault has. */
export interface EquityTerms {
  readonly stockMarketId: MarketId;
  readonly yieldStrategyId: StrategyId;
  readonly depositToken: StrategyLoan;
  readonly targetLtvPct: string;
  /** 88 % of the liquidation LTV, percent with 2 places. */
  readonly maxStockLtvPct: string;
  /** Leveraged APY of the yield leg at its safe LTV, percent with 2 places. */
  readonly yieldLegApyPct: string;
}

/**
 * One leverage strategy: a loop on one market, or an equity vault.
 *
 * The numbers of an equity vault are mapped on the same shape so: `collateral`, `loan`, `oracle`, borrow rates, liquidity
 * and LTV limits are those of its stock market (`ltvPct.max` and `.safe` = the cap of 88 % of the liquidation LTV);
 * `collateralApyPct` is the leveraged APY of the yield leg and `collateralApySource` the source of the yield collateral;
 * on a rung, `ltvPct` is the stock-leg LTV, `leverage` = 1 + LTV is the gross exposure per unit deposited, and
 * `leverageApyPct` = LTV × (yield-leg APY − stock borrow APY) is the net APY; `defaultLeverage` stands at the target LTV.
 */
export interface Strategy {
  readonly id: StrategyId;
  readonly kind: 'loop' | 'equity';
  readonly chainId: ChainId;
  /** The market itself; of an equity vault its stock market. */
  readonly marketId: MarketId;
  readonly correlated: boolean;
  readonly curator?: string;
  readonly collateral: StrategyCollateral;
  readonly loan: StrategyLoan;
  readonly collateralApyPct: string;
  readonly collateralApySource: CollateralApySource;
  readonly yieldSustainabilityPct?: TrailingAverages;
  readonly pointsIncentive?: { readonly program: string; readonly perDayPerCollateralToken: number } | null;
  readonly borrowApyPct: string;
  readonly quarterlyBorrowApyPct?: string;
  readonly borrowIncentive?: Incentive | null;
  readonly collateralIncentive?: Incentive | null;
  readonly netBorrowApyPct: string;
  /** USD with 2 places. */
  readonly supplyUsd?: string;
  readonly liquidityUsd?: string;
  readonly publicAllocatorLiquidityUsd?: string;
  readonly maxLeverage: string;
  readonly utilizationPct?: string;
  readonly leverageLadder: readonly LadderEntry[];
  readonly defaultLeverage: LadderEntry;
  readonly historicalLeverageApyPct?: TrailingAverages;
  /** `safe` (GraphQL only) is the highest LTV that builders accept. */
  readonly ltvPct: { readonly liquidation: string; readonly max: string; readonly safe: string };
  readonly oracle: { readonly address: Address; readonly type?: 'nav' | 'market' };
  /** When the oldest feed behind the oracle's price was updated, ms; `null` = it needs none, absent = not known. */
  readonly oraclePriceAsOfMs?: number | null;
  readonly exitLiquidity: ExitLiquidity;
  /** Also true, with a gap of this field, while nothing has measured whether there is a route. */
  readonly noSwapRoute: boolean;
  readonly spiralHints?: SpiralHints;
  readonly freshness: {
    readonly borrow: Stamp;
    readonly collateralApy: Stamp;
    readonly exitLiquidity: Stamp;
    /** GraphQL only. */
    readonly oracle: Stamp;
  };
  /** Age of what the borrow and collateral groups leave out; an input that was never measured is absent. */
  readonly inputFreshness: { readonly prices?: Stamp; readonly incentives?: Stamp };
  /** What the contract that holds positions takes; of an equity vault on its yield leg. */
  readonly fees: ShownFees;
  readonly links?: { readonly app?: string; readonly market?: string; readonly yieldSource?: string };
  readonly equityVault?: EquityTerms;
  /** What the deployed contract says of positions on its market; of a vault on that of its yield leg. */
  readonly deployment?: DeploymentTerms;
  readonly visibility: Visibility;
  readonly gaps: readonly Gap[];
}
