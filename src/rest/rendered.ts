import type { CacheValidity } from '../shared/cache-validity.ts';
import { chooseCoding, namesTag } from './encoding.ts';
import type { Rendering, Renderings, Row, Variant } from './renderings.ts';
import type { RestRequest, RestResponse } from './types.ts';

export interface RenderedDeps {
  readonly renderings: Renderings;
  readonly now: () => number;
  /** Told of every look-up, for metrics. */
  readonly onLookup?: (hit: boolean) => void;
}

/** An answer that was just made, and how long it may be given again; without `validity` it is good for one time. */
export interface Made {
  readonly response: RestResponse;
  readonly validity: CacheValidity | undefined;
}

/** An answer from bytes. The same headers are the same object. */
export interface Hit {
  readonly row: Row;
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly variant: Variant;
}

export interface RenderedRows {
  /**
   * Answer a public GET or HEAD from bytes, or make the answer once, however many ask for it at the same time. Errors and
   * what does not hold are given as made, to the one who asked.
   */
  answer(request: RestRequest, row: Row, make: () => Promise<Made>): Promise<RestResponse>;
  /** Find the bytes for a target (path and query as received), when there are some that hold. */
  hit(target: string, headers: RestRequest['headers']): Hit | undefined;
}

/** What others may keep an answer for without asking, seconds, unless it changes sooner. */
const MAX_AGE_SEC = 5;

/** Answer public rows from bytes that are made once per version. */
export function createRenderedRows({ renderings, now, onLookup }: RenderedDeps): RenderedRows {
  const making = new Map<string, Promise<Rendering | undefined>>();
  const headersOf = headersPerSecond();

  const choose = (rendering: Rendering, asked: RestRequest['headers']): Hit => {
    const { variants, row } = rendering;
    const coding = chooseCoding(asked['accept-encoding'], (name) => variants[name] !== undefined);
    const variant = variants[coding] ?? variants.identity;
    const { full, notModified } = headersOf(rendering, variant, coding, now());
    return namesTag(asked['if-none-match'], variant.etag)
      ? { row, status: 304, headers: notModified, variant }
      : { row, status: 200, headers: full, variant };
  };
  const respond = (request: RestRequest, rendering: Rendering): RestResponse => {
    const { status, headers, variant } = choose(rendering, request.headers);
    return { status, headers, body: status === 304 ? EMPTY : variant.body };
  };

  return {
    hit(target, headers) {
      const rendering = renderings.find(target);
      if (!rendering) return undefined;
      onLookup?.(true);
      return choose(rendering, headers);
    },
    async answer(request, row, make) {
      const key = keyOf(request);
      const running = making.get(key);
      // No pause without a reason: whoever asks in the same turn has to find what is begun here.
      const shared = renderings.find(key) ?? (running && (await running));
      onLookup?.(shared !== undefined);
      if (shared) return respond(request, shared);
      const made = make();
      const kept = made.then(
        ({ response, validity }) => keepIfGood(renderings, key, row, response, validity),
        () => undefined,
      );
      making.set(key, kept);
      try {
        const rendering = await kept;
        return rendering ? respond(request, rendering) : (await made).response;
      } finally {
        if (making.get(key) === kept) making.delete(key);
      }
    },
  };
}

const EMPTY = Buffer.alloc(0);

/** The same row with the same parameters in the same order; HEAD shares the answer of GET. */
function keyOf({ path, query }: RestRequest): string {
  return query === '' ? path : `${path}?${query}`;
}

function keepIfGood(
  renderings: Renderings,
  key: string,
  row: Row,
  { status, headers, body }: RestResponse,
  validity: CacheValidity | undefined,
): Rendering | undefined {
  const contentType = headers['content-type'];
  if (status !== 200 || validity === undefined || contentType === undefined || typeof body !== 'string')
    return undefined;
  return renderings.keep(key, { row, contentType, body }, validity);
}

interface Shown {
  readonly second: number;
  readonly full: Readonly<Record<string, string>>;
  readonly notModified: Readonly<Record<string, string>>;
}

/** `Age` and `Cache-Control` change once a second, the rest never: a variant's headers are made once for each second. */
function headersPerSecond() {
  const shown = new WeakMap<Variant, Shown>();
  return (rendering: Rendering, variant: Variant, coding: string, nowMs: number): Shown => {
    const second = Math.floor(nowMs / 1_000);
    const known = shown.get(variant);
    if (known?.second === second) return known;
    const ageSec = Math.max(0, Math.floor((nowMs - rendering.madeAtMs) / 1_000));
    // Freshness counts from when the bytes were made: what is left of it is added to the age.
    const leftSec = Math.max(0, Math.min(MAX_AGE_SEC, Math.floor((rendering.untilMs - nowMs) / 1_000)));
    const notModified = {
      etag: variant.etag,
      'cache-control': `public, max-age=${ageSec + leftSec}`,
      age: String(ageSec),
      vary: 'accept-encoding, authorization',
    };
    const full = {
      'content-type': rendering.contentType,
      ...notModified,
      ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
      'content-length': variant.length,
    };
    const made = { second, full, notModified };
    shown.set(variant, made);
    return made;
  };
}
