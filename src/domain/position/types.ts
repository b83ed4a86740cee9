import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { MarketsAtBlock } from '../market/at-block.ts';
import type { Warning } from '../market/types.ts';
import type { ExitTier } from '../strategy/types.ts';
import type { ShownClosing } from './closing.ts';

/** One leveraged position as the chain holds it, in base units. */
export interface HeldPosition {
  /** Index in the wallet's array of positions. */
  readonly id: number;
  readonly marketId: MarketId;
  /** The contract that holds the collateral and owes the debt. */
  readonly proxy: Address;
  /** The contract's own flag: it stays true on a position that was liquidated. */
  readonly open: boolean;
  /** Loan base units: the deposit basis (put in and repaid less taken out and borrowed), and what closing has paid out. */
  readonly depositedAssets: bigint;
  readonly returnedAssets: bigint;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
  /** Whether only its owner acts through its contract any more; absent = that contract did not tell, or was not asked. */
  readonly manualMode?: boolean;
}

/** A wallet's own collateral and debt on the stock market of an equity vault, in base units. */
export interface HeldStock {
  readonly marketId: MarketId;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
}

/** Everything that one wallet holds on one chain, read at one block. */
export interface WalletHoldings {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly block: { readonly number: bigint /** Unix seconds. */; readonly timestamp: bigint };
  /** In the order of their ids, the oldest first. */
  readonly positions: readonly HeldPosition[];
  /** Only markets on which the wallet holds something. */
  readonly stocks: readonly HeldStock[];
  /** Routers of the product that may still act on the wallet's own lending positions; absent = not known, or not asked. */
  readonly authorized?: readonly Address[];
  /** The markets that it stands on, at the same block; absent where they were not read. */
  readonly markets?: MarketsAtBlock;
}

/** The block at which holdings, debt and prices were read. */
export interface ReadAt {
  readonly blockNumber: bigint;
  /** ms. */
  readonly blockTimeMs: number;
}

/** Tell where a reading was made. */
export function readAtOf({ number, timestamp }: WalletHoldings['block']): ReadAt {
  return { blockNumber: number, blockTimeMs: Number(timestamp) * 1_000 };
}

/** A position that its owner takes apart alone. Base units. */
export interface ManualHolding {
  readonly collateral: bigint;
  readonly borrowShares: bigint;
  /** With the interest of the half hour after the reading: approvals take their time. */
  readonly debtLater: bigint;
}

export const POSITION_STATUSES = ['open', 'closed', 'liquidated'] as const;
export type PositionStatus = (typeof POSITION_STATUSES)[number];

/** What getting out of a position would meet. */
export interface PositionExit {
  readonly tier?: ExitTier;
  /** The largest measured size that sells clean, whole USD; `null` = measured, none does. */
  readonly cleanExitSizeUsd?: string | null;
  /** What closing would sell, USD with 2 places. */
  readonly unwindSizeUsd?: string;
  readonly exceedsCleanExitSize?: boolean;
  readonly noSwapRoute: boolean;
}

/**
 * One position, ready to show: amounts are whole tokens as plain decimals, percentages have 2 places. `undefined` = not
 * known, `null` = it cannot apply (an LTV without collateral); every empty field has its reason in `gaps`.
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
  readonly collateralSymbol?: string;
  readonly loanSymbol?: string;
  /** All collateral of the position. */
  readonly amountLeveragedCollateral?: string;
  /** What would be left of it if the debt were paid with it at the oracle's price; negative under water. */
  readonly netCollateral?: string;
  /** Debt with interest up to the block of the reading. */
  readonly amountLoan?: string;
  readonly ltvPct?: string | null;
  readonly liquidationLtvPct?: string;
  /** Points between the two, as shown. */
  readonly ltvHeadroomPct?: string | null;
  /** 1 place. */
  readonly currentLeverage?: string | null;
  /** USD with 2 places, all three by the oracle and the loan token's price. */
  readonly collateralUsd?: string;
  readonly debtUsd?: string;
  readonly netValueUsd?: string;
  readonly currentLeverageApyPct?: string | null;
  readonly amountDepositedInLoanToken?: string;
  readonly amountReturnedInLoanToken?: string;
  /** Loan tokens per collateral token at which it can be liquidated; `null` = without debt it cannot be. */
  readonly liquidationPrice?: string | null;
  /** Whether only its owner acts on it any more, through the contract that holds it; `null` = it has ended. */
  readonly manualMode?: boolean | null;
  /** What it holds and owes in base units; present in manual mode only, where the wallet's own calls take it apart. */
  readonly manual?: ManualHolding;
  readonly exitLiquidity: PositionExit | null;
  /** What closing it now comes to, by today's yield fee; `null` = it has ended. */
  readonly closeNow?: ShownClosing | null;
  /** Where what it holds and owes was read, and the price that values it unless `freshness` says otherwise. */
  readonly readAt: ReadAt;
  /** When the feeds behind the oracle's price were updated, the oldest, ms; `null` = it needs none; absent = not known. */
  readonly oraclePriceAsOfMs?: number | null;
  readonly freshness?: { readonly borrow: Stamp; readonly oracle: Stamp; readonly collateralApy: Stamp };
  /** What to know of the values that it is valued with. */
  readonly warnings: readonly Warning[];
  readonly gaps: readonly Gap[];
}
