import type { RestResponse } from '../rest/types.ts';
import type { Admission } from './admission.ts';
import { DOOR_POINTS, WINDOW_SEC } from './limits.ts';
import type { Ready } from './use-rendered.ts';
import { budgetExtension, budgetHeaders, type Visit } from './visit.ts';

/**
 * Make the answer to an admitted visit from one that was kept: charged as if it had been executed, with where the budget
 * stands now. @throws RateLimitedError
 */
export async function readyAnswer(ready: Ready, visit: Visit, admission: Admission): Promise<RestResponse> {
  const points = pointsIn(ready.cost);
  if (points > DOOR_POINTS) await admission.charge(visit, points - DOOR_POINTS);
  const extensions = { cost: ready.cost, ...budgetExtension(visit, WINDOW_SEC).extensions };
  return {
    status: 200,
    headers: {
      'content-type': ready.contentType,
      'cache-control': 'no-store',
      ...budgetHeaders(visit, WINDOW_SEC),
    },
    body: Buffer.concat([ready.head, Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`)]),
  };
}

function pointsIn(cost: unknown): number {
  const { points } = (cost ?? {}) as { readonly points?: unknown };
  return typeof points === 'number' ? points : DOOR_POINTS;
}
