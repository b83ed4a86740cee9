import { z } from 'zod';
import { absenceOf } from '../../absence.ts';
import type { OpsAlertJobsQuery } from '../../generated/operations.ts';
import { alertJobs } from '../../schemas/alert-jobs.ts';
import { type AnyRoute, defineRoute } from '../../types.ts';
import { answered, PARTNER_ERRORS } from '../shared.ts';

const inJobs = absenceOf(alertJobs);
const isNone = () => false;

/** The row of the jobs of alerts. It is read from the database alone. */
export function alertJobsRoute(): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/v1/ops/alert-jobs',
    surface: 'Ops',
    summary: 'Jobs of alerts',
    description:
      'The jobs that evaluate the alerts of partners and deliver their events: their latest runs and failures, how many events wait, since when, and how many were given up.',
    operation: 'OpsAlertJobs',
    params: z.object({}),
    variables: () => ({}),
    project: ({ ops }: OpsAlertJobsQuery) => inJobs(answered(answered(ops).alertJobs), isNone),
    response: alertJobs,
    errors: [...PARTNER_ERRORS, 'upstream_unavailable'],
    examples: [{ summary: 'Now' }],
  });
}
