import { requestedPageSize } from '../../../resolvers/common/page.ts';
import { builder } from '../../../schema/builder.ts';
import { pageArgs } from '../../../schema/common/page.ts';
import { OVERLAP_SEC } from '../domain/secret-overlap.ts';
import type { AlertWithSecret } from '../resolvers/alert-services.ts';
import {
  createAlert,
  type DeletedAlert,
  deleteAlert,
  listAlerts,
  listDeliveries,
  pingAlert,
  readAlert,
  redeliver,
  rotateAlertSecret,
  UUID,
} from '../resolvers/alerts.ts';
import {
  AlertConnectionRef,
  AlertDeliveryConnectionRef,
  AlertDeliveryRef,
  AlertRef,
  AlertSubjectRef,
  DeliveryStatusRef,
} from './alert.ts';
import { AlertConditionRef, CreateAlertInputRef } from './alert-inputs.ts';

/** Cost of a statement that writes, beside that of the root field. */
const WRITE_COST = 100;

const CreatedAlertRef = builder.objectRef<AlertWithSecret>('CreatedAlert').implement({
  description: 'A registered alert with the secret that signs its webhooks.',
  fields: (t) => ({
    alert: t.expose('alert', { type: AlertRef, description: 'The alert.' }),
    secret: t.exposeString('secret', {
      description: 'Signing secret of its webhooks. It is shown here only: keep it at the receiver.',
    }),
  }),
});

const RotatedAlertSecretRef = builder.objectRef<AlertWithSecret>('RotatedAlertSecret').implement({
  description: 'A new signing secret of an alert.',
  fields: (t) => ({
    alert: t.expose('alert', { type: AlertRef, description: 'The alert.' }),
    secret: t.exposeString('secret', {
      description: 'The new secret. It is shown here only: keep it at the receiver, beside the one before.',
    }),
  }),
});

const DeletedAlertRef = builder.objectRef<DeletedAlert>('DeletedAlert').implement({
  description: 'The result of deleting an alert.',
  fields: (t) => ({
    alertId: t.field({
      type: 'UUID',
      nullable: true,
      description: 'The requested id; `null` = it is no UUID.',
      resolve: ({ alertId }) => (UUID.test(alertId.toLowerCase()) ? alertId : null),
    }),
    deleted: t.exposeBoolean('deleted', { description: 'Whether there was such an alert of this key.' }),
  }),
});

const ALERT_ID = 'Id of the alert, a UUID.';

builder.queryFields((t) => ({
  alert: t.field({
    type: AlertRef,
    nullable: true,
    authScopes: { partner: true },
    description: 'One alert of the key. Needs a key.',
    args: { alertId: t.arg.string({ required: true, description: ALERT_ID }) },
    resolve: (_root, args, ctx) => readAlert(args, ctx),
  }),
  alerts: t.field({
    type: AlertConnectionRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
    description: 'Alerts of the key, the newest first. Needs a key.',
    args: {
      subject: t.arg({ type: AlertSubjectRef, description: 'Only alerts on this kind of subject.' }),
      condition: t.arg({ type: AlertConditionRef, description: 'Only alerts with this condition.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, ctx) => listAlerts(args, ctx),
  }),
  alertDeliveries: t.field({
    type: AlertDeliveryConnectionRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
    description:
      'Events of the alerts of the key and their deliveries, the newest first; `status: DEAD` are those that were given up. Needs a key.',
    args: {
      alertId: t.arg.string({ description: 'Only events of this alert.' }),
      status: t.arg({ type: DeliveryStatusRef, description: 'Only deliveries in this state.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, ctx) => listDeliveries(args, ctx),
  }),
}));

builder.mutationFields((t) => ({
  createAlert: t.field({
    type: CreatedAlertRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: { field: WRITE_COST, multiplier: 1 },
    description:
      'Register an alert. A condition that holds already fires at its first evaluation, within some seconds. Needs a key.',
    args: {
      chainId: t.arg({ type: 'ChainId', required: true, description: 'Id of the chain.' }),
      input: t.arg({ type: CreateAlertInputRef, required: true, description: 'The alert.' }),
    },
    resolve: (_root, args, ctx) => createAlert(args, ctx),
  }),
  rotateAlertSecret: t.field({
    type: RotatedAlertSecretRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: { field: WRITE_COST, multiplier: 1 },
    description:
      'Begin a new signing secret of an alert. For the time of the overlap each webhook has the signatures of both secrets, then of the new one only. Needs a key.',
    args: {
      alertId: t.arg.string({ required: true, description: ALERT_ID }),
      overlapSec: t.arg.int({
        description: `Seconds for which earlier secrets sign as well, ${OVERLAP_SEC.min} to ${OVERLAP_SEC.max}; a day when left out. 0 ends all of them at once.`,
      }),
    },
    resolve: (_root, args, ctx) => rotateAlertSecret(args, ctx),
  }),
  deleteAlert: t.field({
    type: DeletedAlertRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: { field: WRITE_COST, multiplier: 1 },
    description: 'Delete an alert and its undelivered events. Deleting it again is no error. Needs a key.',
    args: { alertId: t.arg.string({ required: true, description: ALERT_ID }) },
    resolve: (_root, args, ctx) => deleteAlert(args, ctx),
  }),
  pingAlert: t.field({
    type: AlertDeliveryRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: { field: WRITE_COST, multiplier: 1 },
    description:
      'Send a test event to the receiver of an alert, signed and retried like any other; `alertDeliveries` shows its outcome. Needs a key.',
    args: { alertId: t.arg.string({ required: true, description: ALERT_ID }) },
    resolve: (_root, args, ctx) => pingAlert(args, ctx),
  }),
  redeliverAlertEvent: t.field({
    type: AlertDeliveryRef,
    nullable: true,
    authScopes: { partner: true },
    complexity: { field: WRITE_COST, multiplier: 1 },
    description:
      'Deliver an event again, with its id and text and with all attempts, also one that was given up. Needs a key.',
    args: { eventId: t.arg.string({ required: true, description: 'Id of the event, a UUID.' }) },
    resolve: (_root, args, ctx) => redeliver(args, ctx),
  }),
}));
