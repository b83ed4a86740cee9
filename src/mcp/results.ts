import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ErrorContent, isErrorCode } from '../rest/envelope.ts';
import type { RestResponse } from '../rest/types.ts';
import { ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

/** The next step of a model after each error. */
export const TOOL_NEXT_STEPS: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'Correct the argument that details.field names, and call the tool again.',
  unauthorized:
    'This tool needs a valid API key. Ask the person who configured this server to set the header "Authorization: Bearer <API_KEY>". Do not ask for the key in the conversation. Reads that need no key go on.',
  not_found:
    'Look the id up with list_strategies or list_markets, that of a position with list_positions, and call the tool again.',
  method_not_allowed: 'Report this: a tool should not cause it.',
  conflict: 'Follow the message; do not repeat the call as it is.',
  payload_too_large: 'Send shorter arguments.',
  unsupported_media_type: 'Report this: a tool should not cause it.',
  query_too_complex: 'Ask for less: a smaller limit, or one chain.',
  rate_limited: 'Wait for retryAfterSec, then call the tool again. Every call of this key or address counts.',
  not_ready: 'The service has just started. Wait for retryAfterSec, then call the tool again.',
  upstream_unavailable: 'A provider fails. Wait for retryAfterSec, or a minute, then call the tool again.',
  stale_data:
    'An input is too old for a transaction. Wait for retryAfterSec, or a minute, then call the tool again. Do not build from older answers.',
  no_route: 'No venue swaps this amount now. Try a smaller amount, another payToken, or later.',
  insufficient_liquidity: 'Choose an amount or a leverage within the maximum in details, or another strategy.',
  simulation_reverted: 'The transaction would fail. Follow details.nextStep or details.reason; do not send it.',
  simulation_mismatch: 'Prices moved. Call the tool again for a new build; do not send an older one.',
  internal: 'Call the tool again once. If it fails again, report the correlationId.',
};

/** Location of an input in a REST request. Tools have arguments only. */
const PLACE = /^(path|query|body)\.(?=.)/;

/** The result of a tool whose row failed: the error as JSON, with the next step. It has no structured content, which would have to fit the schema of answers. */
export function failedResult(
  failure: Omit<ErrorContent, 'status'> & { readonly correlationId?: string | undefined },
): CallToolResult {
  const { code, message, correlationId, retryAfterSec } = failure;
  const details = withArgumentNames(failure.details);
  const error = withoutUndefined({
    code,
    message: message.replace(PLACE, ''),
    retryable: ERROR_CODES[code].retryable,
    retryAfterSec,
    nextStep: TOOL_NEXT_STEPS[code],
    details,
    correlationId,
  });
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

/** The result of a tool whose row answered. The text repeats the structured content for clients without it. */
export function answeredResult(body: Readonly<Record<string, unknown>>): CallToolResult {
  return { structuredContent: body, content: [{ type: 'text', text: JSON.stringify(body) }] };
}

/** Read the answer of a row: its body, or its error. */
export function readAnswer(
  response: RestResponse,
): { readonly body: Readonly<Record<string, unknown>> } | { readonly failure: ErrorContent } {
  const { status, headers } = response;
  const parsed = JSON.parse(textOf(response.body)) as Readonly<Record<string, unknown>>;
  if (status === 200) return { body: parsed };
  const { code, message = '', details } = (parsed.error ?? {}) as Partial<ErrorContent>;
  const retryAfterSec = headers['retry-after'] === undefined ? undefined : Number(headers['retry-after']);
  if (!isErrorCode(code)) return { failure: { code: 'internal', status, message: 'The row answered no error code.' } };
  return { failure: { code, status, message, details, retryAfterSec } };
}

function textOf(body: RestResponse['body']): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString() : Buffer.concat(body).toString();
}

function withArgumentNames(details: unknown): unknown {
  if (typeof details !== 'object' || details === null) return details;
  const { field, issues } = details as { readonly field?: unknown; readonly issues?: unknown };
  return withoutUndefined({
    ...details,
    field: typeof field === 'string' ? field.replace(PLACE, '') : undefined,
    issues: Array.isArray(issues) ? issues.map(withArgumentNames) : undefined,
  });
}
