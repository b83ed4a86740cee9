import { z } from 'zod';
import { dateTime } from '../../../rest/schemas/common.ts';
import { wholeNumber } from '../../../rest/schemas/numbers.ts';
import { ALERT_JOB_STATUSES } from '../domain/jobs.ts';

const job = (description: string) =>
  z
    .looseObject({
      status: z
        .enum(ALERT_JOB_STATUSES)
        .describe(
          'never: no run is recorded. failing: see failure. unknown: see statusReason. stopped: no run for ten minutes. late: a delivery is due for more than 15 minutes. running: none of these.',
        ),
      statusReason: z
        .string()
        .optional()
        .describe('Why the state is unknown: the latest run has a time in the future; absent = it is another one.'),
      lastRun: dateTime('Time of the latest run; absent = none is recorded.').optional(),
      failure: z.string().optional().describe('The reason of its failure, in one word; absent = it did not fail.'),
      failingSince: dateTime('Its first failure in a row; absent = it did not fail.').optional(),
    })
    .describe(description);

const fields = {
  evaluation: job('The evaluation of alerts.'),
  delivery: job('The delivery of their events. A receiver that fails is no failure of it.'),
  undelivered: wholeNumber('Number of events that wait for their delivery, of all keys.'),
  oldestUndelivered: dateTime('Time of the oldest of them of a valid key; absent = there is none.').optional(),
  dueSince: dateTime(
    'Since when the most overdue delivery is due without an attempt; absent = none is. Pauses between attempts and keys above their hourly limit do not count.',
  ).optional(),
  deadLetters: wholeNumber('Number of events of 30 days whose delivery was given up.'),
};

/** What the health page shows of alerts. */
export const alertHealthFields = {
  alerts: z.looseObject(fields).optional().describe('The jobs of alerts; absent = not read from the database yet.'),
};
