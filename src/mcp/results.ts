import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ErrorContent, isErrorCode } from '../rest/envelope.ts';
import type { RestResponse } from '../rest/types.ts';
import { ERROR_CODES } from '../shared/errors.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { nextStepOf } from './next-steps.ts';
import { inTerms } from './tool-terms.ts';
import type { RowBoundTool } from './tools.ts';

/** Location of an input in a REST request. Tools have arguments only. */
const PLACE = /^(path|query|body)\.(?=.)/;

/** The result of a tool whose row failed: the error as JSON, with the next step. It has no structured content, which would have to fit the schema of answers. */
export function failedResult(
  failure: Omit<ErrorContent, 'status'> & {
    readonly correlationId?: string | undefined;
    readonly status?: number | undefined;
  },
  { tool, names, terms }: Pick<RowBoundTool, 'tool' | 'names' | 'terms'>,
): CallToolResult {
  const { code, message, correlationId, retryAfterSec, status } = failure;
  const details = inTerms(withArgumentNames(failure.details), terms);
  const error = withoutUndefined({
    code,
    message: terms(message.replace(PLACE, '')),
    // A revert that fresh quotes may cure has a status of its own.
    retryable: ERROR_CODES[code].retryable || (code === 'simulation_reverted' && status === 503),
    retryAfterSec,
    nextStep: nextStepOf({ code, details, retryAfterSec }, { name: tool.name, names }),
    details,
    correlationId,
  });
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

/** The result of a tool whose row answered. The text repeats the structured content for clients without it. */
export function answeredResult(
  answer: Readonly<Record<string, unknown>>,
  { terms }: Pick<RowBoundTool, 'terms'>,
): CallToolResult {
  const body = inTerms(answer, terms);
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
