import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RestRequest, RestResponse, StreamResponse } from '../rest/types.ts';
import { AppError, BadRequestError } from '../shared/errors.ts';
import { type CallOrigin, requestOf } from './calls.ts';
import { pageOf, readSize } from './paging.ts';
import { answeredResult, failedResult, readAnswer } from './results.ts';
import type { RowBoundTool } from './tools.ts';

export interface CalledTool {
  readonly result: CallToolResult;
  /** Error code; `ok` = none. */
  readonly outcome: string;
  /** Status of the client's budget as headers; absent when the row was not asked. */
  readonly budget?: Readonly<Record<string, string>> | undefined;
}

/** The rows as an HTTP client asks them: with key, budget, cache and error envelope. */
export interface Rows {
  answer(request: RestRequest): Promise<RestResponse | StreamResponse>;
  /** Answer with the brief of the row. */
  answerBriefly(request: RestRequest): Promise<RestResponse | StreamResponse>;
  /** The path template of a path. */
  routeOf(path: string): string | undefined;
}

/** Check the key of a request that no row answers, and charge it. */
export type Admit = (origin: CallOrigin) => Promise<{
  /** `null` = admitted. */
  readonly refusal: unknown;
  readonly budget: Readonly<Record<string, string>>;
}>;

/**
 * Call a tool by asking its row.
 * @throws AppError for arguments that the tool refuses before its row is asked
 */
export async function callTool(
  bound: RowBoundTool,
  given: Readonly<Record<string, unknown>>,
  origin: CallOrigin,
  rows: Rows,
): Promise<CalledTool> {
  const { correlationId } = origin;
  const { list } = bound.tool;
  const { page, isBrief, rest } = readSize(bound.tool, given);
  const request = requestOf(bound, rest, origin);
  requireOwnRow(bound, request, rows);
  const response = await (isBrief ? rows.answerBriefly(request) : rows.answer(request));
  if ('stream' in response) throw new Error(`${bound.tool.name}: a streamed row cannot be a tool.`);
  const { budget } = response;
  const answer = readAnswer(response);
  if ('failure' in answer) {
    const { failure } = answer;
    return { result: failedResult({ ...failure, correlationId }, bound), outcome: failure.code, budget };
  }
  const { body } = answer;
  const shown = list === undefined || page === undefined ? body : pageOf(body, list, page);
  return { result: answeredResult(shown, bound), outcome: 'ok', budget };
}

/**
 * Refuse an argument that makes the path of another row, whose key and cost would be those of that row.
 * @throws BadRequestError
 */
function requireOwnRow({ route }: RowBoundTool, { path }: RestRequest, rows: Rows): void {
  if (rows.routeOf(path) === route.path) return;
  const field = /\{(\w+)\}/.exec(route.path)?.[1] ?? 'path';
  throw new BadRequestError(`${field}: expected an id (the value is a part of another path).`, { field });
}

/** The result of a call that failed unexpectedly. */
export function failedCall(bound: RowBoundTool, { correlationId }: CallOrigin): CalledTool {
  const message = 'The service failed unexpectedly. Quote the correlationId in a report.';
  return { result: failedResult({ code: 'internal', message, correlationId }, bound), outcome: 'internal' };
}

/** Charge a call whose arguments the tool refuses like one that its row refuses. Any other error is thrown again. */
export async function refusedCall(
  bound: RowBoundTool,
  refusal: unknown,
  origin: CallOrigin,
  admit: Admit,
): Promise<CalledTool> {
  if (!(refusal instanceof AppError)) throw refusal;
  const admitted = await admit(origin);
  const error = admitted.refusal ?? refusal;
  if (!(error instanceof AppError)) throw error;
  const { code, message, details, retryAfterSec } = error;
  const { correlationId } = origin;
  const result = failedResult({ code, message, details, retryAfterSec, correlationId }, bound);
  return { result, outcome: code, budget: admitted.budget };
}
