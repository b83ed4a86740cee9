import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { PositionStatus } from '../position/types.ts';

/**
 * Kinds of disagreement between the app's register and the chain: the position is not registered; it is registered as open and
 * has ended; it is registered as closed and is open.
 */
export const DRIFT_KINDS = ['no_db_row', 'db_open_chain_closed', 'db_closed_chain_open'] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/**
 * `high`: the dashboard lacks a position with money in it, or shows one that has ended. `low`: only the history is incomplete.
 */
export const DRIFT_SEVERITIES = ['high', 'medium', 'low'] as const;
export type DriftSeverity = (typeof DRIFT_SEVERITIES)[number];

/** The position on chain, at the block of the reading. Amounts are whole tokens; absent = not known. */
export interface ChainEvidence {
  readonly status: PositionStatus;
  readonly blockNumber: bigint;
  readonly blockTimeMs: number;
  readonly proxy: Address;
  readonly collateral?: string | undefined;
  readonly debt?: string | undefined;
  readonly netValueUsd?: string | undefined;
}

/** The position in the register. */
export interface RegisterEvidence {
  readonly isOpen: boolean;
  readonly depositedUsd: string;
  readonly returnedUsd: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly closedAtMs: number | null;
}

/** One disagreement with the evidence of both sides. */
export interface Drift {
  readonly kind: DriftKind;
  readonly severity: DriftSeverity;
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly positionIndex: number;
  /** `{chainId}-{marketId}-{index}` */
  readonly positionId: string;
  readonly marketId: MarketId;
  /** The vault that the position belongs to; `null` = none. */
  readonly vaultId: StrategyId | null;
  /** One plain sentence for operators. */
  readonly message: string;
  /** First time at which the service saw the disagreement, ms. It starts anew when the disagreement comes back. */
  readonly firstSeenMs: number;
  /** Time of the reading, ms. */
  readonly lastSeenMs: number;
  /** Earlier times over which the same disagreement was seen until it was gone, the latest first, at most `MAX_EARLIER_DRIFT`. */
  readonly earlier: readonly DriftOccurrence[];
  readonly chain: ChainEvidence;
  /** `null` = there is no row. */
  readonly register: RegisterEvidence | null;
  /** Market of the row that the register has for this index instead; `null` = none. */
  readonly otherMarketId: MarketId | null;
}

/** A time over which a disagreement was seen, until the first reading without it. */
export interface DriftOccurrence {
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  readonly goneMs: number;
}

/** Maximum number of earlier occurrences of a disagreement. */
export const MAX_EARLIER_DRIFT = 10;

/** Identifies a disagreement across readings. */
export interface DriftKey {
  readonly wallet: Address;
  readonly positionIndex: number;
  readonly kind: DriftKind;
}

/** A disagreement that was seen before. */
export interface KnownDrift {
  /** `null` = it was gone at the latest reading. */
  readonly firstSeenMs: number | null;
  readonly earlier: readonly DriftOccurrence[];
}

/** Disagreements of earlier readings, by `driftKey`. A disagreement that is missing here is seen for the first time now. */
export interface Sightings {
  readonly known: ReadonlyMap<string, KnownDrift>;
  readonly nowMs: number;
}
