import type { AlertDelivery } from '../../domain/alerts/records.ts';
import { alertEventId, watchAlertEvents } from '../../resolvers/alert/alert-events.ts';
import { noteEventId } from '../../resolvers/common/context.ts';
import { builder } from '../builder.ts';
import { AlertEventTypeRef } from './alert.ts';

const AlertEventRef = builder.objectRef<AlertDelivery>('AlertEvent').implement({
  description: 'An event of an alert, as its webhook gets it.',
  fields: (t) => ({
    eventId: t.string({ description: 'Id of the event, as in its webhook.', resolve: ({ id }) => id }),
    alertId: t.exposeString('alertId', { description: 'Id of the alert.' }),
    type: t.expose('type', { type: AlertEventTypeRef, description: 'Kind of the event.' }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'Time of the event.',
      resolve: ({ occurredMs }) => occurredMs,
    }),
    payload: t.field({
      type: 'JSONObject',
      description: 'Content of the webhook: the alert, its condition, and the value.',
      resolve: ({ body }) => JSON.parse(body) as Record<string, unknown>,
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
      return event;
    },
  }),
}));
