import { count, flag } from './numbers.ts';

/** Settings of the feature alerts. */
export const alertSettings = {
  ALERTS_PER_KEY: count.default(1000).describe('Maximum number of alerts of one key.'),
  ALERT_DELIVERIES_PER_HOUR: count.default(1000).describe('Events of one key sent in an hour; later ones wait.'),
  ALERT_LOCAL_TARGETS: flag.default(false).describe('Whether webhooks may go to local addresses; not in production.'),
} as const;
