import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createByteBudget } from '../../src/shared/calls/byte-budget.ts';
import type { ProviderConfig } from '../../src/upstreams/config.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import { readRetryAfter } from '../../src/upstreams/exchange.ts';
import { ABSENT, createHttp, type Documented } from '../../src/upstreams/http.ts';
import { providerCode } from '../../src/upstreams/provider-code.ts';
import { createProviderStates } from '../../src/upstreams/provider-states.ts';
import { BODY_MARK, type FakeProvider, startFakeProvider } from './support/server.ts';
import { API_KEY, NOW_MS, type TestDeps, testDeps } from './support/world.ts';

let provider: FakeProvider;
let deps: TestDeps;
beforeEach(async () => {
  provider = await startFakeProvider();
  provider.respond({
    'GET /things/a b': { fine: true },
    'POST /things': { created: false },
  });
  deps = testDeps(provider.url);
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});

function make(config: Partial<ProviderConfig> = {}, base: TestDeps = deps) {
  return createHttp({
    ...base,
    config: { ...base.config, ...config },
    provider: 'test',
    publicName: 'tester',
    secrets: { headers: { 'x-secret': API_KEY }, query: { secret_key: API_KEY } },
  });
}
const get = { path: '/things/:name', params: { name: 'a b' } };

describe('createHttp', () => {
  it('default', async () => {
    expect(await make().request({ ...get, query: { deep: 'yes & no' } })).toEqual({ fine: true });
    expect(provider.requests[0]).toMatchObject({
      method: 'GET',
      path: '/things/a b',
      query: { deep: 'yes & no', secret_key: API_KEY },
      headers: { 'x-secret': API_KEY, accept: 'application/json' },
    });
    expect(deps.calls).toEqual([{ provider: 'test', outcome: 'ok', ms: 0 }]);
    expect(deps.lines).toEqual([
      {
        level: 'debug',
        msg: 'upstream call',
        fields: { provider: 'test', path: '/things/:name', outcome: 'ok', ms: 0, status: 200 },
      },
    ]);
  });

  it('behavior: POST sends JSON', async () => {
    expect(await make().request({ path: '/things', post: { a: 1 } })).toEqual({ created: false });
    expect(provider.requests[0]).toMatchObject({ method: 'POST', body: { a: 1 } });
  });

  it('behavior: a documented code that means absence is not an error, with any status; another one is', async () => {
    const documented: Documented = ({ body }) => (providerCode(body) === 17 ? ABSENT : undefined);
    for (const status of [404, 200]) {
      provider.fault({ status, body: { code: 17 } });
      expect(await make().request({ ...get, documented })).toBe(ABSENT);
    }
    provider.fault({ status: 404, body: { code: 18 } });
    await expect(make().request({ ...get, documented })).rejects.toMatchObject({ reason: 'rejected' });
    expect(deps.calls.map(({ outcome }) => outcome)).toEqual(['absent', 'absent', 'rejected']);
  });

  it('behavior: names what fails with its status and code until that is answered, not another part', async () => {
    const states = createProviderStates(deps.clock);
    const http = make({}, { ...deps, states });
    const one = { ...get, scope: 'one' };
    provider.fault({ status: 404, body: { code: 4004, message: BODY_MARK } });
    await http.request(one).catch(() => {});
    provider.fault(null);
    const sinceMs = deps.clock.now();
    deps.clock.advance(1_000);
    await http.request({ ...get, scope: 'two' });
    const failure = { subject: '/things/:name (one)', reason: 'rejected', httpStatus: 404, code: 4004, sinceMs };
    expect(states.list()).toMatchObject([{ status: 'failing', reason: 'rejected', failures: [failure] }]);
    await http.request(one);
    expect(states.list()).toMatchObject([{ status: 'ok', failures: undefined }]);
  });

  it.each([
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '3' }, 3],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW_MS / 1_000 + 4) }, 4],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2' }, 2],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW_MS + 3_000) }, 3],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '-1', 'x-ratelimit-reset': '2' }, 2],
  ])('behavior: reads the limit in %j as a Retry-After, and sends nothing before it is over', async (headers, sec) => {
    provider.fault({ status: 429, headers }, (_, index) => index === 0);
    expect(await make().request(get)).toEqual({ fine: true });
    expect(deps.slept).toEqual([sec * 1_000]);
  });

  it('behavior: the last request that a provider permits holds back the next ones', async () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '3' };
    const http = make();
    provider.fault({ status: 200, headers, body: { fine: true } }, (_, index) => index === 0);
    await http.request(get);
    expect(deps.slept).toEqual([]);
    await http.request(get);
    expect(deps.slept).toEqual([3_000]);
  });

  it.each(['4102444800', '999999999'])(
    'behavior: a reset at %s holds requests back for 300 s at most',
    async (reset) => {
      const http = make();
      const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
      provider.fault({ status: 200, headers, body: { fine: true } }, (_, index) => index === 0);
      await http.request(get);
      await expect(http.request(get)).rejects.toMatchObject({ reason: 'throttled', retryAfterSec: 300 });
      deps.clock.advance(300_000);
      expect(await http.request(get)).toEqual({ fine: true });
    },
  );

  it.each([
    ['1.5', 2],
    ['-5', undefined],
    ['120, 60', undefined],
    ['Infinity', undefined],
    ['', undefined],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
  ])('behavior: reads Retry-After %j as %s s', (header, sec) => {
    expect(readRetryAfter(header, NOW_MS)).toBe(sec);
  });

  it('behavior: waits for a short Retry-After', async () => {
    provider.fault({ status: 503, headers: { 'retry-after': '3' } }, (_, index) => index === 0);
    expect(await make().request(get)).toEqual({ fine: true });
    expect(deps.slept).toEqual([3_000]);
  });

  it('behavior: the backoff grows and is jittered', async () => {
    provider.fault({ status: 500 });
    const random = () => 0;
    await expect(make({}, { ...deps, random }).request(get)).rejects.toMatchObject({ reason: 'server_error' });
    expect(deps.slept).toEqual([125, 250]);
  });

  it('behavior: an abort ends the wait between tries', async () => {
    provider.fault({ status: 500 });
    const controller = new AbortController();
    const reason = new Error('gone');
    const sleep = async (_ms: number, signal?: AbortSignal) => {
      controller.abort(reason);
      signal?.throwIfAborted();
    };
    await expect(make({}, { ...deps, sleep }).request({ ...get, signal: controller.signal })).rejects.toBe(reason);
    expect(provider.requests).toHaveLength(1);
  });

  it.each([
    [undefined, 1],
    [4, 4],
  ])('error: UpstreamError `malformed` for a body above its limit of %s MB', async (given, maxMb) => {
    const maxBytes = given === undefined ? undefined : given * 1_048_576;
    const answers = async (bytes: number) => {
      const fetch: typeof globalThis.fetch = async () => Response.json('z'.repeat(bytes - 2));
      return make({}, { ...deps, fetch }).request({ ...get, maxBytes });
    };
    expect(await answers(maxMb * 1_048_576)).toHaveLength(maxMb * 1_048_576 - 2);
    await expect(answers(maxMb * 1_048_576 + 1)).rejects.toMatchObject({ reason: 'malformed' });
  });

  it('error: UpstreamError `throttled` when all answers together exceed the memory for them', async () => {
    const answerBytes = createByteBudget(100);
    const http = make({}, { ...deps, answerBytes });
    expect(answerBytes.take(99)).toBe(true);
    await expect(http.request(get)).rejects.toMatchObject({ reason: 'throttled' });
    answerBytes.give(99);
    expect(await http.request(get)).toEqual({ fine: true });
    expect(answerBytes.used).toBe(0);
  });

  it('behavior: records the latest answer, the beginning and reason of failures, and our own budget apart', async () => {
    const states = createProviderStates(deps.clock);
    const http = make({ rules: { limits: { minute: 2 } } }, { ...deps, states });
    const state = () => {
      const [{ provider: _provider, isWaitedFor: _isWaitedFor, part: _part, ...rest } = {}] = states.list();
      return JSON.parse(JSON.stringify(rest));
    };
    expect(state()).toEqual({ status: 'unknown' });
    const beganMs = deps.clock.now();
    await http.request(get);
    expect(state()).toEqual({ status: 'ok', lastAnswerMs: beganMs });
    deps.clock.advance(60_000);
    for (const status of [401, 403]) {
      provider.fault({ status });
      await http.request(get).catch(() => {});
      deps.clock.advance(60_000);
    }
    const failingSinceMs = beganMs + 60_000;
    expect(state()).toMatchObject({ status: 'failing', lastAnswerMs: beganMs, failingSinceMs, reason: 'rejected' });
    // No request was made since.
    deps.clock.advance(3_600_000);
    expect(state()).toMatchObject({ status: 'unknown', failingSinceMs });
    provider.fault(null);
    const lastAnswerMs = deps.clock.now();
    await http.request(get);
    await http.request(get).catch(() => {});
    const { throttledUntilMs, ...held } = state();
    expect(held).toEqual({ status: 'throttled', lastAnswerMs });
    expect(throttledUntilMs).toBe(lastAnswerMs + 60_000);
    deps.clock.advance(60_000);
    expect(state().status).toBe('ok');
    expect(() => http.parse(z.object({ other: z.string() }), { fine: true })).toThrow(UpstreamError);
    await http.request(get);
    // It answers, in a form that cannot be used.
    expect(state()).toMatchObject({ status: 'failing', reason: 'malformed', failingSinceMs: deps.clock.now() });
    http.parse(z.object({ fine: z.boolean() }), { fine: true });
    expect(state()).toEqual({ status: 'ok', lastAnswerMs: deps.clock.now() });
  });

  it('error: UpstreamError `unreachable` without a server', async () => {
    await provider.close();
    await expect(make().request(get)).rejects.toMatchObject({ reason: 'unreachable' });
    expect(deps.lines[0]?.fields).toMatchObject({ outcome: 'unreachable', errno: 'ECONNREFUSED' });
    provider = await startFakeProvider();
  });

  it('error: UpstreamError `throttled` without a request when our budget is used up', async () => {
    const http = make({ rules: { limits: { minute: 2 } } });
    await http.request(get);
    await expect(http.request(get)).rejects.toMatchObject({ reason: 'throttled', retryAfterSec: 60 });
    expect(provider.requests).toHaveLength(1);
    deps.clock.advance(60_000);
    expect(await http.request(get)).toEqual({ fine: true });
  });

  it('error: UpstreamError with the reason of the provider when our budget permits no further try', async () => {
    provider.fault({ status: 500 });
    const states = createProviderStates(deps.clock);
    const http = make({ rules: { limits: { minute: 2 } } }, { ...deps, states });
    await expect(http.request(get)).rejects.toMatchObject({ reason: 'server_error' });
    expect(provider.requests).toHaveLength(1);
    expect(states.list()).toMatchObject([{ status: 'failing', reason: 'server_error' }]);
  });

  it('behavior: logs each change once', async () => {
    const http = make();
    for (const status of [401, 401, 500, null, null, 401]) {
      provider.fault(status === null ? null : { status });
      await http.request(get).catch(() => {});
    }
    for (const dropped of [0, 2, 2, 0, 2]) http.reportDropped('rows', dropped);
    const reported = deps.lines.filter(({ level }) => level !== 'debug').map(({ level, msg }) => `${level} ${msg}`);
    expect(reported).toEqual([
      'warn upstream failing',
      'warn upstream failing',
      'info upstream recovered',
      'warn upstream failing',
      'warn upstream rows dropped',
      'warn upstream rows dropped',
    ]);
  });

  it('behavior: many requests may share one signal', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    const http = make();
    await Promise.all(Array.from({ length: 20 }, () => http.request({ ...get, signal })));
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('behavior: parse errors contain no text of the answer', () => {
    const http = make();
    const schema = z.object({ kind: z.enum(['a']) });
    expect(() => http.parse(schema, { kind: BODY_MARK })).toThrow(
      expect.objectContaining({ reason: 'malformed', provider: 'tester' }),
    );
    expect(JSON.stringify(deps.lines)).not.toContain(BODY_MARK);
  });
});

describe('breaker', () => {
  const breaker = { failures: 2, coolDownMs: 10_000 };
  const failTwice = async (http: ReturnType<typeof make>) => {
    for (let i = 0; i < 2; i += 1) await http.request(get).catch(() => {});
  };

  it('default', async () => {
    provider.fault('empty-body');
    provider.fault({ status: 500 });
    const http = make({ breaker });
    await failTwice(http);
    const observed = provider.requests.length;
    await expect(http.request(get)).rejects.toMatchObject({ reason: 'server_error', retryAfterSec: 10 });
    expect(provider.requests).toHaveLength(observed);

    provider.fault(null);
    deps.clock.advance(10_000);
    expect(await http.request(get)).toEqual({ fine: true });
    expect(await http.request(get)).toEqual({ fine: true });
    expect(deps.lines.filter(({ level }) => level !== 'debug').map(({ msg }) => msg)).toEqual([
      'upstream failing',
      'upstream resting',
      'upstream recovered',
    ]);
  });

  it('behavior: a failed trial opens it again, and waiting calls are not sent', async () => {
    provider.fault({ status: 500 });
    const http = make({ breaker });
    await failTwice(http);
    deps.clock.advance(10_000);
    const found = provider.requests.length;
    const results = await Promise.allSettled([http.request(get), http.request(get), http.request(get)]);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(provider.requests.length - found).toBe(3);
  });

  it.each([401, 429, 404])('behavior: %s does not open it', async (status) => {
    provider.fault({ status });
    const http = make({ breaker });
    for (let i = 0; i < 5; i += 1) await http.request(get).catch(() => {});
    expect(provider.requests).toHaveLength(5);
  });

  it('behavior: aborts do not open it', async () => {
    provider.fault('hang');
    const http = make({ breaker });
    for (let i = 0; i < 4; i += 1) {
      const controller = new AbortController();
      const arrival = provider.arrival();
      const answer = http.request({ ...get, signal: controller.signal });
      await arrival;
      controller.abort();
      await answer.catch(() => {});
    }
    provider.fault(null);
    expect(await http.request(get)).toEqual({ fine: true });
  });
});

describe('readRetryAfter', () => {
  it.each([
    ['120', 120],
    ['0', 0],
    [new Date(NOW_MS + 30_500).toUTCString(), 30],
    [new Date(NOW_MS - 5_000).toUTCString(), 0],
    ['soon', undefined],
    [null, undefined],
  ])('behavior: %j', (header, seconds) => {
    expect(readRetryAfter(header, NOW_MS)).toBe(seconds);
  });
});
