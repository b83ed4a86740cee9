import type { Drift, DriftKind, DriftSeverity } from '../../../domain/drift/types.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../../shared/ids.ts';

/** A disagreement of the history, open or gone. */
export interface DriftRecord
  extends Pick<
    Drift,
    'kind' | 'severity' | 'chainId' | 'wallet' | 'positionIndex' | 'marketId' | 'vaultId' | 'firstSeenMs' | 'lastSeenMs'
  > {
  /** Identifies the record; a later one is larger. */
  readonly id: bigint;
  /** Time of the first reading without it, ms; `null` = open. */
  readonly goneMs: number | null;
}

/** Conditions on the history; all given ones must hold. */
export interface DriftHistoryFilter {
  readonly chainIds: readonly ChainId[];
  readonly kinds?: readonly DriftKind[] | undefined;
  readonly severities?: readonly DriftSeverity[] | undefined;
  readonly wallets?: readonly Address[] | undefined;
  readonly marketIds?: readonly MarketId[] | undefined;
  readonly vaultIds?: readonly StrategyId[] | undefined;
  readonly isGone?: boolean | undefined;
}

/** A page of records with larger ids first, between two ids. */
export interface DriftRecordQuery {
  readonly filter: DriftHistoryFilter;
  readonly size: number;
  /** Take the page from the end of the list. */
  readonly fromEnd: boolean;
  readonly after?: bigint | undefined;
  readonly before?: bigint | undefined;
}

export interface DriftRecordPage {
  readonly records: readonly DriftRecord[];
  readonly totalCount: number;
  readonly hasPreviousPage: boolean;
  readonly hasNextPage: boolean;
}
