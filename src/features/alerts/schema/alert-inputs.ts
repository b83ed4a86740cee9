import { builder } from '../../../schema/builder.ts';
import { enumValues } from '../../../schema/common/enum-values.ts';
import { ALERT_FIELDS } from '../domain/input-fields.ts';
import type { AlertCondition } from '../domain/types.ts';

export const AlertConditionRef = builder.enumType('AlertCondition', {
  description:
    'Condition of an alert. Values that are stale or unknown meet no condition but `STALE`. Conditions with a threshold fire when the value falls below it, and are over when the value reaches `rearmAt`.',
  values: enumValues<AlertCondition>({
    headroom_below:
      'The distance between LTV and liquidation LTV is below the threshold, percentage points; of a wallet the smallest one.',
    apy_below:
      'The net APY is below the threshold, percent: of a strategy at its default leverage, of a position at its own, of a vault its own and those of its loops, the smallest one; of a wallet the smallest one.',
    liquidity_below: 'The liquidity of the market is below the threshold, USD; of a wallet the smallest one.',
    stale:
      'A value that any condition of the subject depends on is past its freshness budget or missing, or the wallet cannot be read. It fires once; `staleGroups` lists the causes.',
    paused: 'The contract of the positions is paused.',
    liquidated:
      'The position was liquidated, also in part. Each liquidation fires once; the condition is never cleared.',
  }),
});

export const CreateAlertInputRef = builder.inputType('CreateAlertInput', {
  description:
    'An alert to register: on a wallet, on a position of it (wallet and position), on an equity vault of it (wallet and strategy) or on a strategy.',
  fields: (t) => ({
    wallet: t.field({ type: 'Address', description: ALERT_FIELDS.wallet }),
    positionId: t.field({
      type: 'PositionId',
      description: 'Id of one position of the wallet; the whole wallet when left out.',
    }),
    strategyId: t.field({
      type: 'StrategyId',
      description: ALERT_FIELDS.strategyId,
    }),
    condition: t.field({ type: AlertConditionRef, required: true, description: 'The condition.' }),
    threshold: t.field({
      type: 'Decimal',
      description: ALERT_FIELDS.threshold,
    }),
    rearmAt: t.field({
      type: 'Decimal',
      description: ALERT_FIELDS.rearmAt,
    }),
    webhookUrl: t.string({
      required: true,
      description: ALERT_FIELDS.webhookUrl,
    }),
    label: t.string({ description: ALERT_FIELDS.label }),
    idempotencyKey: t.string({
      description: ALERT_FIELDS.idempotencyKey,
    }),
  }),
});

export type AlertInput = typeof CreateAlertInputRef.$inferInput;
