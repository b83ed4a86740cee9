import { ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { RestResponse } from './types.ts';

/** Content of the error envelope, from the pipeline or from the adapter. */
export interface ErrorContent {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly details?: unknown;
  readonly retryAfterSec?: number | undefined;
  readonly allow?: readonly string[] | undefined;
}

export function errorResponse(failure: ErrorContent, correlationId: string): RestResponse {
  const { code, message, allow } = failure;
  const details = failure.details ?? (allow === undefined ? undefined : { allow });
  return {
    status: failure.status,
    headers: withoutUndefined({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'retry-after': failure.retryAfterSec === undefined ? undefined : String(Math.ceil(failure.retryAfterSec)),
      allow: allow?.join(', '),
      'www-authenticate': failure.code === 'unauthorized' ? 'Bearer' : undefined,
    }),
    body: JSON.stringify({ error: { code, message, correlationId, details } }),
  };
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_CODES, value);
}
