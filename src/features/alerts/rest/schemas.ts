import { z } from 'zod';
import { rangeSentence } from '../../../rest/schemas/numbers.ts';
import { addressText, chainIdBody, positionIndex, strategyIdText } from '../../../rest/schemas/transactions.ts';
import { ALERT_FIELDS, IDEMPOTENCY_KEY, MAX_LABEL } from '../domain/input-fields.ts';
import { DELIVERY_STATUSES } from '../domain/records.ts';
import { ALERT_CONDITIONS, ALERT_SUBJECTS } from '../domain/types.ts';

const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
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
      wallet: addressText(ALERT_FIELDS.wallet).optional(),
      positionIndex: positionIndex
        .optional()
        .describe('Index of one position of the wallet on chain, which has to exist; the whole wallet when left out.'),
      strategyId: strategyIdText(ALERT_FIELDS.strategyId).optional(),
      condition: alertCondition.describe(
        'headroom_below, liquidated: of wallets, positions and vaults. apy_below, liquidity_below, stale, paused: of every subject.',
      ),
      threshold: signedText(ALERT_FIELDS.threshold).optional(),
      rearmAt: signedText(ALERT_FIELDS.rearmAt).optional(),
      webhookUrl: z.string().min(1).max(MAX_URL).describe(ALERT_FIELDS.webhookUrl),
      label: z.string().max(MAX_LABEL).optional().describe(ALERT_FIELDS.label),
    })
    .meta({ id: 'AlertBody', description: 'An alert to register.' });

/** Header of a registration that may be sent again. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(IDEMPOTENCY_KEY, 'expected 1 to 255 visible ASCII characters without spaces, such as a UUID')
    .meta({ pattern: IDEMPOTENCY_KEY.source })
    .optional()
    .describe(ALERT_FIELDS.idempotencyKey),
});
