import type { Address, ChainId, Hex, StrategyId } from '../../../shared/ids.ts';
import type { AlertEventType, AlertRecord, NewAlertEvent } from './records.ts';
import { ALERT_UNITS } from './rules.ts';
import type { StaleGroup } from './stale.ts';
import type { AlertCondition, AlertState, AlertStatus, AlertSubjectKind, FoundLiquidation } from './types.ts';

export interface AlertEventInput {
  /** Id of the event. */
  readonly id: string;
  readonly type: AlertEventType;
  readonly alert: Pick<AlertRecord, 'id' | 'ownerId' | 'label' | 'rule'>;
  /** The state that the event is about. */
  readonly state: Pick<AlertState, 'status' | 'value' | 'observedMs' | 'staleGroups'>;
  /** The liquidation that it is about; absent = it is about none. */
  readonly liquidation?: FoundLiquidation | undefined;
  /** Host and port of the receiver. */
  readonly receiver: string;
  readonly occurredMs: number;
}

/** The content of an event, as receivers get it. */
export interface AlertEventContent {
  readonly id: string;
  /** `alert.` and the kind. */
  readonly type: string;
  readonly occurredAt: string;
  readonly alert: {
    readonly id: string;
    readonly label: string;
    readonly condition: AlertCondition;
    readonly subject: AlertSubjectKind;
    readonly chainId: ChainId;
    readonly wallet: Address | null;
    readonly positionIndex: number | null;
    readonly strategyId: StrategyId | null;
    readonly threshold: string | null;
    readonly rearmAt: string | null;
    readonly unit: 'pct' | 'usd' | 'count' | null;
  };
  readonly status: AlertStatus;
  readonly value: string | null;
  readonly observedAt: string | null;
  readonly staleGroups: readonly StaleGroup[];
  readonly liquidation: AlertLiquidation | null;
}

/** A liquidation as receivers get it. */
export interface AlertLiquidation {
  readonly positionIndex: number | null;
  readonly strategyId: StrategyId | null;
  readonly blockNumber: string;
  readonly at: string;
  readonly txHash: Hex | null;
  readonly basis: 'event' | 'state';
}

/** Make an event with the text that receivers get. Numbers are plain decimals as strings, times RFC 3339. */
export function makeAlertEvent(input: AlertEventInput): NewAlertEvent {
  const { id, type, alert, state, liquidation, receiver, occurredMs } = input;
  const { subject, condition, threshold, rearmAt } = alert.rule;
  const content: AlertEventContent = {
    id,
    type: `alert.${type}`,
    occurredAt: new Date(occurredMs).toISOString(),
    alert: {
      id: alert.id,
      label: alert.label,
      condition,
      subject: subject.kind,
      chainId: subject.chainId,
      wallet: subject.kind === 'strategy' ? null : subject.wallet,
      positionIndex: subject.kind === 'position' ? subject.positionIndex : null,
      strategyId: subject.kind === 'strategy' || subject.kind === 'vault' ? subject.strategyId : null,
      threshold: threshold?.toFixed() ?? null,
      rearmAt: rearmAt?.toFixed() ?? null,
      unit: ALERT_UNITS[condition],
    },
    status: state.status,
    value: state.value?.toFixed() ?? null,
    observedAt: state.observedMs === null ? null : new Date(state.observedMs).toISOString(),
    staleGroups: state.staleGroups ?? [],
    liquidation: liquidation === undefined ? null : formatLiquidation(liquidation),
  };
  const body = JSON.stringify(content);
  return { id, alertId: alert.id, ownerId: alert.ownerId, type, body, receiver, occurredMs };
}

/** Read the content of a stored event. */
export function contentOf({ body }: Pick<NewAlertEvent, 'body'>): AlertEventContent {
  return JSON.parse(body) as AlertEventContent;
}

function formatLiquidation({
  positionIndex,
  strategyId,
  blockNumber,
  atMs,
  txHash,
}: FoundLiquidation): AlertLiquidation {
  return {
    positionIndex,
    strategyId,
    blockNumber: String(blockNumber),
    at: new Date(atMs).toISOString(),
    txHash,
    // Without an event only the loss of the whole collateral is known, not when.
    basis: txHash === null ? 'state' : 'event',
  };
}
