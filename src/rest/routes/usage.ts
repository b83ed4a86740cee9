import { z } from 'zod';
import { integerParam } from '../schemas/common.ts';
import type { AnyRoute } from '../types.ts';
import { PARTNER_ERRORS, type RouteOptions } from './shared.ts';

const MAX_DAYS = 400;

/** The row of the use of a key. */
export function usageRoute({ derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/partner/usage',
    surface: 'Partner',
    summary: 'Use of the key',
    description:
      'Calls, cost points and refusals of the key of the request by UTC day, oldest first; a day without an entry had none. Counted in memory and stored every minute: what other processes have counted since is missing.',
    operation: 'Usage',
    params: z.object({
      days: integerParam({ min: 1, max: MAX_DAYS })
        .default(30)
        .describe(`UTC days up to the present one, which counts: 1 to ${MAX_DAYS}. Default 30.`),
    }),
    variables: ({ params }) => params,
    errors: [...PARTNER_ERRORS, 'upstream_unavailable'],
    examples: [{ summary: 'The last 30 days' }],
  });
}
