import type { CollateralApySource, CollateralCategory } from '../../catalog/schema.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { Restriction, VISIBILITY_CHECKS } from '../../shared/vocabulary.ts';
import type { FormattedMeans } from '../apy/series.ts';
import type { DeploymentTerms } from '../deployment/terms.ts';
import type { ExitSizeUsd } from '../facts.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { FormattedFees } from '../market/fees.ts';
import type { Warning } from '../plausibility/types.ts';

/**
 * The composed strategy. Field names and number formats are those of the frozen v1 contract (section 2.1); strings are
 * formatted. `undefined` = not measured (absent in REST), `null` = measured and none, or not applicable. Every empty field has
 * its reason in `gaps`.
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
  readonly project?: string | undefined;
  readonly yieldSource?: string | undefined;
  /** Curated; absent when the catalog has none. */
  readonly description?: string | undefined;
  /** USD per token, plain decimal. */
  readonly priceUsd?: string | undefined;
  /** Source of the price; `oracle` = oracle price × loan price. GraphQL only. */
  readonly priceSource?: string | undefined;
  readonly isPt: boolean;
  /** Unix seconds. */
  readonly maturity: number | null;
  readonly maturityDate: string | null;
  readonly underlying?: { readonly address: Address; readonly symbol: string } | undefined;
}

export interface StrategyLoan {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** USD per token, plain decimal. */
  readonly priceUsd?: string | undefined;
  /** Source of the price. GraphQL only. */
  readonly priceSource?: string | undefined;
}

/** A campaign that not everybody can earn, or whose reward cannot be sold. */
export interface RestrictedIncentive {
  readonly symbol: string;
  readonly reason: Restriction;
  /** By its provider; absent = not given. */
  readonly aprPct?: string | undefined;
  readonly endsAtMs: number;
}

export interface Incentive {
  readonly aprPct: string;
  readonly breakdown: readonly { readonly symbol: string; readonly aprPct: string }[];
  /** Running campaigns that are in no APY; absent = none. */
  readonly restricted?: readonly RestrictedIncentive[] | undefined;
  /** A campaign could not be read: the sum is at least this. Absent = all were read. */
  readonly lowerBound?: true | undefined;
  readonly campaignUrl?: string | undefined;
  /** End of the first campaign to end, ms. */
  readonly endsAtMs: number;
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
  readonly exitLiquidityTier?:
    | {
        readonly value: ExitTier;
        readonly thresholds: { readonly listingMaxPct: number; readonly depthCleanMaxPct: number };
      }
    | undefined;
  readonly profile?: { readonly value: 'leveraged_perp'; readonly leverageApyMeaning: string } | undefined;
  /** Warnings about the displayed values; absent when there are none. */
  readonly warnings?: readonly Warning[] | undefined;
}

export type VisibilityCheckName = (typeof VISIBILITY_CHECKS)[number];

/**
 * One listing rule and its result. `value` and `threshold` are plain strings; `null` = unknown or without one. An unknown
 * value passes, so that a failing source does not empty the list.
 */
export interface VisibilityCheck {
  readonly name: VisibilityCheckName;
  readonly passed: boolean;
  readonly value: string | null;
  readonly threshold: string | null;
  /** For rules about the deployed contract: source and time; absent before the first measurement. */
  readonly source?: string | undefined;
  readonly stamp?: Stamp | undefined;
  /** The assumption for a rule that is undecided; absent for a decided one. */
  readonly note?: string | undefined;
}

export interface Visibility {
  readonly visible: boolean;
  readonly checks: readonly VisibilityCheck[];
}

/** Fields of equity vaults only. */
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
 * An equity vault uses the same shape. `collateral`, `loan`, `oracle`, borrow rates, liquidity and LTV limits are those of its
 * stock market (`ltvPct.max` and `.safe` = the cap of 88 % of the liquidation LTV). `collateralApyPct` is the leveraged APY of
 * the yield leg, and `collateralApySource` the source of the yield collateral. On a rung, `ltvPct` is the stock-leg LTV,
 * `leverage` = 1 + LTV is the gross exposure per unit deposited, and `leverageApyPct` = LTV × (yield-leg APY − stock borrow
 * APY) is the net APY. `defaultLeverage` is at the target LTV.
 */
export interface Strategy {
  readonly id: StrategyId;
  readonly kind: 'loop' | 'equity';
  readonly chainId: ChainId;
  /** The market; of an equity vault its stock market. */
  readonly marketId: MarketId;
  readonly correlated: boolean;
  readonly curator?: string | undefined;
  readonly collateral: StrategyCollateral;
  readonly loan: StrategyLoan;
  readonly collateralApyPct: string;
  readonly collateralApySource: CollateralApySource;
  /** The rate that the ladder is computed with: the collateral APY plus the collateral incentive; of a vault the APY of its yield leg. */
  readonly totalCollateralApyPct: string;
  readonly yieldSustainabilityPct?: FormattedMeans | undefined;
  readonly pointsIncentive?: { readonly program: string; readonly perDayPerCollateralToken: number } | null | undefined;
  readonly borrowApyPct: string;
  readonly quarterlyBorrowApyPct?: string | undefined;
  readonly borrowIncentive?: Incentive | null | undefined;
  readonly collateralIncentive?: Incentive | null | undefined;
  readonly netBorrowApyPct: string;
  /** USD with 2 places. */
  readonly supplyUsd?: string | undefined;
  readonly liquidityUsd?: string | undefined;
  readonly publicAllocatorLiquidityUsd?: string | undefined;
  readonly maxLeverage: string;
  readonly utilizationPct?: string | undefined;
  readonly leverageLadder: readonly LadderEntry[];
  readonly defaultLeverage: LadderEntry;
  readonly historicalLeverageApyPct?: FormattedMeans | undefined;
  /** `safe` (GraphQL only) is the highest LTV that builders accept. */
  readonly ltvPct: { readonly liquidation: string; readonly max: string; readonly safe: string };
  readonly oracle: { readonly address: Address; readonly type?: 'nav' | 'market' | undefined };
  /** Time of the oldest update among the feeds behind the oracle's price, ms; `null` = it needs none, absent = not known. */
  readonly oraclePriceAsOfMs?: number | null | undefined;
  readonly exitLiquidity: ExitLiquidity;
  /** Also true, with a gap of this field, while no sweep has been measured. */
  readonly noSwapRoute: boolean;
  readonly spiralHints?: SpiralHints | undefined;
  readonly freshness: {
    readonly borrow: Stamp;
    readonly collateralApy: Stamp;
    readonly exitLiquidity: Stamp;
    /** GraphQL only. */
    readonly oracle: Stamp;
  };
  /** Age of the inputs that the borrow and collateral groups leave out; an input that was never measured is absent. */
  readonly inputFreshness: { readonly prices?: Stamp | undefined; readonly incentives?: Stamp | undefined };
  /** Fees of the contract that holds positions; of an equity vault those of its yield leg. */
  readonly fees: FormattedFees;
  readonly links?:
    | {
        readonly app?: string | undefined;
        readonly market?: string | undefined;
        readonly yieldSource?: string | undefined;
      }
    | undefined;
  readonly equityVault?: EquityTerms | undefined;
  /** Terms of the deployed contract for positions on its market; of a vault those of its yield leg. */
  readonly deployment?: DeploymentTerms | undefined;
  readonly visibility: Visibility;
  readonly gaps: readonly Gap[];
}
