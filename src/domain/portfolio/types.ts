import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { Drift } from '../drift/types.ts';
import type { EquityPosition } from '../equity/position.ts';
import type { FailureReason } from '../facts.ts';
import type { Gap } from '../freshness/types.ts';
import type { Position, PositionStatus } from '../position/types.ts';

/** A position as the app registered it. `null` = not registered. */
export interface RegisteredRow {
  readonly wallet: Address;
  readonly chainId: ChainId;
  readonly marketId: MarketId;
  /** Index of the position in the wallet's array on chain. */
  readonly positionIndex: number;
  readonly isOpen: boolean;
  readonly depositedUsd: Decimal;
  readonly addedUsd: Decimal;
  readonly removedUsd: Decimal;
  readonly returnedUsd: Decimal;
  readonly collateralApyPctAtOpen: Decimal | null;
  readonly borrowApyPctAtOpen: Decimal | null;
  readonly leverageApyPctAtOpen: Decimal | null;
  readonly desiredLtvPct: Decimal | null;
  readonly entryPrice: Decimal | null;
  readonly exitPrice: Decimal | null;
  /** Vault whose yield loop the position is; `null` = a plain position. */
  readonly equityVaultId: StrategyId | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly closedAtMs: number | null;
}

/** A row whose times are checked: none is later than now. */
export interface RegisteredPosition extends RegisteredRow {
  /** Time of registration; `null` = the register has a time in the future. */
  readonly openedAtMs: number | null;
}

/**
 * Result of a position, exact USD as plain decimals. For a plain position amounts come from the chain, in loan tokens at
 * today's price; for a vault they are the registered ones. `baseResultUsd = netValueUsd + returnedUsd − depositedUsd`,
 * `totalUsd = baseResultUsd + incentivesUsd`, both before the fee of closing; `…AfterFeeUsd` is after that fee. Absent = not
 * known, with a gap `<field>`.
 */
export interface Pnl {
  readonly depositedUsd?: string | undefined;
  readonly returnedUsd?: string | undefined;
  /** Current net value; "0" once it has ended. */
  readonly netValueUsd?: string | undefined;
  /** Debt beyond the collateral, which the owner does not have to pay; absent while the net value is not known. */
  readonly badDebtUsd?: string | undefined;
  /** The part of the net value that is valued by a divergent oracle. */
  readonly divergentUsd?: string | undefined;
  readonly baseResultUsd?: string | undefined;
  /** Accrued incentives of its market over its life. Not part of the net value. */
  readonly incentivesUsd?: string | undefined;
  readonly totalUsd?: string | undefined;
  /** Yield fee of closing everything that is open today; at the documented rate while the contract's own is not known. */
  readonly yieldFeeUsd?: string | undefined;
  readonly baseResultAfterFeeUsd?: string | undefined;
  readonly totalAfterFeeUsd?: string | undefined;
  /** `totalUsd` over `depositedUsd`, percent; `null` = nothing was deposited. */
  readonly returnOnEquityPct?: string | null | undefined;
  readonly gaps: readonly Gap[];
}

/** A loop of a wallet with its row of the register. */
export interface PortfolioLoop {
  readonly kind: 'loop';
  readonly position: Position;
  readonly row: RegisteredPosition | null;
  readonly drift: Drift | null;
  readonly pnl: Pnl;
}

/** An equity vault, open or ended, with its matched loops. */
export interface PortfolioVault {
  readonly kind: 'vault';
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly vaultId: StrategyId;
  readonly status: PositionStatus;
  /** Symbol of the stock; absent while the vault is not in the catalog. */
  readonly stockSymbol?: string | undefined;
  /** Its stock leg and loops as they are held; `null` once it has ended. */
  readonly equity: EquityPosition | null;
  readonly loops: readonly PortfolioLoop[];
  readonly pnl: Pnl;
}

export type PortfolioItem = PortfolioLoop | PortfolioVault;

export const UNRESOLVED_REASONS = ['market_not_configured', 'no_chain_position', 'chain_mismatch'] as const;
/**
 * Why a row has no position: its market is in no catalog; the wallet has no such position; its market is configured on another
 * chain; or the position is in another market.
 */
export type UnresolvedReason = (typeof UNRESOLVED_REASONS)[number];

export interface UnresolvedRow {
  readonly reason: UnresolvedReason;
  /** One plain sentence. */
  readonly message: string;
  readonly row: RegisteredPosition;
}

export interface PortfolioHeader {
  /** Deposits of everything open, exact USD; absent while one is not known. */
  readonly totalDepositedUsd?: string | undefined;
  /** Open loops and open vaults; the loops of vaults are not counted again. */
  readonly openCount: number;
}

/** A wallet on one chain: its holdings on chain merged with the register. */
export interface Portfolio {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly block: { readonly number: bigint /** Unix seconds. */; readonly timestamp: bigint };
  readonly header: PortfolioHeader;
  /** Routers that are still authorized on the wallet's lending positions after an interrupted batch; absent = not known. */
  readonly leftAuthorizations?: readonly Address[] | undefined;
  /** Open plain loops, newest first. */
  readonly positions: readonly PortfolioLoop[];
  readonly equityPositions: readonly PortfolioVault[];
  /** Ended items, newest first; the loops of a closed vault are grouped in the vault. */
  readonly closed: readonly PortfolioItem[];
  readonly unresolved: readonly UnresolvedRow[];
  readonly pnl: Pnl;
}

/** A wallet that could not be read. The others are not affected. */
export interface FailedPortfolio {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly failure: { readonly reason: FailureReason | 'internal'; readonly message: string };
}

export type PortfolioEntry = Portfolio | FailedPortfolio;
