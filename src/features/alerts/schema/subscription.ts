import { noteEventId } from '../../../resolvers/common/context.ts';
import { builder } from '../../../schema/builder.ts';
import { enumValues } from '../../../schema/common/enum-values.ts';
import { type AlertEventContent, type AlertLiquidation, contentOf } from '../domain/event.ts';
import type { AlertDelivery } from '../domain/records.ts';
import { ALERT_STALE_GROUPS } from '../domain/stale.ts';
import { alertEventId, watchAlertEvents } from '../resolvers/alert-events.ts';
import { AlertEventTypeRef, AlertStaleGroupRef, AlertStatusRef, AlertSubjectRef } from './alert.ts';
import { AlertConditionRef } from './alert-inputs.ts';

const AlertUnitRef = builder.enumType('AlertUnit', {
  description: 'Unit of the threshold and the value of an alert.',
  values: enumValues<NonNullable<AlertEventContent['alert']['unit']>>({
    pct: 'Percent, of a distance percentage points.',
    usd: 'US dollars.',
    count: 'A number of liquidations.',
  }),
});

const AlertTermsRef = builder.objectRef<AlertEventContent['alert']>('AlertTerms').implement({
  description: 'An alert as it was at the time of an event.',
  fields: (t) => ({
    label: t.exposeString('label', { description: 'Name that the partner gave it; may be empty.' }),
    subject: t.expose('subject', { type: AlertSubjectRef, description: 'Kind of its subject.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    wallet: t.expose('wallet', {
      type: 'Address',
      nullable: true,
      description: 'The wallet; `null` = the subject is a strategy.',
    }),
    positionIndex: t.exposeInt('positionIndex', {
      nullable: true,
      description: 'Index of the position among those of the wallet on chain; `null` = the subject is no position.',
    }),
    strategyId: t.expose('strategyId', {
      type: 'StrategyId',
      nullable: true,
      description: 'The strategy, or the equity vault of the wallet; `null` = the subject is neither.',
    }),
    condition: t.expose('condition', { type: AlertConditionRef, description: 'The condition.' }),
    threshold: t.expose('threshold', {
      type: 'Decimal',
      nullable: true,
      description: 'Threshold in the unit; `null` = the condition has none.',
    }),
    rearmAt: t.expose('rearmAt', {
      type: 'Decimal',
      nullable: true,
      description: 'Value from which the condition is over, in the unit; `null` = the condition has none.',
    }),
    unit: t.expose('unit', {
      type: AlertUnitRef,
      nullable: true,
      description: 'Unit of threshold and value; `null` = the condition has no number.',
    }),
  }),
});

const LiquidationBasisRef = builder.enumType('LiquidationBasis', {
  description: 'How a liquidation was found.',
  values: enumValues<AlertLiquidation['basis']>({
    event: 'An event of the lending protocol.',
    state: 'The position has lost its whole collateral; only that is known, not when.',
  }),
});

const AlertLiquidationRef = builder.objectRef<AlertLiquidation>('AlertLiquidation').implement({
  description: 'The liquidation that an event reports.',
  fields: (t) => ({
    positionIndex: t.exposeInt('positionIndex', {
      nullable: true,
      description: 'Index of the position among those of the wallet; `null` = the stock leg of a vault.',
    }),
    strategyId: t.expose('strategyId', {
      type: 'StrategyId',
      nullable: true,
      description: 'The vault of the stock leg; `null` = a position.',
    }),
    blockNumber: t.field({
      type: 'BigInteger',
      description: 'Number of its block; on the basis `STATE` the block of the reading.',
      resolve: ({ blockNumber }) => BigInt(blockNumber),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'Time of the block.' }),
    txHash: t.expose('txHash', {
      type: 'HexData',
      nullable: true,
      description: 'Hash of its transaction; `null` = not known, on the basis `STATE`.',
    }),
    basis: t.expose('basis', { type: LiquidationBasisRef, description: 'How it was found.' }),
  }),
});

interface AlertEvent extends AlertDelivery {
  readonly content: AlertEventContent;
}

const AlertEventRef = builder.objectRef<AlertEvent>('AlertEvent').implement({
  description: 'An event of an alert, with what its webhook has.',
  fields: (t) => ({
    eventId: t.field({ type: 'UUID', description: 'Id of the event, as in its webhook.', resolve: ({ id }) => id }),
    alertId: t.expose('alertId', { type: 'UUID', description: 'Id of the alert.' }),
    type: t.expose('type', { type: AlertEventTypeRef, description: 'Kind of the event.' }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'Time of the event.',
      resolve: ({ occurredMs }) => occurredMs,
    }),
    terms: t.field({
      type: AlertTermsRef,
      description: 'The alert as it was then.',
      resolve: ({ content }) => content.alert,
    }),
    status: t.field({
      type: AlertStatusRef,
      description: 'State of the alert after the event.',
      resolve: ({ content }) => content.status,
    }),
    value: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The value in the unit of the terms, or the number of reported liquidations; `null` = there is none.',
      resolve: ({ content }) => content.value,
    }),
    observedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the values of the event; `null` = the alert was not evaluated yet.',
      resolve: ({ content }) => content.observedAt,
    }),
    staleGroups: t.field({
      type: [AlertStaleGroupRef],
      description: `Of an alert on stale data: what is past its freshness budget, or missing; at most ${ALERT_STALE_GROUPS.length}. Empty otherwise.`,
      resolve: ({ content }) => [...content.staleGroups],
    }),
    liquidation: t.field({
      type: AlertLiquidationRef,
      nullable: true,
      description: 'The liquidation of the condition `LIQUIDATED`; `null` = the event reports none.',
      resolve: ({ content }) => content.liquidation,
    }),
  }),
});

builder.subscriptionFields((t) => ({
  alertEvents: t.field({
    type: AlertEventRef,
    authScopes: { partner: true },
    description:
      'Events of the alerts of the key, each as it is stored, whether or not its webhook was delivered: from now on, or after the event of `Last-Event-ID` (the id of the stream, or `eventId`; after `alert-0` all that are kept). Events are kept for 30 days. Needs a key.',
    subscribe: (_root, _args, ctx) => watchAlertEvents(ctx),
    resolve: (event, _args, ctx) => {
      noteEventId(ctx, alertEventId(event));
      return { ...event, content: contentOf(event) };
    },
  }),
}));
