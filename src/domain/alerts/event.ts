import type { AlertEventType, AlertRecord, NewAlertEvent } from './records.ts';
import { ALERT_UNITS } from './rules.ts';
import type { AlertState, FoundLiquidation } from './types.ts';

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

/** Make an event with the text that receivers get. Numbers are plain decimals as strings, times RFC 3339. */
export function makeAlertEvent(input: AlertEventInput): NewAlertEvent {
  const { id, type, alert, state, liquidation, receiver, occurredMs } = input;
  const { subject, condition, threshold, rearmAt } = alert.rule;
  const body = JSON.stringify({
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
  });
  return { id, alertId: alert.id, ownerId: alert.ownerId, type, body, receiver, occurredMs };
}

function formatLiquidation({ positionIndex, strategyId, blockNumber, atMs, txHash }: FoundLiquidation) {
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
