import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { Drift } from '../drift/types.ts';
import type { EquityPosition } from '../equity/position.ts';
import type { FailureReason } from '../facts.ts';
import type { Gap } from '../freshness/types.ts';
import type { Position, PositionStatus } from '../position/types.ts';

/** A position as the app registered it. `null` = the app did not say. */
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
  readonly equityVaultId: StrategyId | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly closedAtMs: number | null;
}

/** A row with its times as they can be believed: none is later than now. */
export interface RegisteredPosition extends RegisteredRow {
  /** Since when the position is registered; `null` = the register claims a time that lies ahead. */
  readonly openedAtMs: number | null;
}

/**
 * What a position has brought, exact USD as plain decimals. A plain position's amounts are the chain's, in loan tokens, at
 * the loan token's price now; a vault's are the registered ones. `baseResultUsd = netValueUsd + returnedUsd − depositedUsd`,
 * `totalUsd = baseResultUsd + incentivesUsd`, both before the fee of closing what is open; `…AfterFeeUsd` less that fee.
 * Absent = not known, with a gap `pnl.<field>`.
 */
export interface Pnl {
  readonly depositedUsd?: string;
  readonly returnedUsd?: string;
  /** What is left in it now; "0" once it has ended. */
  readonly netValueUsd?: string;
  /** What its loans owe beyond their collateral, which nobody has to pay; absent while the net value is not known. */
  readonly badDebtUsd?: string;
  /** The part of the net value that stands on an oracle far from what it can be compared with. */
  readonly divergentUsd?: string;
  readonly baseResultUsd?: string;
  /** What the incentives of its market have accrued to it over its life. Not part of the net value. */
  readonly incentivesUsd?: string;
  readonly totalUsd?: string;
  /** What closing everything that is open would pay as yield fee today; by the documented rate where the contract does not tell its own. */
  readonly yieldFeeUsd?: string;
  readonly baseResultAfterFeeUsd?: string;
  readonly totalAfterFeeUsd?: string;
  /** `totalUsd` over `depositedUsd`, percent; `null` = nothing was deposited. */
  readonly returnOnEquityPct?: string | null;
  readonly gaps: readonly Gap[];
}

/** A loop of a wallet with what the register knows of it. */
export interface PortfolioLoop {
  readonly kind: 'loop';
  readonly position: Position;
  readonly row: RegisteredPosition | null;
  readonly drift: Drift | null;
  readonly pnl: Pnl;
}

/** An equity vault, open or ended, with the loops that are its own. */
export interface PortfolioVault {
  readonly kind: 'vault';
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly vaultId: StrategyId;
  readonly status: PositionStatus;
  /** Symbol of the stock; absent while the vault is not in the catalog. */
  readonly stockSymbol?: string;
  /** Its stock leg and loops as they are held; `null` once it has ended. */
  readonly equity: EquityPosition | null;
  readonly loops: readonly PortfolioLoop[];
  readonly pnl: Pnl;
}

export type PortfolioItem = PortfolioLoop | PortfolioVault;

export const UNRESOLVED_REASONS = ['market_not_configured', 'no_chain_position', 'chain_mismatch'] as const;
/** Why a row has nothing behind it: nobody knows its market; the wallet has no such position; it names another chain's market, or not the one of its position. */
export type UnresolvedReason = (typeof UNRESOLVED_REASONS)[number];

export interface UnresolvedRow {
  readonly reason: UnresolvedReason;
  /** One plain sentence. */
  readonly message: string;
  readonly row: RegisteredPosition;
}

export interface PortfolioHeader {
  /** Deposits of everything open, exact USD; absent while one of them is not known. */
  readonly totalDepositedUsd?: string;
  /** Open loops and open vaults; a vault's loops are not counted again. */
  readonly openCount: number;
}

/** Everything of one wallet on one chain: what the chain holds and what the register says, each thing once. */
export interface Portfolio {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly block: { readonly number: bigint /** Unix seconds. */; readonly timestamp: bigint };
  readonly header: PortfolioHeader;
  /** Routers that a batch was broken off with: they may still act on its lending positions; absent = not known. */
  readonly leftAuthorizations?: readonly Address[];
  /** Open plain loops, newest first. */
  readonly positions: readonly PortfolioLoop[];
  readonly equityPositions: readonly PortfolioVault[];
  /** What has ended, newest first; a closed vault stands as the vault. */
  readonly closed: readonly PortfolioItem[];
  readonly unresolved: readonly UnresolvedRow[];
  /** Sums over everything above. */
  readonly pnl: Pnl;
}

/** A wallet that cannot be told, alone of all. */
export interface FailedPortfolio {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly failure: { readonly reason: FailureReason | 'internal'; readonly message: string };
}

export type PortfolioEntry = Portfolio | FailedPortfolio;
