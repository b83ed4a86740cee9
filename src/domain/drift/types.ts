import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import type { PositionStatus } from '../position/types.ts';

/**
 * How the app's register and the chain disagree on a position: the chain has one that is not registered; it is registered
 * as open and has ended; it is registered as closed and is open.
 */
export const DRIFT_KINDS = ['no_db_row', 'db_open_chain_closed', 'db_closed_chain_open'] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** `high`: money at work that the dashboard does not show, or lost money that it does. `low`: only the past is incomplete. */
export const DRIFT_SEVERITIES = ['high', 'medium', 'low'] as const;
export type DriftSeverity = (typeof DRIFT_SEVERITIES)[number];

/** What the chain says of the position, at the block of the reading. Amounts are whole tokens; absent = not known. */
export interface ChainEvidence {
  readonly status: PositionStatus;
  readonly blockNumber: bigint;
  readonly blockTimeMs: number;
  readonly proxy: Address;
  readonly collateral?: string;
  readonly debt?: string;
  readonly netValueUsd?: string;
}

/** What the register says of it. */
export interface RegisterEvidence {
  readonly isOpen: boolean;
  readonly depositedUsd: string;
  readonly returnedUsd: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly closedAtMs: number | null;
}

/** One disagreement, with both sides. */
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
  /** One plain sentence. */
  readonly message: string;
  /** When the service first met it, ms; it starts anew after it was gone. */
  readonly firstSeenMs: number;
  readonly chain: ChainEvidence;
  /** `null` = there is no row. */
  readonly register: RegisterEvidence | null;
}

/** Names a disagreement across readings. */
export interface DriftKey {
  readonly wallet: Address;
  readonly positionIndex: number;
  readonly kind: DriftKind;
}

/** When each disagreement was first met, by `driftKey`; those not in it are met now. */
export interface Sightings {
  readonly known: ReadonlyMap<string, number>;
  readonly nowMs: number;
}
