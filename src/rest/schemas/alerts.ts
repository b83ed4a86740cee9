import { z } from 'zod';
import { ALERT_CONDITIONS, ALERT_SUBJECTS, DELIVERY_STATUSES } from '../../shared/vocabulary.ts';
import { rangeSentence } from './numbers.ts';
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
