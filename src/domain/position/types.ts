import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { MarketsAtBlock } from '../market/at-block.ts';
import type { Warning } from '../plausibility/types.ts';
import type { ExitTier } from '../strategy/types.ts';
import type { FormattedClosing } from './closing.ts';

/** One leveraged position as the chain holds it, in base units. */
export interface HeldPosition {
  /** Index in the wallet's array of positions. */
  readonly id: number;
  readonly marketId: MarketId;
  /** The contract that holds the collateral and owes the debt. */
  readonly proxy: Address;
  /** The contract's own flag. It stays true after a liquidation. */
  readonly open: boolean;
  /**
   * Loan base units: the deposit basis (deposits and repayments minus withdrawals and borrows), and the proceeds of closing.
   */
  readonly depositedAssets: bigint;
  readonly returnedAssets: bigint;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
  /** Whether only its owner acts through its contract any more; absent = not known, or not read. */
  readonly manualMode?: boolean | undefined;
}

/** A wallet's own collateral and debt on the stock market of an equity vault, in base units. */
export interface HeldStock {
  readonly marketId: MarketId;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
}

/** Holdings of one wallet on one chain, read at one block. */
export interface WalletHoldings {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly block: { readonly number: bigint /** Unix seconds. */; readonly timestamp: bigint };
  /** In the order of their ids, the oldest first. */
  readonly positions: readonly HeldPosition[];
  /** Only markets in which the wallet has collateral or debt. */
  readonly stocks: readonly HeldStock[];
  /** Routers of the product that are authorized on the wallet's own lending positions; absent = not known, or not read. */
  readonly authorized?: readonly Address[] | undefined;
  /** The markets of the holdings, at the same block; absent if they were not read. */
  readonly markets?: MarketsAtBlock | undefined;
}

/** The block at which holdings, debt and prices were read. */
export interface ReadAt {
  readonly blockNumber: bigint;
  /** ms. */
  readonly blockTimeMs: number;
}

export function readAtOf({ number, timestamp }: WalletHoldings['block']): ReadAt {
  return { blockNumber: number, blockTimeMs: Number(timestamp) * 1_000 };
}

/** A position in manual mode, which its owner closes without the product. Base units. */
export interface ManualHolding {
  readonly collateral: bigint;
  readonly borrowShares: bigint;
  /** With the interest of half an hour after the reading, because approvals take time. */
  readonly debtLater: bigint;
}

export const POSITION_STATUSES = ['open', 'closed', 'liquidated'] as const;
export type PositionStatus = (typeof POSITION_STATUSES)[number];

/** Market depth for closing a position. */
export interface PositionExit {
  readonly tier?: ExitTier | undefined;
  /** The largest measured size with a clean exit, whole USD; `null` = measured, none. */
  readonly cleanExitSizeUsd?: string | null | undefined;
  /** Size of the sale when closing, USD with 2 places. */
  readonly unwindSizeUsd?: string | undefined;
  readonly exceedsCleanExitSize?: boolean | undefined;
  readonly noSwapRoute: boolean;
}

/**
 * One position with formatted values: amounts are whole tokens as plain decimals, percentages have 2 places. `undefined` = not
 * known, `null` = not applicable (an LTV without collateral); every empty field has its reason in `gaps`.
 */
export interface Position {
  readonly id: number;
  /** `{chainId}-{marketId}-{id}` */
  readonly positionId: string;
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly proxy: Address;
  readonly marketId: MarketId;
  readonly strategyId: StrategyId;
  readonly status: PositionStatus;
  readonly open: boolean;
  readonly liquidated: boolean;
  readonly collateralSymbol?: string | undefined;
  readonly collateralAddress?: Address | undefined;
  readonly collateralDecimals?: number | undefined;
  readonly loanSymbol?: string | undefined;
  readonly loanAddress?: Address | undefined;
  readonly loanDecimals?: number | undefined;
  readonly amountLeveragedCollateral?: string | undefined;
  /** Remaining collateral if the debt were paid with it at the oracle's price; negative under water. */
  readonly netCollateral?: string | undefined;
  /** Debt with interest up to the block of the reading. */
  readonly amountLoan?: string | undefined;
  readonly ltvPct?: string | null | undefined;
  readonly liquidationLtvPct?: string | undefined;
  /** Points between the two displayed numbers. */
  readonly ltvHeadroomPct?: string | null | undefined;
  /** 4 places, rounded down; `null` = without debt there is none. */
  readonly healthFactor?: string | null | undefined;
  /** 1 place. */
  readonly currentLeverage?: string | null | undefined;
  /** USD with 2 places, all three at the oracle's and the loan token's price. */
  readonly collateralUsd?: string | undefined;
  readonly debtUsd?: string | undefined;
  readonly netValueUsd?: string | undefined;
  readonly currentLeverageApyPct?: string | null | undefined;
  readonly amountDepositedInLoanToken?: string | undefined;
  readonly amountReturnedInLoanToken?: string | undefined;
  /** Loan tokens per collateral token at which it can be liquidated; `null` = it has no debt. */
  readonly liquidationPrice?: string | null | undefined;
  /** Percent that the oracle's price may fall until then, 2 places; negative = it can be liquidated now. */
  readonly priceDropToLiquidationPct?: string | null | undefined;
  /** Whether only its owner acts on it any more, through the contract that holds it; `null` = it has ended. */
  readonly manualMode?: boolean | null | undefined;
  /** Amounts in base units; present in manual mode only, where the wallet's own calls close the position. */
  readonly manual?: ManualHolding | undefined;
  readonly exitLiquidity: PositionExit | null;
  /** Result of closing now, at today's yield fee; `null` = it has ended. */
  readonly closeNow?: FormattedClosing | null | undefined;
  /** Block at which holdings and debt were read. The price is of the same block unless `freshness` says otherwise. */
  readonly readAt: ReadAt;
  /** Time of the oldest update among the feeds behind the oracle's price, ms; `null` = it needs none; absent = not known. */
  readonly oraclePriceAsOfMs?: number | null | undefined;
  readonly freshness?: { readonly borrow: Stamp; readonly oracle: Stamp; readonly collateralApy: Stamp } | undefined;
  /** Warnings about the values that it is valued with. */
  readonly warnings: readonly Warning[];
  readonly gaps: readonly Gap[];
}
