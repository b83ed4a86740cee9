import {
  type AlertJobRun,
  type AlertJobStatus,
  type AlertJobsRecord,
  deliveryJobStatus,
  evaluationJobStatus,
} from '../../domain/alerts/jobs.ts';
import { reasonOfUnknown } from '../../domain/freshness/unknown-run.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';

const AlertJobStatusRef = builder.enumType('AlertJobStatus', {
  description: 'State of a job of alerts.',
  values: enumValues<AlertJobStatus>({
    never: 'No run is recorded.',
    failing: 'The latest run failed, see `failureReason`.',
    unknown: 'The latest run has a time in the future: a clock is wrong, and it is not known whether the job runs.',
    stopped: 'The latest run was more than ten minutes ago: no process runs the job, or one hangs.',
    late: 'A delivery is due for more than 15 minutes without an attempt.',
    running: 'None of the other states.',
  }),
});

interface JudgedRun {
  readonly status: AlertJobStatus;
  readonly run: AlertJobRun | null;
}

const AlertJobRef = builder.objectRef<JudgedRun>('AlertJob').implement({
  description: 'A job of alerts with its latest run.',
  fields: (t) => ({
    status: t.expose('status', { type: AlertJobStatusRef, description: 'State of the job, the worst that holds.' }),
    statusReason: t.string({
      nullable: true,
      description: 'Reason of the state `UNKNOWN`, one sentence; `null` = it is another one.',
      resolve: ({ status }) => reasonOfUnknown(status),
    }),
    ranAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the latest run; `null` = none is recorded.',
      resolve: ({ run }) => run?.ranMs ?? null,
    }),
    failureReason: t.string({
      nullable: true,
      description: 'The reason why the latest run failed, in one word; `null` = it did not fail.',
      resolve: ({ run }) => run?.failure ?? null,
    }),
    failingSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first failure in a row; `null` = the latest run did not fail.',
      resolve: ({ run }) => run?.failingSinceMs ?? null,
    }),
  }),
});

export const AlertJobsRef = builder.objectRef<AlertJobsRecord>('AlertJobs').implement({
  description: 'The jobs that evaluate the alerts of partners and deliver their events.',
  fields: (t) => ({
    evaluation: t.field({
      type: AlertJobRef,
      description: 'The evaluation of alerts.',
      resolve: (record, _args, { nowMs }) => ({
        run: record.evaluation,
        status: evaluationJobStatus(record, nowMs),
      }),
    }),
    delivery: t.field({
      type: AlertJobRef,
      description: 'The delivery of events. A receiver that fails is no failure of it.',
      resolve: (record, _args, { nowMs }) => ({ run: record.delivery, status: deliveryJobStatus(record, nowMs) }),
    }),
    undeliveredCount: t.int({
      description: 'Events that wait for their delivery, of all keys.',
      resolve: ({ outbox }) => outbox.pending,
    }),
    oldestUndeliveredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the oldest undelivered event of a valid key; `null` = there is none.',
      resolve: ({ outbox }) => outbox.oldestPendingMs,
    }),
    dueSince: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Since when the most overdue delivery is due without an attempt; `null` = none is. Pauses between attempts and keys above their hourly limit do not count.',
      resolve: ({ outbox }) => outbox.dueSinceMs,
    }),
    deadLetterCount: t.int({
      description: 'Events of 30 days whose delivery was given up.',
      resolve: ({ outbox }) => outbox.dead,
    }),
  }),
});
