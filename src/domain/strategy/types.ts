import type { CollateralApySource, CollateralCategory } from '../../catalog/schema.ts';
import type { TokenPoints } from '../../catalog/types.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { FormattedMeans } from '../apy/series.ts';
import type { DeploymentTerms } from '../deployment/terms.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { FormattedFees } from '../market/fees.ts';
import type { Warning } from '../plausibility/types.ts';

/** The rules that decide whether a strategy is listed. */
export const VISIBILITY_CHECKS = [
  'has_yield',
  'swap_route',
  'maturity',
  'liquidity',
  'unsupported',
  'paused',
  'venue_not_allowed',
  'catalog_mismatch',
  'operator_not_approved',
] as const;

/**
 * The composed strategy: the values that are its own. Prices, incentives and the cost of selling are those of its market.
 * Strings are formatted. `undefined` = not measured, `null` = measured and none, or not applicable. Every empty field has its
 * reason in `gaps`.
 */

export interface LadderEntry {
  /** Decimal with 1 place. */
  readonly leverage: string;
  /** Percent with 1 place. */
  readonly ltvPct: string;
  /** Signed percent with 2 places. */
  readonly leverageApyPct: string;
}

/** What lists are filtered, searched and ordered by. */
export interface StrategyCollateral {
  readonly address: Address;
  readonly symbol: string;
  readonly name: string;
  readonly category: CollateralCategory;
  /** Unix seconds. */
  readonly maturity: number | null;
}

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
  readonly yieldStrategyId: StrategyId;
  readonly targetLtvPct: string;
  /** 88 % of the liquidation LTV, percent with 2 places. */
  readonly maxStockLtvPct: string;
  /** Leveraged APY of the yield leg at its safe LTV, percent with 2 places. */
  readonly yieldLegApyPct: string;
}

/**
 * One leverage strategy: a loop on one market, or an equity vault.
 *
 * An equity vault uses the same shape. `collateral`, `loan`, borrow rates, liquidity and LTV limits are those of its
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
  readonly loan: Pick<StrategyCollateral, 'address' | 'symbol'>;
  readonly collateralApyPct: string;
  readonly collateralApySource: CollateralApySource;
  /** The rate that the ladder is computed with: the collateral APY plus the collateral incentive; of a vault the APY of its yield leg. */
  readonly totalCollateralApyPct: string;
  readonly yieldSustainabilityPct?: FormattedMeans | undefined;
  readonly pointsIncentive?:
    | (NonNullable<TokenPoints['program']> & Pick<TokenPoints, 'sourceUrl' | 'checkedAtMs'>)
    | null
    | undefined;
  readonly borrowApyPct: string;
  readonly quarterlyBorrowApyPct?: string | undefined;
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
  /** Time of the oldest update among the feeds behind the oracle's price, ms; `null` = it needs none, absent = not known. */
  readonly oraclePriceAsOfMs?: number | null | undefined;
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
