import type { Decimal } from '../../../shared/decimal.ts';
import type { Address, ChainId, Hex, StrategyId } from '../../../shared/ids.ts';
import type { StaleGroup } from './stale.ts';

export const ALERT_SUBJECTS = ['wallet', 'position', 'vault', 'strategy'] as const;
export const ALERT_CONDITIONS = [
  'headroom_below',
  'apy_below',
  'liquidity_below',
  'stale',
  'paused',
  'liquidated',
] as const;
/** `unknown`: not evaluated yet. `armed`: the condition does not hold. `firing`: it holds, or has not re-armed yet. */
export type AlertStatus = 'unknown' | 'armed' | 'firing' | 'not_applicable';

export type AlertSubjectKind = (typeof ALERT_SUBJECTS)[number];
export type AlertCondition = (typeof ALERT_CONDITIONS)[number];

export type AlertSubject =
  | { readonly kind: 'wallet'; readonly chainId: ChainId; readonly wallet: Address }
  | {
      readonly kind: 'position';
      readonly chainId: ChainId;
      readonly wallet: Address;
      /** Index among the positions of the wallet on chain. */
      readonly positionIndex: number;
    }
  | {
      readonly kind: 'vault';
      readonly chainId: ChainId;
      readonly wallet: Address;
      /** Id of the equity vault; a wallet holds each of them once at most. */
      readonly strategyId: StrategyId;
    }
  | { readonly kind: 'strategy'; readonly chainId: ChainId; readonly strategyId: StrategyId };

/** A condition on a subject. */
export interface AlertRule {
  readonly subject: AlertSubject;
  readonly condition: AlertCondition;
  /** Percentage points, percent or USD; `null` for conditions without a number. */
  readonly threshold: Decimal | null;
  /** Value from which a fired condition counts as over, in the unit of the threshold; `null` for conditions without a number. */
  readonly rearmAt: Decimal | null;
}

/** The remembered result of evaluations. */
export interface AlertState {
  readonly status: AlertStatus;
  /** Value at the latest change of the status; `null` = there was none. */
  readonly value: Decimal | null;
  /** Time of the values of that change, ms; `null` = not evaluated yet. */
  readonly observedMs: number | null;
  /** Liquidations that were reported; `null` = none was looked for yet, or the condition is another one. */
  readonly reported: ReportedLiquidations | null;
  /** Indexes of the positions that have counted as loops of its vault; absent = none has, or the subject is no vault. */
  readonly loops?: readonly number[] | undefined;
  /** Of the condition `stale` while it is firing: what is past its budget or missing; absent = nothing. */
  readonly staleGroups?: readonly StaleGroup[] | undefined;
}

/** A liquidation of a position, of Morpho's events, or of a position that has lost its whole collateral. */
export interface FoundLiquidation {
  /** `null` = the stock leg of a vault. */
  readonly positionIndex: number | null;
  /** The vault of a stock leg; `null` = a position. */
  readonly strategyId: StrategyId | null;
  readonly blockNumber: bigint;
  /** Time of the block, ms. */
  readonly atMs: number;
  /** `null` = no event is known: the position was found without collateral at this block. */
  readonly txHash: Hex | null;
}

/** A liquidation of Morpho's events. */
export interface LiquidationEvent extends FoundLiquidation {
  /** The same for the same liquidation, also after a reorganization that has moved its transaction to another block. */
  readonly id: string;
  readonly txHash: Hex;
}

/** The known liquidations of a subject's positions. */
export interface SeenLiquidations {
  /** Block of the latest reading of the wallet. */
  readonly blockNumber: bigint;
  /** Time of that block, ms. */
  readonly atMs: number;
  /** In the order of the chain, those that a reorganization took away left out. */
  readonly events: readonly LiquidationEvent[];
  /** How far events are known: up to that block (`whole`), almost (`soon`), or far from it, or not at all (`behind`). */
  readonly history: 'whole' | 'soon' | 'behind';
  /** Indexes of positions without collateral at that block that their owner has not closed. */
  readonly emptied: readonly number[];
}

/** The liquidations that an alert has reported, so that each is reported once. */
export interface ReportedLiquidations {
  /** Only events after this block count: the one of the first evaluation. */
  readonly sinceBlock: bigint;
  /** Reported events, the newest of them. */
  readonly events: readonly Pick<LiquidationEvent, 'id' | 'blockNumber'>[];
  /** Positions without collateral. `isExplained`: the event that took the collateral is reported, or was before `sinceBlock`. */
  readonly emptied: readonly {
    readonly positionIndex: number;
    readonly blockNumber: bigint;
    readonly isExplained: boolean;
  }[];
}

export interface EvaluatedAlert {
  readonly id: string;
  readonly rule: AlertRule;
  readonly state: AlertState;
}

/**
 * The smallest known value among the parts of a subject. `complete`: every part is known. A `null` that is complete is not
 * applicable (no open position), one that is not complete is unknown.
 */
export interface LeastValue {
  readonly least: Decimal | null;
  readonly complete: boolean;
}

/** The known values of a subject at one moment. Values that are past their freshness budget count as unknown. */
export interface SubjectObservation {
  /** Time of the values, ms. */
  readonly observedMs: number;
  /** `false` = the wallet has no position with this index. */
  readonly exists: boolean;
  /** Percentage points between LTV and liquidation LTV. */
  readonly headroomPct: LeastValue;
  /** Net APY, percent. */
  readonly apyPct: LeastValue;
  readonly liquidityUsd: LeastValue;
  /** Dependencies of the conditions that are past their budget or missing. */
  readonly staleGroups: readonly StaleGroup[];
  /** `undefined` = unknown. */
  readonly isPaused: boolean | undefined;
  /** `undefined` = unknown. */
  readonly liquidations: SeenLiquidations | undefined;
  /** Indexes of the positions that count as loops of the vault, ascending; absent = no vault, or not known. */
  readonly loops?: readonly number[] | undefined;
}

/** An event of a change of an alert's state. */
export interface TransitionEvent {
  readonly type: 'fired' | 'cleared' | 'ended';
  /** Value at the event; `null` = there is none. */
  readonly value: Decimal | null;
  /** The liquidation that the event is about; absent for other conditions. */
  readonly liquidation?: FoundLiquidation | undefined;
}

/** A change of an alert's state, and the events that it causes. */
export interface AlertTransition {
  readonly state: AlertState;
  /** Empty = the state changes without an event. */
  readonly events: readonly TransitionEvent[];
}
