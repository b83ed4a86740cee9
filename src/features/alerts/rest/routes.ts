import { z } from 'zod';
import { PARTNER_ERRORS, type RouteOptions } from '../../../rest/routes/shared.ts';
import { EXAMPLE_MARKET_ID, integerParam } from '../../../rest/schemas/common.ts';
import type { AnyRoute } from '../../../rest/types.ts';
import { formatValue } from '../../../shared/ids.ts';
import { withoutUndefined } from '../../../shared/without-undefined.ts';
import { OVERLAP_SEC } from '../domain/secret-overlap.ts';
import { alertBody, alertCondition, alertSubject, deliveryStatus, idempotencyHeader, uuidParam } from './schemas.ts';

const MAX_ENTRIES = 500;
const ERRORS = [...PARTNER_ERRORS, 'upstream_unavailable'] as const;
/** Alerts and an event of the local world. */
const ALERT = '00000000-0000-4000-8000-000000000001';
const ROTATED = '00000000-0000-4000-8000-000000000002';
const DELETED = '00000000-0000-4000-8000-000000000003';
const EVENT = '00000000-0000-4000-8000-00000000000e';
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const RECEIVER = 'https://partner.example/spiral-alerts';

const limit = integerParam({ min: 1, max: MAX_ENTRIES })
  .default(50)
  .describe(`Maximum number of entries, 1 to ${MAX_ENTRIES}. Default 50.`);
const after = z
  .string()
  .optional()
  .describe('"next" of an answer to the same conditions: only entries that follow it.');
const alertId = z.object({ id: uuidParam('Id of the alert.') });

/** The rows of alerts: their registration, and the deliveries of their events. */
export function alertRoutes(options: RouteOptions): AnyRoute[] {
  return [createRoute(options), listRoute(options), ...oneAlertRoutes(options), ...deliveryRoutes(options)];
}

function createRoute({ chainIds, derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'POST',
    path: '/v1/partner/alerts',
    surface: 'Partner',
    summary: 'Register an alert',
    description:
      'Watches a condition on a wallet, a position, an equity vault of a wallet or a strategy, and sends a signed webhook when it begins to hold and when it is over. The answer has the signing secret, which is shown once. A repeated request registers a second alert, unless both have the same `Idempotency-Key`.',
    operation: 'AlertCreate',
    params: z.object({}),
    body: alertBody(chainIds),
    headers: idempotencyHeader,
    variables: ({ body: { chainId, positionIndex: positionId, ...body }, headers }) => ({
      chainId,
      input: withoutUndefined({ ...body, positionId, idempotencyKey: headers['idempotency-key'] }) as never,
    }),
    sentAs: ({ headers }) => ({
      'input.idempotencyKey': {
        field: 'headers.idempotency-key',
        value: formatValue(headers['idempotency-key'] ?? ''),
      },
    }),
    errors: [...ERRORS, 'conflict'],
    examples: [
      {
        summary: 'Headroom of a wallet',
        body: { chainId: 1, wallet: WALLET, condition: 'headroom_below', threshold: '2.5', webhookUrl: RECEIVER },
      },
      {
        summary: 'Liquidity of a strategy',
        body: {
          chainId: 1,
          strategyId: EXAMPLE_MARKET_ID,
          condition: 'liquidity_below',
          threshold: '250000',
          rearmAt: '300000',
          webhookUrl: RECEIVER,
          label: 'Exit liquidity',
        },
      },
    ],
  });
}

function listRoute({ derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/partner/alerts',
    surface: 'Partner',
    summary: 'Alerts of the key',
    description: 'Registered alerts with their state, the newest first.',
    operation: 'Alerts',
    params: z.object({
      subject: alertSubject.optional().describe('Only alerts on this kind of subject.'),
      condition: alertCondition.optional().describe('Only alerts with this condition.'),
      limit,
      after,
    }),
    variables: ({ params: { limit: first, ...rest } }) => withoutUndefined({ first, ...rest }),
    errors: ERRORS,
    examples: [{ summary: 'All' }, { summary: 'On strategies', query: { subject: 'strategy', limit: '10' } }],
  });
}

function oneAlertRoutes({ derive }: RouteOptions): AnyRoute[] {
  return [
    derive({
      method: 'GET',
      path: '/v1/partner/alerts/{id}',
      surface: 'Partner',
      summary: 'One alert',
      description: 'An alert of the key with its state.',
      operation: 'AlertById',
      params: alertId,
      variables: ({ params }) => ({ alertId: params.id }),
      errors: [...ERRORS, 'not_found'],
      examples: [{ summary: 'An alert', params: { id: ALERT } }],
    }),
    derive({
      method: 'POST',
      path: '/v1/partner/alerts/{id}/rotate-secret',
      surface: 'Partner',
      summary: 'Rotate the signing secret',
      description:
        'Begins a new signing secret. For the time of the overlap each webhook has the signatures of both secrets, then of the new one only. A repeated request begins one more; earlier ones sign as long as they did before, at most five at once.',
      operation: 'AlertRotateSecret',
      params: alertId.extend({
        overlapSec: integerParam({ min: OVERLAP_SEC.min, max: OVERLAP_SEC.max })
          .default(OVERLAP_SEC.default)
          .describe(
            `How long earlier secrets sign as well, seconds, ${OVERLAP_SEC.min} to ${OVERLAP_SEC.max}. Default ${OVERLAP_SEC.default}, a day; 0 ends all of them at once.`,
          ),
      }),
      variables: ({ params: { id, overlapSec } }) => ({ alertId: id, overlapSec }),
      errors: [...ERRORS, 'not_found'],
      examples: [{ summary: 'An alert', params: { id: ROTATED }, query: { overlapSec: '3600' } }],
    }),
    derive({
      method: 'DELETE',
      path: '/v1/partner/alerts/{id}',
      surface: 'Partner',
      summary: 'Delete an alert',
      description: 'Deletes an alert and its undelivered events. Deleting it again is no error.',
      operation: 'AlertDelete',
      params: alertId,
      variables: ({ params }) => ({ alertId: params.id }),
      repeated: {
        schema: z.object({ id: z.uuid().describe('The requested id.') }),
        of: ({ params: { id } }) => ({ id }),
      },
      errors: ERRORS,
      examples: [{ summary: 'An alert', params: { id: DELETED } }],
    }),
    derive({
      method: 'POST',
      path: '/v1/partner/alerts/{id}/ping',
      surface: 'Partner',
      summary: 'Send a test event',
      description:
        'Sends a signed event of the type ping to the receiver of the alert, with the retries of any other event. The list of deliveries shows its outcome.',
      operation: 'AlertPing',
      params: alertId,
      variables: ({ params }) => ({ alertId: params.id }),
      errors: [...ERRORS, 'not_found'],
      examples: [{ summary: 'An alert', params: { id: ALERT } }],
    }),
  ];
}

function deliveryRoutes({ derive }: RouteOptions): AnyRoute[] {
  return [
    derive({
      method: 'GET',
      path: '/v1/partner/alerts/deliveries',
      surface: 'Partner',
      summary: 'Deliveries of alerts',
      description:
        'Events of the alerts of the key and the state of their deliveries, the newest first. With status=dead those that were given up. Events are kept for 30 days.',
      operation: 'AlertDeliveries',
      params: z.object({
        alertId: uuidParam('Only events of this alert.').optional(),
        status: deliveryStatus.optional().describe('Only deliveries in this state.'),
        limit,
        after,
      }),
      variables: ({ params: { limit: first, ...rest } }) => withoutUndefined({ first, ...rest }),
      errors: ERRORS,
      examples: [{ summary: 'All' }, { summary: 'Given up', query: { status: 'dead' } }],
    }),
    derive({
      method: 'POST',
      path: '/v1/partner/alerts/deliveries/{id}/redeliver',
      surface: 'Partner',
      summary: 'Deliver an event again',
      description: 'Delivers an event again, with its id and text and with all attempts, also one that was given up.',
      operation: 'AlertRedeliver',
      params: z.object({ id: uuidParam('Id of the event.') }),
      variables: ({ params }) => ({ eventId: params.id }),
      errors: [...ERRORS, 'not_found'],
      examples: [{ summary: 'An event that was given up', params: { id: EVENT } }],
    }),
  ];
}
