import type { SwapSource } from '../../catalog/schema.ts';
import type { EquityVault } from '../../catalog/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import type { CostKind } from '../preview/costs.ts';
import type { PricedAt } from '../read/market-state.ts';
import type { PlannedSwap } from '../types.ts';

/** Referral fees of the swaps into a vault; zero without a receiver. */
export interface DepositFees {
  readonly stockLegBps: number;
  readonly yieldLegBps: number;
}

/** The three swaps of a deposit, in the order in which the router runs them. */
export interface DepositSwaps {
  /** Deposit token → stock. */
  readonly stock: PlannedSwap;
  /** The stock leg's borrow → collateral of the yield market. */
  readonly zap: PlannedSwap;
  /** The yield leg's flash loan → collateral of the yield market. */
  readonly leverage: PlannedSwap;
}

/** Everything that was decided about a deposit, before any calldata. Base units. */
export interface DepositTerms {
  readonly vault: EquityVault;
  readonly router: Address;
  readonly amountIn: bigint;
  /** The requested LTV, percent; reached with the least stock that the swap may give. */
  readonly stockLtvPct: Decimal;
  readonly stockBorrow: bigint;
  readonly amountFlashLoan: bigint;
  /** Share of the loop's collateral that the contract takes first, in WAD; 0 on a correlated yield market. */
  readonly depositFee: bigint;
  readonly swaps: DepositSwaps;
  readonly fees: DepositFees;
  readonly slippage: Decimal;
  readonly preview: DepositPreview;
}

/** The wallet's whole stock leg after a deposit: one lending position, liquidated as one. */
export interface CombinedStock {
  readonly collateral: string;
  readonly debtUsdg: string;
  readonly ltvPct: string;
  readonly liquidationPriceUsd?: string | undefined;
  readonly priceDropToLiquidationPct: string;
}

/** One cost of a deposit, ready to show. */
export interface FormattedCost {
  readonly kind: CostKind;
  readonly token: Address;
  readonly symbol: string;
  readonly amount: string;
  readonly usd?: string | undefined;
  readonly pctOfEquity?: string | undefined;
}

/** Costs of a deposit, and its value after the worst fill; amounts in whole deposit tokens. */
export interface DepositCosts {
  readonly costs: readonly FormattedCost[];
  /** Loss of the three swaps, percent of the deposit. */
  readonly totalSwapCostPctOfEquity?: string | undefined;
  /** When every swap gives its minimum only: net value of both legs, LTV of the stock leg and of the yield leg. */
  readonly worstCase: { readonly equity: string; readonly ltv: string; readonly yieldLtv: string };
  /** Of the stock leg: deposit tokens per stock, and how far the stock may fall until then. */
  readonly liquidation?: { readonly price: string; readonly dropPct: string } | undefined;
}

/**
 * A deposit once its swaps have filled at their quotes. Strings are ready to show: percentages have 2 places, amounts are whole
 * tokens. `undefined` = unknown, because the loan token's USD price is unknown.
 */
export interface DepositPreview extends DepositCosts, PricedAt {
  readonly chainId: ChainId;
  readonly strategyId: StrategyId;
  readonly depositAmount: string;
  readonly stock: {
    readonly symbol: string;
    readonly priceUsd?: string | undefined;
    /** At the quote. */
    readonly expectedReceived: string;
    readonly minReceived: string;
    /** As requested: reached with `minReceived`. */
    readonly requestedLtvPct: string;
    /** At the quote; never above `requestedLtvPct`. */
    readonly ltvPct: string;
    readonly maxLtvPct: string;
    readonly liquidationLtvPct: string;
    readonly liquidationPriceUsd?: string | undefined;
    readonly priceDropToLiquidationPct: string;
    /** With the wallet's stock leg before the deposit; absent without a wallet. */
    readonly combined?: CombinedStock | undefined;
    readonly borrowUsdg: string;
    /** At the rate that the market has once this deposit has borrowed; `…BeforePct` is the rate of now. */
    readonly borrowApyPct: string;
    readonly borrowApyBeforePct: string;
    readonly swapSource: SwapSource;
    readonly priceImpactPct: string;
  };
  readonly yieldLeg: {
    readonly strategyId: StrategyId;
    /** Collateral of the loop, before the flash loan's share. */
    readonly collateralIn: string;
    readonly minCollateralIn: string;
    /** 1 place. */
    readonly leverage: string;
    readonly ltvPct: string;
    readonly liquidationLtvPct: string;
    readonly amountFlashLoan: string;
    /** Of the loop, whole deposit tokens. */
    readonly depositBasis: string;
    /** Once this deposit has borrowed: its own flash loan raises the rate it pays. `…BeforePct` is at the rates of now. */
    readonly leverageApyPct: string;
    readonly leverageApyBeforePct: string;
    readonly swapSource: SwapSource;
    readonly priceImpactPct: string;
    /** Of its own oracle, ms; `null` = it needs no feed, absent = not known. */
    readonly oraclePriceAsOfMs?: number | null | undefined;
  };
  /** Once this deposit has borrowed and so raised both rates; `…BeforePct` is at the rates of now. */
  readonly netApyPct: string;
  readonly netApyBeforePct: string;
  readonly fees: {
    readonly stockLegBps: number;
    readonly yieldLegBps: number;
    readonly estimatedFeeUsd?: string | undefined;
  };
}

/** One loop that an exit closes. */
export interface LoopExit {
  readonly positionId: number;
  /** The contract that holds it. */
  readonly proxy: Address;
  readonly swap: PlannedSwap;
  /** The amount in the calldata, collateral base units; absent = all that is there when it is executed. */
  readonly amount?: bigint | undefined;
}

/** Everything that was decided about an exit, before any calldata. */
export interface ExitTerms {
  readonly vault: EquityVault;
  readonly router: Address;
  /** In the order in which they are closed. */
  readonly loops: readonly LoopExit[];
  readonly stockSwap: PlannedSwap;
  readonly slippage: Decimal;
}
