import type { MadeResponse, RestRequest, RestResponse, RowCache } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { AnswerCache, CachedResponse } from './answer-cache.ts';
import { chooseBody } from './encoded-body.ts';

export interface CachedRowsDeps {
  readonly cache: AnswerCache;
  readonly clock: Clock;
  /** Told of every look-up, for metrics. */
  readonly onLookup?: ((hit: boolean) => void) | undefined;
}

/** How long others may cache an answer without asking, seconds, unless it changes sooner. */
const MAX_AGE_SEC = 5;
const NO_BYTES = Buffer.alloc(0);

/**
 * Answer public rows from cached bytes, or make an answer once, however many ask for it at the same time. Errors, and answers
 * that are good for one time, are given as made, to the one who asked.
 */
export function createCachedRows({ cache, clock, onLookup }: CachedRowsDeps): RowCache {
  const making = new Map<string, Promise<CachedResponse | undefined>>();
  return {
    async answer(request, make) {
      const key = keyOf(request);
      const running = making.get(key);
      // No pause without a reason: whoever asks in the same turn has to find what is begun here.
      const cached = cache.find(key) ?? (running && (await running));
      onLookup?.(cached !== undefined);
      if (cached) return respond(cached, request.headers, clock.now());
      const made = make();
      const stored = made.then(
        (response) => store(cache, key, response),
        () => undefined,
      );
      making.set(key, stored);
      try {
        const fresh = await stored;
        return fresh ? respond(fresh, request.headers, clock.now()) : (await made).response;
      } finally {
        if (making.get(key) === stored) making.delete(key);
      }
    },
  };
}

/** The same row with the same parameters in the same order; HEAD shares the answer of GET. */
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

function respond(cached: CachedResponse, asked: RestRequest['headers'], nowMs: number): RestResponse {
  const { bytes, etag, encoding, isKnown } = chooseBody(cached.bodies, asked);
  const ageSec = Math.max(0, Math.floor((nowMs - cached.createdAtMs) / 1_000));
  // Freshness counts from when the answer was made: what is left of it is added to the age.
  const leftSec = Math.max(0, Math.min(MAX_AGE_SEC, Math.floor((cached.untilMs - nowMs) / 1_000)));
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
