import type { Chain, Market } from '../../catalog/types.ts';
import type { Address, ChainId, Hex, MarketId } from '../../shared/ids.ts';

/** Events of Morpho that change a position, of the product's contract, and of tokens. */
export const MORPHO_EVENTS = ['SupplyCollateral', 'WithdrawCollateral', 'Borrow', 'Repay', 'Liquidate'] as const;
export const PRODUCT_EVENTS = [
  'LeveragePositionOpened',
  'LeveragePositionClosed',
  'CollateralSupplied',
  'CollateralWithdrawn',
  'LoanRepaid',
  'AdditionalBorrowed',
] as const;
export type MorphoEvent = (typeof MORPHO_EVENTS)[number];
export const RECORDED_EVENTS = [...MORPHO_EVENTS, 'CreateMarket', ...PRODUCT_EVENTS, 'Transfer'] as const;
export type RecordedEvent = (typeof RECORDED_EVENTS)[number];

/** One log of the chain that concerns a position. Amounts are base units; values that its event lacks are 0 or `null`. */
export interface RecordedLog {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** Time of the block, ms. */
  readonly atMs: number;
  readonly txHash: Hex;
  /** Place within the block. */
  readonly logIndex: number;
  readonly event: RecordedEvent;
  /** Of events of Morpho. */
  readonly marketId: MarketId | null;
  /** Contract of the position, or the wallet of a stock leg, of events of Morpho. */
  readonly account: Address | null;
  /** Owner and index of the position, of events of the product's contract. */
  readonly wallet: Address | null;
  readonly positionIndex: number | null;
  /**
   * Token, sender and receiver of a transfer. Of an event of Morpho the sender is who called it and paid (`SupplyCollateral`,
   * `Repay`), and the receiver who was paid (`WithdrawCollateral`, `Borrow`). Of `CollateralSupplied` and `LoanRepaid` the sender is
   * that of a transaction that calls the product's router; `null` = it calls another contract, or was read by an earlier version.
   */
  readonly token: Address | null;
  readonly sender: Address | null;
  readonly receiver: Address | null;
  /** Loan tokens; of a transfer those of its token. */
  readonly assets: bigint;
  /** Borrow shares. */
  readonly shares: bigint;
  /** Collateral; of a liquidation the seized one. */
  readonly collateral: bigint;
  /** Bad debt of a liquidation: not repaid by the liquidator. */
  readonly badDebt: bigint;
  readonly badDebtShares: bigint;
}

/** Blocks of a chain whose logs were read, without a gap. */
export interface ReadRange {
  readonly fromBlock: bigint;
  readonly fromMs: number;
  readonly toBlock: bigint;
  readonly toMs: number;
  /** Whether every opening, and the creation of every stock market, is in the range: older blocks have nothing to add. */
  readonly isWhole: boolean;
}

/** State of a market at a block. */
export interface MarketMark {
  readonly blockNumber: bigint;
  /** Time of the block, ms. */
  readonly atMs: number;
  /** Loan base units per collateral base unit, times 1e36. */
  readonly price: bigint;
  /** Debt of the market with interest up to the block. */
  readonly totalBorrowAssets: bigint;
  readonly totalBorrowShares: bigint;
}

/** The key of a position, or of the stock leg of a vault, in recorded logs. */
export interface PositionKey {
  readonly chainId: ChainId;
  readonly wallet: Address;
  /** `null` = a stock leg, which the wallet holds itself. */
  readonly positionIndex: number | null;
  /** The contract of the position; of a stock leg the wallet. */
  readonly account: Address;
  readonly marketId: MarketId;
}

/** The record of a position: its logs, and the marks of its market. */
export interface RecordedPosition {
  /** `null` = no block of the chain has been read yet. */
  readonly range: ReadRange | null;
  /** Every log of the transactions of the position, of other positions too, in the order of the chain. */
  readonly logs: readonly RecordedLog[];
  /** Of its market, since its first log, oldest first. */
  readonly marks: readonly MarketMark[];
  /** Whether there are more than are read. */
  readonly isCut: boolean;
}

export interface HistoryInput {
  readonly key: PositionKey;
  readonly market: Market;
  readonly contracts: Pick<Chain['contracts'], 'morphoBlue' | 'flashLeverage' | 'flashLeverageRouter' | 'equityRouter'>;
  readonly recorded: RecordedPosition;
  /** The position as the chain holds it now, and the block of that reading. */
  readonly held: {
    readonly collateral: bigint;
    readonly borrowShares: bigint;
    /** Deposit basis that the contract keeps of a position, loan base units; absent of a stock leg. */
    readonly depositedAssets?: bigint | undefined;
    readonly blockNumber: bigint;
  };
}
