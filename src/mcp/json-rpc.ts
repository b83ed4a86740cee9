import type { RestResponse } from '../rest/types.ts';
import { AppError } from '../shared/errors.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

/** A JSON-RPC message, before its parts are checked. */
export type Message = Readonly<Record<string, unknown>>;

/** The answer to a message. */
export interface MessageAnswer {
  readonly status: number;
  /** Empty for notifications. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

type Id = string | number | null;

/** The codes of JSON-RPC. */
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;
const PARSE_ERROR = -32_700;
const INTERNAL_ERROR = -32_603;
/** A refusal of the service, whose own code is in `data`. */
export const REQUEST_REFUSED = -32_000;

/** Read a message. Parameters that are null are left out. Anything else than a record has no method, which the library refuses. */
export function messageOf(given: unknown): Message {
  const { params, ...message } = recordOf(given);
  if (params === undefined || params === null) return message;
  if (!isRecord(params)) return { ...message, params };
  const { _meta, ...own } = params;
  return {
    ...message,
    params: withoutNulls({ ...own, _meta: isRecord(_meta) ? withoutNulls(_meta) : (_meta ?? null) }),
  };
}

/** The members of a record, or none. */
export function recordOf(given: unknown): Message {
  return isRecord(given) ? given : {};
}

function isRecord(given: unknown): given is Message {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** Models and clients send null for what they leave out. */
export function withoutNulls(given: Message): Message {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

export function idOf({ id }: Message): Id {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Make an error of the protocol. */
export function protocolError(
  status: number,
  code: number,
  message: string,
  id: Id = null,
  data?: object,
): MessageAnswer {
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id, error: withoutUndefined({ code, message, data }) }) };
}

/** Make the refusal of a request that was not read, for the sake of which there is no id. */
export function unreadRefusal(error: AppError, correlationId: string): Pick<RestResponse, 'headers' | 'body'> {
  const { code, message, status, details, retryAfterSec } = error;
  const data = withoutUndefined({ code, retryAfterSec, details, correlationId });
  const { body, headers } = protocolError(status, REQUEST_REFUSED, message, null, data);
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body,
  };
}

/** Answer a refused request with the code of the service in `data`, and with its HTTP status. */
export function refusedAnswer(error: unknown, id: Id = null): MessageAnswer {
  if (!(error instanceof AppError)) {
    return protocolError(
      500,
      INTERNAL_ERROR,
      'The service failed unexpectedly. Quote the x-correlation-id in a report.',
      id,
    );
  }
  const { code, message, status, details, retryAfterSec } = error;
  const isBody = code === 'bad_request' && id === null;
  const data = withoutUndefined({ code, retryAfterSec, details });
  const headers = withoutUndefined({
    'retry-after': retryAfterSec === undefined ? undefined : String(retryAfterSec),
    'www-authenticate': code === 'unauthorized' ? 'Bearer' : undefined,
  });
  return { ...protocolError(status, isBody ? PARSE_ERROR : REQUEST_REFUSED, message, id, data), headers };
}
