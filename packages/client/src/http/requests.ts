import { InputError, InvalidAnswerError } from '../errors.ts';
import { countLimitOf, requireFunction, timeLimitOf } from '../option-checks.ts';
import { type Wait, wait } from '../wait.ts';
import { errorOf, parseJson } from './answer.ts';
import { createEntityTags } from './entity-tags.ts';
import { withRetries } from './retry.ts';
import { type FetchFunction, sendHttp } from './transport.ts';

export interface ClientOptions {
  /** Address of the service, e.g. `https://api.example.com`. A path before `/v1` is kept. */
  readonly baseUrl: string;
  /** API key; without it only the public rows answer. */
  readonly apiKey?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: FetchFunction | undefined;
  /** Limit for one attempt, ms; default 30,000; `Infinity` = no limit. */
  readonly timeoutMs?: number | undefined;
  /** Repetitions of a failed read, and of a call with an idempotency key; builds are never repeated. Default 2. */
  readonly retries?: number | undefined;
  /** A read whose `Retry-After` is longer fails at once, ms; default 10,000. */
  readonly maxRetryWaitMs?: number | undefined;
  /** Larger answers are refused, bytes after decompression; default 8 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Waiting between repetitions; default: a timer. */
  readonly wait?: Wait | undefined;
}

export interface CallOptions {
  /** Key of your own, such as a UUID, for a row that takes one: the request may then be repeated, and is while its failure is temporary. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Replaces that of the client, ms. */
  readonly timeoutMs?: number | undefined;
}

export interface ServiceRequest {
  readonly method: string;
  /** From the root of the service, with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Whether it may be repeated. */
  readonly isRead: boolean;
  /** Whether it may be repeated under an idempotency key. */
  readonly takesIdempotencyKey?: boolean | undefined;
  readonly hasEntityTag: boolean;
  /** Statuses that carry a record instead of an error. */
  readonly statuses: readonly number[];
}

export interface ServiceAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The connection of a client to one service. */
export interface Requests {
  /** Of the service, without a slash at the end. */
  readonly baseUrl: string;
  readonly fetch: FetchFunction;
  readonly wait: Wait;
  headers(): Record<string, string>;
  send(request: ServiceRequest, options?: CallOptions): Promise<ServiceAnswer>;
}

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** @throws InputError for an address or a key that cannot be sent, and for an option that is not allowed */
export function createRequests(options: ClientOptions): Requests {
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const { apiKey } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new InputError('apiKey has characters that no header can carry: send it as it was issued.');
  }
  requireFunction('fetch', options.fetch);
  requireFunction('wait', options.wait);
  const entityTags = createEntityTags();
  const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const transport = {
    fetch,
    timeoutMs: timeLimitOf('timeoutMs', options.timeoutMs ?? 30_000),
    maxAnswerBytes: countLimitOf('maxAnswerBytes', options.maxAnswerBytes ?? MAX_ANSWER_BYTES),
  };
  const retry = {
    retries: countLimitOf('retries', options.retries ?? 2),
    maxRetryWaitMs: timeLimitOf('maxRetryWaitMs', options.maxRetryWaitMs ?? 10_000),
    wait: options.wait ?? wait,
  };
  const headers = (): Record<string, string> =>
    apiKey === undefined
      ? { accept: 'application/json' }
      : { accept: 'application/json', authorization: `Bearer ${apiKey}` };

  const once = async (
    request: ServiceRequest,
    { signal, timeoutMs, idempotencyKey }: CallOptions,
  ): Promise<ServiceAnswer> => {
    const url = `${baseUrl}${request.path}`;
    const known = request.hasEntityTag ? entityTags.get(url) : undefined;
    const sent = headers();
    if (known !== undefined) sent['if-none-match'] = known.tag;
    if (idempotencyKey !== undefined) sent['idempotency-key'] = checkedKey(idempotencyKey, request);
    if (request.body !== undefined) sent['content-type'] = 'application/json';
    const answer = await sendHttp(
      {
        url,
        method: request.method,
        headers: sent,
        body: request.body === undefined ? undefined : JSON.stringify(request.body),
        signal,
      },
      { ...transport, timeoutMs: timeLimitOf('timeoutMs', timeoutMs ?? transport.timeoutMs) },
    );
    if (answer.status === 304) {
      if (known !== undefined) return { status: 200, body: JSON.parse(known.text) };
      throw new InvalidAnswerError('status', 304, 'The service says that nothing changed, and was not asked.');
    }
    if (!request.statuses.includes(answer.status)) throw errorOf(answer);
    const body = parseJson(answer);
    const tag = answer.headers.get('etag');
    if (request.hasEntityTag && answer.status === 200 && tag !== null) entityTags.set(url, tag, answer.text);
    return { status: answer.status, body };
  };

  return {
    baseUrl,
    fetch,
    wait: retry.wait,
    headers,
    send: (request, call = {}) =>
      request.isRead || call.idempotencyKey !== undefined
        ? withRetries(() => once(request, call), retry, call.signal)
        : once(request, call),
  };
}

/** @throws InputError */
function checkedKey(key: string, { path, takesIdempotencyKey }: ServiceRequest): string {
  if (!takesIdempotencyKey) throw new InputError(`${path} takes no idempotencyKey: leave it out.`);
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new InputError('idempotencyKey has to be 1 to 255 visible ASCII characters without spaces, such as a UUID.');
}

function checkedBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new InputError(`baseUrl is "${text}": give the address of the service, e.g. https://api.example.com.`);
  }
  return url.href.replace(/\/+$/, '');
}
