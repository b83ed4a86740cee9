import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shiftTimes } from '../../devnet/upstreams/times.ts';
import type { FailureReason } from '../../src/domain/facts.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import type { AdapterDeps } from '../../src/upstreams/http.ts';
import type { Batch } from '../../src/upstreams/types.ts';
import {
  BODY_MARK,
  type FakeProvider,
  type Fault,
  type Reply,
  type Routes,
  type SeenRequest,
  startFakeProvider,
} from './support/server.ts';
import { API_KEY, NOW_MS, plain, type TestDeps, testDeps } from './support/world.ts';

/** Expected result for an unusual answer. `same`: keys whose values must equal those of the good answer. */
export type Expectation =
  | { readonly same: readonly string[]; readonly failures?: Readonly<Record<string, FailureReason>> }
  /** The whole batch, nothing failed. */
  | { readonly values: Readonly<Record<string, unknown>> }
  /** The single value of a port without batches. */
  | { readonly value: unknown }
  | { readonly throws: FailureReason }
  /** An error of the provider, or valid values. */
  | { readonly each: (value: unknown, good: unknown) => void };

export interface Variant {
  readonly routes: Routes;
  readonly expect: Expectation;
}

/** One port of one provider: its creation, its call, and its answers. A new adapter is one of these plus fixtures. */
export interface AdapterCase extends CommonCase {
  readonly variants: Readonly<
    Record<'missingField' | 'empty' | 'partial' | 'duplicate' | 'nan' | 'negative' | 'absurd', Variant>
  >;
}

/** Common to fixtures and recordings. */
export interface CommonCase {
  readonly name: string;
  /** Name in errors. */
  readonly publicName: string;
  /** Whether the provider gets a key. */
  readonly keyed: boolean;
  /** Create the adapter and return the call of its port. */
  readonly create: (
    deps: AdapterDeps,
  ) => (signal?: AbortSignal) => Promise<Batch<unknown> | { readonly value: unknown }>;
  readonly routes: Routes;
  /** Number of attempts if status 503 means "overloaded". Otherwise it is a failure of the server. */
  readonly overloadTries?: number | undefined;
  /** The answer to every request is 404. */
  readonly absent: Expectation;
  /** Fields with the time of observation; `null` = none. */
  readonly dated: Dated | null;
  readonly variants: Readonly<Record<string, Variant>>;
  /** Expected result of the good answer; default: the snapshot. */
  readonly isGood?: (answer: unknown) => void;
  /** Time of the answers, ms; default: the time of the test world. */
  readonly nowMs?: number;
}

export interface Dated {
  /** The fields that hold those times; rows of numbers begin with theirs. */
  readonly fields: readonly string[];
  /** Result for a row or a time two years ahead; default: it is dropped, and the rest is used. */
  readonly future?: Expectation;
}

/** A port that returns a single value instead of a batch. */
export const one = async (value: Promise<unknown>): Promise<{ readonly value: unknown }> => ({ value: await value });

const FAULTS: readonly {
  readonly name: string;
  readonly fault: Fault;
  readonly reason: FailureReason;
  /** Attempts per URL. */
  readonly tries: number;
  readonly retryAfterSec?: number;
}[] = [
  { name: 'malformed JSON', fault: 'malformed', reason: 'malformed', tries: 1 },
  { name: 'HTML with status 200', fault: 'html', reason: 'malformed', tries: 1 },
  { name: 'an empty body', fault: 'empty-body', reason: 'malformed', tries: 1 },
  { name: 'a timeout', fault: 'hang', reason: 'timeout', tries: 1 },
  { name: 'a slow drip', fault: 'drip', reason: 'timeout', tries: 1 },
  { name: 'a reset in mid-body', fault: 'reset', reason: 'unreachable', tries: 3 },
  { name: '401', fault: { status: 401 }, reason: 'rejected', tries: 1 },
  { name: '403', fault: { status: 403 }, reason: 'rejected', tries: 1 },
  { name: '429 without Retry-After', fault: { status: 429 }, reason: 'rate_limited', tries: 1 },
  {
    name: '429 with a short Retry-After',
    fault: { status: 429, headers: { 'retry-after': '2' } },
    reason: 'rate_limited',
    tries: 3,
    retryAfterSec: 2,
  },
  {
    name: '429 with a long Retry-After',
    fault: { status: 429, headers: { 'retry-after': '120' } },
    reason: 'rate_limited',
    tries: 1,
    retryAfterSec: 120,
  },
  { name: '500', fault: { status: 500 }, reason: 'server_error', tries: 3 },
  { name: 'a redirect', fault: { status: 302, headers: { location: '/elsewhere' } }, reason: 'rejected', tries: 1 },
];

/** Timeouts are real time: short where one is provoked, long enough for a busy machine everywhere else. */
const PROVOKED_TIMEOUT_MS = 40;

export function describeAdapter(spec: CommonCase): void {
  describe(spec.name, () => {
    let provider: FakeProvider;
    let deps: TestDeps;
    beforeEach(async () => {
      provider = await startFakeProvider();
      provider.respond(spec.routes);
      deps = testDeps(provider.url, {}, spec.nowMs);
    });
    afterEach(async () => {
      await provider.close();
      expect(provider.unexpected).toEqual([]);
      const reported = inspect({ lines: deps.lines, calls: deps.calls }, { depth: 12 });
      expect(reported).not.toContain(API_KEY);
      expect(reported).not.toContain(BODY_MARK);
      expect(reported).not.toContain(provider.url);
    });

    const ask = (signal?: AbortSignal) => spec.create(deps)(signal);
    const goodValues = async () => valuesOf(await ask());

    it('default', async () => {
      const answer = await ask();
      if (spec.isGood) spec.isGood(answer);
      else expect(plain(answer)).toMatchSnapshot();
      expect(deps.calls.every(({ outcome }) => outcome === 'ok')).toBe(true);
      expect(deps.slept).toEqual([]);
    });

    it('behavior: sends the key', async () => {
      await ask();
      const sent = inspect(provider.requests, { depth: 5 }).includes(API_KEY);
      expect(sent).toBe(spec.keyed);
    });

    it.each(FAULTS)('error: UpstreamError on $name', async ({ fault, reason, tries, retryAfterSec }) => {
      provider.fault(fault);
      if (reason === 'timeout') deps = testDeps(provider.url, { timeoutMs: PROVOKED_TIMEOUT_MS }, spec.nowMs);
      const error = await failure(ask());
      expect(error).toMatchObject({
        code: 'upstream_unavailable',
        reason,
        provider: spec.publicName,
        retryAfterSec,
      });
      expect(error).not.toHaveProperty('cause');
      // Under load a provoked timeout may end before the request has arrived.
      if (reason === 'timeout') expect(mostPerUrl(provider)).toBeLessThanOrEqual(tries);
      else expect(mostPerUrl(provider)).toBe(tries);
      expect(deps.calls.every((call) => call.outcome === reason)).toBe(true);
      const shown = inspect(error, { depth: 10, showHidden: true });
      for (const secret of [API_KEY, BODY_MARK, provider.url]) expect(shown).not.toContain(secret);
    });

    it('error: UpstreamError on 503', async () => {
      provider.fault({ status: 503 });
      const reason = spec.overloadTries === undefined ? 'server_error' : 'overloaded';
      await expect(ask()).rejects.toMatchObject({ reason, provider: spec.publicName });
      expect(mostPerUrl(provider)).toBe(spec.overloadTries ?? 3);
    });

    it('behavior: retries one failure', async () => {
      const good = await goodValues();
      const observed = provider.requests.length;
      provider.fault({ status: 502 }, (_, index) => index === observed);
      expect(valuesOf(await ask())).toEqual(good);
      expect(deps.slept).toEqual([250]);
    });

    it('behavior: 404', async () => {
      provider.fault({ status: 404 });
      await check(ask, spec.absent, {});
      expect(mostPerUrl(provider)).toBe(1);
    });

    for (const [name, variant] of Object.entries(spec.variants)) {
      it(`behavior: ${name}`, async () => {
        const good = await goodValues();
        provider.respond(variant.routes);
        await check(ask, variant.expect, good);
      });
    }

    const { dated } = spec;
    if (dated !== null) {
      it('behavior: future: drops a row two years ahead and uses the others', async () => {
        const answer = await ask();
        const good = valuesOf(answer);
        provider.respond(changed(spec.routes, (body) => shiftTimes(body, 'future', dated.fields)));
        if (dated.future) await check(ask, dated.future, good);
        else expect(plain(await ask())).toEqual(plain(answer));
      });

      it('behavior: frozen: values from 40 days ago have that age', async () => {
        const newestMs = newestIn(await ask());
        provider.respond(changed(spec.routes, (body) => earlier(body, dated.fields)));
        const frozen = await ask();
        expect(newestIn(frozen)).toBe(newestMs - FROZEN_MS);
      });
    }

    it('behavior: an abort by the caller does not count as a failure of the provider', async () => {
      provider.fault('hang');
      const controller = new AbortController();
      const reason = new Error('the caller went away');
      const arrival = provider.arrival();
      const answer = ask(controller.signal);
      await arrival;
      controller.abort(reason);
      await expect(answer).rejects.toBe(reason);
      expect(deps.calls.every(({ outcome }) => outcome === 'aborted')).toBe(true);
      expect(deps.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    });

    it('behavior: sends nothing after an abort', async () => {
      const reason = new Error('too late');
      await expect(ask(AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(provider.requests).toEqual([]);
    });
  });
}

const FROZEN_MS = 40 * 86_400_000;

/** Answer with changed bodies. */
function changed(routes: Routes, change: (body: unknown) => unknown): Routes {
  return Object.fromEntries(
    Object.entries(routes).map(([key, answer]) => [
      key,
      typeof answer === 'function' ? (request: SeenRequest) => change((answer as Reply)(request)) : change(answer),
    ]),
  );
}

/** The same rows, each observed 40 days earlier. */
function earlier(body: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(body)) {
    const isRow = body.length > 1 && body.every((part) => typeof part === 'number');
    return isRow ? [before(body[0]), ...body.slice(1)] : body.map((item) => earlier(item, fields));
  }
  if (body === null || typeof body !== 'object') return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, fields.includes(key) ? before(value) : earlier(value, fields)]),
  );
}

function before(time: unknown): unknown {
  if (typeof time === 'number') return time - (time < 1e11 ? FROZEN_MS / 1_000 : FROZEN_MS);
  return typeof time === 'string' ? new Date(Date.parse(time) - FROZEN_MS).toISOString() : time;
}

/** The newest time in an answer, ms: a number that is a time of the last four months in seconds or milliseconds. */
function newestIn(answer: unknown): number {
  const numbers = JSON.stringify(plain(answer)).match(/(?<![\d.])\d{10}(\d{3})?(?![\d.])/g) ?? [];
  const times = numbers.map((text) => Number(text) * (text.length === 10 ? 1_000 : 1));
  return Math.max(...times.filter((atMs) => atMs <= NOW_MS && atMs > NOW_MS - 3 * FROZEN_MS));
}

type Good = Readonly<Record<string, unknown>>;

async function check(
  ask: () => Promise<Batch<unknown> | { readonly value: unknown }>,
  expected: Expectation,
  good: Good,
): Promise<void> {
  if ('throws' in expected) {
    expect(await failure(ask())).toMatchObject({ reason: expected.throws });
    return;
  }
  if ('each' in expected) {
    const answered = await ask().catch((thrown: unknown) => thrown);
    if (answered instanceof Error) expect(answered).toBeInstanceOf(UpstreamError);
    else for (const [key, value] of Object.entries(valuesOf(answered as never))) expected.each(value, good[key]);
    return;
  }
  const answer = await ask();
  if ('value' in expected) {
    expect(plain(answer)).toEqual({ value: expected.value });
    return;
  }
  if ('values' in expected) {
    expect(plain(answer)).toEqual({ values: expected.values, failures: {} });
    return;
  }
  expect(valuesOf(answer)).toEqual(Object.fromEntries(expected.same.map((key) => [key, good[key]])));
  expect('failures' in answer ? plain(answer.failures) : {}).toEqual(expected.failures ?? {});
}

function valuesOf(answer: Batch<unknown> | { readonly value: unknown }): Good {
  return plain('values' in answer ? answer.values : { it: answer.value }) as Good;
}

async function failure(answer: Promise<unknown>): Promise<unknown> {
  const thrown = await answer.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(UpstreamError);
  return thrown;
}

function mostPerUrl(provider: FakeProvider): number {
  const counts = new Map<string, number>();
  for (const { method, path, query, body } of provider.requests) {
    const key = JSON.stringify([method, path, query, body]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}
