import { ERROR_CODES, type ErrorCode } from '../../shared/errors.ts';
import type { AnyRoute } from '../types.ts';

/** Meaning of each code, in one sentence. `docs/errors.md` has the next steps. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'A parameter or the body is invalid; `details.field` names it.',
  unauthorized: 'The key is missing, or not valid for this surface.',
  not_found: 'The id or the path is unknown.',
  method_not_allowed: 'The path supports other methods; `Allow` lists them.',
  conflict: 'The request contradicts an earlier one; `details.reason` says how.',
  payload_too_large: 'The body is larger than `details.limitBytes`.',
  unsupported_media_type: 'The body is not JSON in UTF-8.',
  query_too_complex: 'The GraphQL query is over a limit; `details` names it.',
  rate_limited:
    'The budget of cost points, or the calls of one field, are used up; `Retry-After` has the waiting time.',
  not_ready: 'Required data is not loaded yet, or earlier answers are unread; `details.waitingFor` names it.',
  upstream_unavailable: 'A provider gave no usable answer; `details.provider` names it.',
  stale_data: 'Market state is past its freshness budget: nothing is built on it.',
  no_route: 'No plausible swap route was found.',
  insufficient_liquidity: 'The market cannot lend that much at once.',
  simulation_reverted: 'The built transaction would revert; `details` carries the decoded reason.',
  simulation_mismatch: 'In simulation the swaps returned less than their quotes; `details` has both numbers.',
  internal: 'The service failed unexpectedly; the failure is logged under the `correlationId`.',
};

/** Errors of the gateway and the adapter, which any row can return. */
function commonErrors({ surface, body }: AnyRoute): readonly ErrorCode[] {
  return [
    'bad_request',
    ...(surface === 'Public' ? [] : (['unauthorized'] as const)),
    'rate_limited',
    // New large answers are refused to an address with too many unread ones.
    'not_ready',
    'internal',
    ...(surface === 'Public' ? [] : (['upstream_unavailable'] as const)),
    ...(body === undefined ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
  ];
}

/** The codes of a row by HTTP status. A code with several statuses is listed under each of them. */
export function errorsByStatus(route: AnyRoute): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([...route.errors, ...commonErrors(route)]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    for (const status of [ERROR_CODES[code].status, ...(EITHER[code] ?? [])]) {
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** Codes with a second status: a revert that a fresh quote may resolve is retryable. */
const EITHER: Partial<Record<ErrorCode, readonly number[]>> = { simulation_reverted: [503] };
