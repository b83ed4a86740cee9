import type { MadeResponse, RestRequest, RestResponse, RowCache } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import { ANSWER_MAX_AGE_SEC } from '../shared/contract/answer-max-age.ts';
import type { AnswerCache, CachedResponse } from './answer-cache.ts';
import { chooseBody } from './encoded-body.ts';

export interface CachedRowsDeps {
  readonly cache: AnswerCache;
  readonly clock: Clock;
  /** Called on every look-up, for metrics. */
  readonly onLookup?: ((hit: boolean) => void) | undefined;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Create the row cache: public rows are answered from cached bytes, or made once for concurrent requests. Errors, and answers
 * without validity, are returned to the first caller only.
 */
export function createCachedRows({ cache, clock, onLookup }: CachedRowsDeps): RowCache {
  const making = new Map<string, { readonly stored: Promise<CachedResponse | undefined>; readonly readers: Readers }>();
  return {
    async answer(request, make) {
      const key = keyOf(request);
      const running = making.get(key);
      running?.readers.join(request.left);
      // Without an `await` when nothing runs, so that a request in the same turn sees the execution that begins here.
      const cached = cache.find(key) ?? (running && (await running.stored));
      onLookup?.(cached !== undefined);
      if (cached) return respond(cached, request.headers, clock.now());
      const readers = createReaders();
      readers.join(request.left);
      const made = make(readers.left);
      const stored = made.then(
        (response) => store(cache, key, response),
        () => undefined,
      );
      making.set(key, { stored, readers });
      try {
        const fresh = await stored;
        return fresh ? respond(fresh, request.headers, clock.now()) : (await made).response;
      } finally {
        if (making.get(key)?.stored === stored) making.delete(key);
      }
    },
  };
}

/** The requests that wait for one execution. */
interface Readers {
  join(left: RestRequest['left']): void;
  /** Aborted when all of them have left. */
  readonly left: () => AbortSignal;
}

function createReaders(): Readers {
  const gone = new AbortController();
  let waiting = 0;
  return {
    join(left) {
      waiting += 1;
      const leave = () => {
        waiting -= 1;
        if (waiting === 0) gone.abort();
      };
      const signal = left?.();
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave, { once: true });
    },
    left: () => gone.signal,
  };
}

/** Cache key: the row with the same parameters in the same order. HEAD shares the answer of GET. */
function keyOf({ path, query }: RestRequest): string {
  return query === '' ? path : `${path}?${query}`;
}

function store(cache: AnswerCache, key: string, { response, validity }: MadeResponse): CachedResponse | undefined {
  const { status, headers, body } = response;
  const contentType = headers['content-type'];
  if (status !== 200 || validity === undefined || contentType === undefined || typeof body !== 'string')
    return undefined;
  return cache.store(key, { contentType, body, isWhole: true }, validity);
}

function respond(cached: CachedResponse, requestHeaders: RestRequest['headers'], nowMs: number): RestResponse {
  const { bytes, etag, encoding, isKnown } = chooseBody(cached.bodies, requestHeaders);
  const ageSec = Math.max(0, Math.floor((nowMs - cached.createdAtMs) / 1_000));
  // Freshness counts from the creation of the answer, so the remaining time is added to its age.
  const leftSec = Math.max(0, Math.min(ANSWER_MAX_AGE_SEC, Math.floor((cached.untilMs - nowMs) / 1_000)));
  const headers: Record<string, string> = {
    etag,
    'cache-control': `public, max-age=${ageSec + leftSec}`,
    age: String(ageSec),
    vary: 'accept-encoding, authorization',
  };
  if (isKnown) return { status: 304, headers, body: NO_BYTES };
  headers['content-type'] = cached.contentType;
  if (encoding !== 'identity') headers['content-encoding'] = encoding;
  return { status: 200, headers, body: bytes };
}
