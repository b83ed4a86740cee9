import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import { createCachedRows } from '../../src/http/cached-rows.ts';
import { compress } from '../../src/http/compression.ts';
import type { MadeResponse, RestRequest, RestResponse } from '../../src/rest/types.ts';
import type { CacheValidity } from '../../src/shared/cache-validity.ts';

const LONG = JSON.stringify({ text: 'abc '.repeat(2_000) });

function world({ maxBytes = 1_000_000 } = {}) {
  let nowMs = 1_000_000;
  let version = 1;
  let made = 0;
  const clock = { now: () => nowMs };
  const cache = createAnswerCache({ clock, compress, maxBytes });
  const rows = createCachedRows({ cache, clock });
  const validNow = (over: Partial<CacheValidity> = {}): CacheValidity => {
    const observed = version;
    return { untilMs: Number.POSITIVE_INFINITY, isCurrent: () => version === observed, ...over };
  };
  const request = (headers: RestRequest['headers'] = {}, query = '', path = '/v1/things'): RestRequest => ({
    method: 'GET',
    path,
    query,
    headers,
    body: async () => new Uint8Array(),
    correlationId: 'test-correlation',
    clientIp: '127.0.0.1',
  });
  const answer = (
    requested: RestRequest,
    options: { body?: string; validity?: CacheValidity | null; status?: number } = {},
  ) =>
    rows.answer(requested, async (): Promise<MadeResponse> => {
      made += 1;
      const { body = LONG, validity = validNow(), status = 200 } = options;
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      return { response: { status, headers, body }, validity: validity ?? undefined };
    });
  return {
    cache,
    rows,
    request,
    answer,
    validNow,
    pass: (ms: number) => {
      nowMs += ms;
    },
    publish: () => {
      version += 1;
    },
    get nowMs() {
      return nowMs;
    },
    get made() {
      return made;
    },
  };
}

const bodyOf = (response: RestResponse) => Buffer.from(response.body as string | Uint8Array);

describe('createCachedRows', () => {
  it('default: computes an answer once and then returns its bytes', async () => {
    const w = world();
    const first = await w.answer(w.request());
    const second = await w.answer(w.request());
    expect(w.made).toBe(1);
    expect(bodyOf(second).toString()).toBe(LONG);
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(second.headers.etag).toMatch(/^"[\w-]{27}"$/);
    expect(second.headers.vary).toBe('accept-encoding, authorization');
  });

  it('behavior: selects a ready encoding by weight, each with its own tag', async () => {
    const w = world();
    const plain = await w.answer(w.request({ 'accept-encoding': 'br' }));
    expect(plain.headers['content-encoding']).toBeUndefined();
    await w.cache.settled();
    expect((await w.answer(w.request({ 'accept-encoding': 'br' }))).headers['content-encoding']).toBeUndefined();
    await w.cache.settled();
    const br = await w.answer(w.request({ 'accept-encoding': 'gzip, deflate, br' }));
    const gz = await w.answer(w.request({ 'accept-encoding': 'gzip;q=1, br;q=0.5' }));
    const none = await w.answer(w.request({ 'accept-encoding': 'br;q=0, identity' }));
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(bodyOf(br)).toString()).toBe(LONG);
    expect(gz.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(bodyOf(gz)).toString()).toBe(LONG);
    expect(none.headers['content-encoding']).toBeUndefined();
    expect(new Set([plain, br, gz].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it('behavior: a known tag is answered with 304 and no body, an unknown one with the bytes', async () => {
    const w = world();
    const { headers } = await w.answer(w.request());
    const etag = headers.etag ?? '';
    for (const named of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const same = await w.answer(w.request({ 'if-none-match': named }));
      expect([same.status, same.body.length, same.headers.etag]).toEqual([304, 0, etag]);
      expect(same.headers['content-type']).toBeUndefined();
    }
    expect((await w.answer(w.request({ 'if-none-match': '"other"' }))).status).toBe(200);
  });

  it('behavior: the tag depends only on the content', async () => {
    const w = world();
    const before = await w.answer(w.request());
    w.publish();
    const same = await w.answer(w.request());
    w.publish();
    const other = await w.answer(w.request(), { body: `${LONG} ` });
    expect(w.made).toBe(3);
    expect(same.headers.etag).toBe(before.headers.etag);
    expect(other.headers.etag).not.toBe(before.headers.etag);
  });

  it('behavior: age and freshness are correct', async () => {
    const w = world();
    const validity = w.validNow({ untilMs: w.nowMs + 10_000 });
    await w.answer(w.request(), { validity });
    w.pass(4_000);
    const middle = await w.answer(w.request());
    expect([middle.headers.age, middle.headers['cache-control']]).toEqual(['4', 'public, max-age=9']);
    w.pass(3_500);
    const late = await w.answer(w.request());
    expect([late.headers.age, late.headers['cache-control']]).toEqual(['7', 'public, max-age=9']);
    w.pass(2_499);
    expect((await w.answer(w.request())).headers['cache-control']).toBe('public, max-age=9');
    expect(w.made).toBe(1);
    w.pass(1);
    expect((await w.answer(w.request())).headers.age).toBe('0');
    expect(w.made).toBe(2);
  });

  it('behavior: different parameters and paths give different answers', async () => {
    const w = world();
    await w.answer(w.request());
    await w.answer(w.request({}, 'a=1'));
    await w.answer(w.request({}, '', '/v1/other'));
    expect(w.made).toBe(3);
  });

  it('behavior: concurrent requests wait for one computation', async () => {
    const w = world();
    const all = await Promise.all(Array.from({ length: 20 }, () => w.answer(w.request())));
    expect(w.made).toBe(1);
    expect(new Set(all.map(({ headers }) => headers.etag)).size).toBe(1);
  });

  it('behavior: does not cache errors, live answers and answers that changed during their computation', async () => {
    const w = world();
    await w.answer(w.request(), { status: 503 });
    await w.answer(w.request(), { validity: null });
    const outdated = w.validNow();
    w.publish();
    await w.answer(w.request(), { validity: outdated });
    await w.answer(w.request(), { validity: w.validNow({ untilMs: w.nowMs }) });
    expect(w.cache.fill.bytes).toBe(0);
    expect(w.made).toBe(4);
  });

  it('behavior: a failure affects only its request', async () => {
    const w = world();
    await expect(
      w.rows.answer(w.request(), async () => {
        throw new Error('broken');
      }),
    ).rejects.toThrow('broken');
    expect((await w.answer(w.request())).status).toBe(200);
  });

  it('behavior: memory is bounded in bytes, encodings and keys included', async () => {
    const maxBytes = 400_000;
    const w = world({ maxBytes });
    for (let n = 0; n < 50; n += 1) {
      for (let round = 0; round < 2; round += 1) await w.answer(w.request({}, `n=${n}`));
      await w.cache.settled();
    }
    expect(w.cache.fill.bytes).toBeGreaterThan(maxBytes / 2);
    expect(w.cache.fill.bytes).toBeLessThanOrEqual(maxBytes);
    await w.answer(w.request({}, 'huge'), { body: 'x'.repeat(maxBytes + 1) });
    expect(w.cache.fill.bytes).toBeLessThanOrEqual(maxBytes);
  });

  it('behavior: answers without a second request use at most an eighth, and displace no repeated ones', async () => {
    const maxBytes = 400_000;
    const w = world({ maxBytes });
    for (let round = 0; round < 2; round += 1) await w.answer(w.request({}, 'popular'));
    await w.cache.settled();
    const before = w.cache.fill.bytes;
    for (let n = 0; n < 200; n += 1) await w.answer(w.request({}, `n=${n}`));
    await w.cache.settled();
    expect(w.cache.fill.bytes - before).toBeLessThanOrEqual(maxBytes / 8);
    const { made } = w;
    await w.answer(w.request({}, 'popular'));
    expect(w.made).toBe(made);
  });

  it('behavior: every encoding uses its own memory, as counted', async () => {
    const w = world();
    for (let round = 0; round < 2; round += 1) await w.answer(w.request(), { body: 'abc '.repeat(500) });
    await w.cache.settled();
    const { bodies } = w.cache.find('/v1/things') ?? {};
    expect(Object.keys(bodies ?? {}).sort()).toEqual(['br', 'gzip', 'identity']);
    const parts = Object.values(bodies ?? {}).map(({ bytes }) => bytes);
    for (const bytes of parts) expect(bytes.buffer.byteLength).toBe(bytes.length);
    expect(w.cache.fill.bytes).toBeGreaterThan(parts.reduce((sum, { length }) => sum + length, 0));
  });

  it('behavior: cached answers use at most the counted memory', async () => {
    const w = world({ maxBytes: 100_000_000 });
    const fill = async (from: number, count: number) => {
      for (let n = from; n < from + count; n += 1) {
        const body = JSON.stringify({ n, text: `${Math.sin(n)} `.repeat(n % 200) });
        for (let round = 0; round < 2; round += 1) {
          await w.answer(w.request({ 'accept-encoding': 'br' }, `n=${n}`), { body });
          await w.cache.settled();
        }
      }
    };
    await fill(0, 200);
    const [before, bytesBefore] = [await memory(), w.cache.fill.bytes];
    await fill(200, 400);
    expect((await memory()) - before).toBeLessThanOrEqual(w.cache.fill.bytes - bytesBefore);
  });

  it('behavior: returns a part of an answer as stored, with its cost and uncompressed', async () => {
    const { cache, validNow } = world();
    const part = { contentType: 'application/json', body: `{"data":${LONG}`, isWhole: false, cost: { cost: 7 } };
    cache.store('part', part, validNow());
    for (let round = 0; round < 2; round += 1) cache.find('part');
    await cache.settled();
    const found = cache.find('part');
    expect(found?.bodies.identity.bytes.toString()).toBe(part.body);
    expect(Object.keys(found?.bodies ?? {})).toEqual(['identity']);
    expect(found?.cost).toEqual({ cost: 7 });
  });
});

/** Memory after collections, buffers included: the memory of a buffer is freed by the collection after its own. */
async function memory(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 4; round += 1) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
