import { builder } from '../../../schema/builder.ts';
import { enumValues } from '../../../schema/common/enum-values.ts';
import { defineNode } from '../../../schema/common/node.ts';
import type { AlertDelivery, AlertEventType, AlertRecord, DeliveryStatus } from '../domain/records.ts';
import { WEBHOOK_FAILURES } from '../domain/records.ts';
import { validEarlierSecrets } from '../domain/secrets.ts';
import type { StaleGroup } from '../domain/stale.ts';
import { ALERT_STALE_GROUPS } from '../domain/stale.ts';
import type { AlertStatus, AlertSubjectKind } from '../domain/types.ts';
import { findAlert } from '../resolvers/alerts.ts';
import { AlertConditionRef } from './alert-inputs.ts';

export const AlertSubjectRef = builder.enumType('AlertSubject', {
  description: 'Kind of the subject of an alert.',
  values: enumValues<AlertSubjectKind>({
    wallet: 'All open positions and equity vaults of a wallet on one chain.',
    position: 'One position of a wallet.',
    vault: 'One equity vault of a wallet: its stock leg and its loops.',
    strategy: 'A strategy.',
  }),
});

export const AlertStatusRef = builder.enumType('AlertStatus', {
  description: 'State of an alert.',
  values: enumValues<AlertStatus>({
    unknown: 'Not evaluated yet, or its value was never known.',
    armed: 'The condition does not hold.',
    firing: 'The condition holds, or its value has not reached `rearmAt` again.',
    not_applicable:
      'No open position to evaluate: none with this index, or every one was closed or liquidated. The alert stays active.',
  }),
});

export const AlertStaleGroupRef = builder.enumType('AlertStaleGroup', {
  description: 'A dependency of an alert that is past its freshness budget, or missing.',
  values: enumValues<StaleGroup>({
    lendingState: 'State of the lending market.',
    oracle: 'Value of the oracle.',
    collateralApy: 'APY of the collateral token.',
    price: 'USD prices.',
    incentives: 'Incentives of the market.',
    deployment: 'Terms of the deployed contract.',
    wallet: 'Reading of the wallet.',
    catalog: 'The strategy is no longer listed.',
  }),
});

const EVENT_TYPES: Record<AlertEventType, string> = {
  fired: 'The condition began to hold.',
  cleared: 'The condition is over.',
  ended:
    'The condition held, and there is no open position left to judge: it was closed or liquidated. That is no recovery.',
  ping: 'A test.',
};
export const AlertEventTypeRef = builder.enumType('AlertEventType', {
  description: 'Kind of an event.',
  values: enumValues(EVENT_TYPES),
});

export const DeliveryStatusRef = builder.enumType('AlertDeliveryStatus', {
  description: 'State of the delivery of an event.',
  values: enumValues<DeliveryStatus>({
    pending: 'The event is due, or waits for its next attempt.',
    delivered: 'The receiver answered with a status of 200 to 299.',
    dead: 'Every attempt failed. It can be delivered again.',
  }),
});

export const AlertRef = builder.objectRef<AlertRecord>('Alert');
defineNode(AlertRef, {
  key: ['word'],
  keyOf: ({ id }) => [id],
  load: ([id], ctx) => findAlert(id, ctx),
  scope: 'partner',
});

AlertRef.implement({
  description: 'A condition that is evaluated continuously for a partner, with the webhook that is notified.',
  fields: (t) => ({
    alertId: t.field({ type: 'UUID', description: 'Id of the alert, a UUID.', resolve: ({ id }) => id }),
    label: t.exposeString('label', { description: 'Name that the partner gave it; may be empty.' }),
    subject: t.field({
      type: AlertSubjectRef,
      description: 'Kind of its subject.',
      resolve: ({ rule }) => rule.subject.kind,
    }),
    chainId: t.field({ type: 'ChainId', description: 'Id of the chain.', resolve: ({ rule }) => rule.subject.chainId }),
    wallet: t.field({
      type: 'Address',
      nullable: true,
      description: 'The wallet; `null` = the subject is a strategy.',
      resolve: ({ rule: { subject } }) => (subject.kind === 'strategy' ? null : subject.wallet),
    }),
    positionIndex: t.int({
      nullable: true,
      description: 'Index of the position among those of the wallet on chain; `null` = the subject is no position.',
      resolve: ({ rule: { subject } }) => (subject.kind === 'position' ? subject.positionIndex : null),
    }),
    strategyId: t.field({
      type: 'StrategyId',
      nullable: true,
      description: 'The strategy, or the equity vault of the wallet; `null` = the subject is neither.',
      resolve: ({ rule: { subject } }) =>
        subject.kind === 'strategy' || subject.kind === 'vault' ? subject.strategyId : null,
    }),
    condition: t.field({
      type: AlertConditionRef,
      description: 'The condition.',
      resolve: ({ rule }) => rule.condition,
    }),
    threshold: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Threshold in the unit of the condition; `null` = the condition has none. Signed.',
      resolve: ({ rule }) => rule.threshold,
    }),
    rearmAt: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Value from which a fired condition is over, in the unit of the threshold; `null` = the condition has none. Signed.',
      resolve: ({ rule }) => rule.rearmAt,
    }),
    webhookUrl: t.expose('url', { type: 'URL', description: 'URL of the receiver.' }),
    secretVersion: t.int({
      description: 'Version of the signing secret, `k` in the header of the signature.',
      extensions: { jsonSchema: { minimum: 1 } },
      resolve: ({ secret }) => secret.version,
    }),
    earlierSecretsEndAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time until which earlier secrets sign as well; `null` = only the newest one signs.',
      resolve: (alert, _args, { nowMs }) => {
        const ends = validEarlierSecrets(alert, nowMs).map(({ untilMs }) => untilMs);
        return ends.length === 0 ? null : Math.max(...ends);
      },
    }),
    status: t.field({ type: AlertStatusRef, description: 'State of the alert.', resolve: ({ state }) => state.status }),
    value: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Value at the latest change of the state, in the unit of the threshold, or the number of reported liquidations; `null` = there was none. Signed.',
      resolve: ({ state }) => state.value,
    }),
    staleGroups: t.field({
      type: [AlertStaleGroupRef],
      description: `Of an alert on stale data while it fires: what is past its freshness budget, or missing; at most ${ALERT_STALE_GROUPS.length}. Empty otherwise.`,
      resolve: ({ state }) => state.staleGroups ?? [],
    }),
    observedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the values of the latest change of the state; `null` = not evaluated yet.',
      resolve: ({ state }) => state.observedMs,
    }),
    changedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the latest change of the state; `null` = not evaluated yet.',
      resolve: ({ changedMs }) => changedMs,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Time of the registration.',
      resolve: ({ createdMs }) => createdMs,
    }),
  }),
});

export const AlertConnectionRef = builder.connectionObject(
  { type: AlertRef, name: 'AlertConnection', description: 'A page of alerts.' },
  { name: 'AlertEdge', description: 'An alert and its place in the list.' },
);

export const AlertDeliveryRef = builder.objectRef<AlertDelivery>('AlertDelivery').implement({
  description: 'An event of an alert, and the state of its delivery. Events are kept for 30 days.',
  fields: (t) => ({
    eventId: t.field({
      type: 'UUID',
      description: 'Id of the event, the same in every attempt.',
      resolve: ({ id }) => id,
    }),
    alertId: t.expose('alertId', { type: 'UUID', description: 'Id of the alert.' }),
    type: t.expose('type', { type: AlertEventTypeRef, description: 'Kind of the event.' }),
    body: t.exposeString('body', { description: 'The signed text that the receiver gets, JSON.' }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'Time of the event.',
      resolve: ({ occurredMs }) => occurredMs,
    }),
    status: t.expose('status', { type: DeliveryStatusRef, description: 'State of the delivery.' }),
    attempts: t.exposeInt('attempts', { description: 'Number of attempts so far.' }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the next attempt at the earliest; `null` = there is none.',
      resolve: ({ nextAttemptMs }) => nextAttemptMs,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which it was delivered or given up; `null` = it is pending.',
      resolve: ({ finishedMs }) => finishedMs,
    }),
    httpStatus: t.exposeInt('httpStatus', {
      nullable: true,
      description: 'Status of the latest answer of the receiver; `null` = there was none.',
      extensions: { jsonSchema: { minimum: 100, maximum: 999 } },
    }),
    failureReason: t.exposeString('failure', {
      nullable: true,
      description:
        'Reason for which the latest attempt failed, a word such as `timeout`, `status`, `redirect` or `certificate_expired`; the guide to alerts has all of them. `null` = no failure.',
      extensions: { jsonSchema: { enum: WEBHOOK_FAILURES } },
    }),
  }),
});

export const AlertDeliveryConnectionRef = builder.connectionObject(
  { type: AlertDeliveryRef, name: 'AlertDeliveryConnection', description: 'A page of events of alerts.' },
  { name: 'AlertDeliveryEdge', description: 'An event of an alert and its place in the list.' },
);
