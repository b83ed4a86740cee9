import { z } from 'zod';
import {
  ALERT_CONDITIONS,
  ALERT_EVENT_TYPES,
  ALERT_STALE_GROUPS,
  ALERT_STATUSES,
  ALERT_SUBJECTS,
  DELIVERY_STATUSES,
  WEBHOOK_FAILURES,
} from '../../shared/vocabulary.ts';
import { addressString, dateTime } from './common.ts';
import { chainIdNumber, decimalString, rangeSentence, wholeNumber } from './numbers.ts';
import { addressText, chainIdBody, positionIndex, strategyIdText } from './transactions.ts';

const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const MAX_LABEL = 100;
const MAX_URL = 2_048;

/** Path or query parameter: the id of an alert or of an event. */
export const uuidParam = (description: string) =>
  z
    .string()
    .regex(UUID, 'expected an id: a UUID, 8-4-4-4-12 hexadecimal digits')
    .meta({ description, pattern: UUID.source });

export const alertSubject = z.enum(ALERT_SUBJECTS);
export const alertCondition = z.enum(ALERT_CONDITIONS);
export const deliveryStatus = z.enum(DELIVERY_STATUSES);

const signedText = (description: string) =>
  z
    .string()
    .regex(
      /^-?\d{1,18}(\.\d{1,18})?$/,
      'expected a plain decimal such as "2.5": at most 18 digits before and after the point, no exponent',
    )
    .describe(`${description} ${rangeSentence({})}`);

/** The body that registers an alert. */
export const alertBody = (chainIds: readonly number[]) =>
  z
    .strictObject({
      chainId: chainIdBody(chainIds).meta({ type: 'integer', enum: [...chainIds], description: 'Chain id.' }),
      wallet: addressText('The wallet.').optional(),
      positionIndex: positionIndex
        .optional()
        .describe('Index of one position of the wallet on chain, which has to exist; the whole wallet when left out.'),
      strategyId: strategyIdText(
        'The strategy; together with wallet the id of an equity vault (equity-…) that it holds or may hold.',
      ).optional(),
      condition: alertCondition.describe(
        'headroom_below, liquidated: of wallets, positions and vaults. apy_below, liquidity_below, stale, paused: of every subject.',
      ),
      threshold: signedText(
        'The condition holds below it: percentage points (headroom_below), percent (apy_below), USD (liquidity_below); not for other conditions.',
      ).optional(),
      rearmAt: signedText(
        'Value from which a fired condition is over, at least the threshold. When left out 0.5 points above it, or 5 % for liquidity_below.',
      ).optional(),
      webhookUrl: z
        .string()
        .min(1)
        .max(MAX_URL)
        .describe('https URL of a public host that takes the events, on port 443 or from 1024 on.'),
      label: z.string().max(MAX_LABEL).optional().describe(`A name for people, at most ${MAX_LABEL} characters.`),
    })
    .meta({ id: 'AlertBody', description: 'An alert to register.' });

const alert = z
  .object({
    id: z.uuid().describe('Id of the alert.'),
    label: z.string().describe('Name that the partner gave it; may be empty.'),
    subject: alertSubject.describe('Kind of its subject.'),
    chainId: chainIdNumber('The chain.'),
    wallet: addressString('The wallet; null for a strategy.').nullable(),
    positionIndex: wholeNumber('Index of the position on chain; null for a wallet, a vault or a strategy.').nullable(),
    strategyId: z
      .string()
      .nullable()
      .describe('The strategy, or the equity vault of the wallet; null for a wallet or a position.'),
    condition: alertCondition.describe('The condition.'),
    threshold: decimalString('Threshold in the unit of the condition; null = it has none.', {}).nullable(),
    rearmAt: decimalString(
      'Value from which a fired condition is over, in the unit of the threshold; null = it has none.',
      {},
    ).nullable(),
    webhookUrl: z.string().describe('URL of the receiver.'),
    secretVersion: wholeNumber(
      'Version of the signing secret, k in the header of the signature: the number of secrets so far.',
      { min: 1 },
    ),
    earlierSecretsEndAt: dateTime(
      'Time until which earlier secrets sign as well; null = only the newest one signs.',
    ).nullable(),
    status: z
      .enum(ALERT_STATUSES)
      .describe(
        'unknown: not evaluated yet. armed: it does not hold. firing: it holds, or is not over yet. not_applicable: there is no open position to evaluate; the alert stays active.',
      ),
    value: decimalString(
      'Value at the latest change of the status, in the unit of the threshold, or the number of reported liquidations; null = there was none.',
      {},
    ).nullable(),
    staleGroups: z
      .array(z.enum(ALERT_STALE_GROUPS))
      .describe(
        'Of the condition stale while it fires: what is past its freshness budget or missing. wallet: its reading. catalog: the strategy is no longer listed. Empty otherwise.',
      ),
    observedAt: dateTime('Time of that value; null = not evaluated yet.').nullable(),
    changedAt: dateTime('Time of the latest change of the status; null = not evaluated yet.').nullable(),
    createdAt: dateTime('Time of the registration.'),
  })
  .meta({ id: 'Alert', description: 'A condition that is evaluated continuously, with the webhook that is notified.' });

const delivery = z
  .object({
    id: z.uuid().describe('Id of the event, the same in every attempt.'),
    alertId: z.uuid().describe('Id of the alert.'),
    type: z
      .enum(ALERT_EVENT_TYPES)
      .describe(
        'fired: it began to hold. cleared: it is over. ended: it held, and no open position is left to judge. ping: a test.',
      ),
    body: z.string().describe('The signed text that the receiver gets, JSON.'),
    occurredAt: dateTime('Time of the event.'),
    status: deliveryStatus.describe(
      'pending: due, or waiting for its next attempt. delivered: answered with 200 to 299. dead: every attempt failed.',
    ),
    attempts: wholeNumber('Number of attempts so far.'),
    nextAttemptAt: dateTime('Time of the next attempt at the earliest; null = there is none.').nullable(),
    finishedAt: dateTime('Time at which it was delivered or given up; null = it is pending.').nullable(),
    httpStatus: wholeNumber(
      'HTTP status of the latest answer, in the unit of RFC 9110: a code; null = there was none.',
      { min: 100, max: 999 },
    ).nullable(),
    failure: z
      .enum(WEBHOOK_FAILURES)
      .nullable()
      .describe(
        'Why the latest attempt failed; null = it did not, or there was none. certificate_expired, certificate_not_yet_valid, certificate_revoked, certificate_weak (a key or a hash that is too short), certificate_refused (a wrong purpose or signature), certificate_host (issued for another host name), certificate_self_signed, certificate_authority (its authority is not publicly trusted, or an intermediate certificate is missing): the certificate of the receiver. tls: any other failure of TLS. redirect: never followed.',
      ),
  })
  .meta({ id: 'AlertDelivery', description: 'An event of an alert and the state of its delivery.' });

const next = z.string().nullable().describe('Send it as "after" for the next page; null = this is the last one.');

export const alertAnswer = z.object({ alert }).meta({ id: 'AlertAnswer', description: 'One alert.' });
export const createdAlert = z
  .object({
    secret: z.string().describe('Signing secret of its webhooks. It is shown here only: keep it at the receiver.'),
    alert,
  })
  .meta({ id: 'CreatedAlert', description: 'A registered alert with the secret that signs its webhooks.' });
export const rotatedSecret = z
  .object({
    secret: z
      .string()
      .describe('The new secret. It is shown here only: keep it at the receiver, beside the one before.'),
    alert,
  })
  .meta({ id: 'RotatedAlertSecret', description: 'A new signing secret of an alert.' });
/** Header of a registration that may be sent again. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(IDEMPOTENCY_KEY, 'expected 1 to 255 visible ASCII characters without spaces, such as a UUID')
    .meta({ pattern: IDEMPOTENCY_KEY.source })
    .optional()
    .describe(
      'A key of your own, such as a UUID: the same registration under the same key is made once and answered the same for 24 hours. Another registration under it is refused with 409.',
    ),
});
export const deletedAlert = z
  .object({
    id: z.uuid().describe('The requested id.'),
    deleted: z.boolean().describe('Whether there was such an alert of this key.'),
  })
  .meta({ id: 'DeletedAlert', description: 'The result of deleting an alert.' });
export const alertPage = z
  .object({
    count: wholeNumber('Number of matching alerts, on all pages.'),
    next,
    alerts: z.array(alert).describe('The newest first.'),
  })
  .meta({ id: 'AlertPage', description: 'A page of alerts.' });
export const deliveryAnswer = z
  .object({ delivery })
  .meta({ id: 'AlertDeliveryAnswer', description: 'One event of an alert.' });
export const deliveryPage = z
  .object({
    count: wholeNumber('Number of matching events, on all pages.'),
    next,
    deliveries: z.array(delivery).describe('The newest first.'),
  })
  .meta({ id: 'AlertDeliveryPage', description: 'A page of events of alerts.' });
