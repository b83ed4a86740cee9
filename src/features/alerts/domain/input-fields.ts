/** The inputs of an alert, as REST and GraphQL take them. */

/** Longest label, characters. */
export const MAX_LABEL = 100;
/** Longest idempotency key, characters. */
export const MAX_IDEMPOTENCY_KEY = 255;

/** Visible ASCII without spaces. */
export const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${MAX_IDEMPOTENCY_KEY}}$`);

export const ALERT_FIELDS = {
  wallet: 'The wallet.',
  strategyId: 'The strategy; together with `wallet` the id of an equity vault (`equity-…`) that it holds or may hold.',
  threshold:
    'Value below which the condition holds, in the unit of the condition; only for conditions with a threshold.',
  rearmAt:
    'Value from which a fired condition is over, at least the threshold. When left out 0.5 points above it, or 5 % for liquidity.',
  webhookUrl: 'https URL of a public host that takes the events, on port 443 or from 1024 on.',
  label: `A name for people, at most ${MAX_LABEL} characters.`,
  idempotencyKey:
    'A key of your own, 1 to 255 visible ASCII characters, such as a UUID: the same registration under the same key is made once and answered the same for 24 hours. Another registration under it is refused as a conflict.',
} as const;
