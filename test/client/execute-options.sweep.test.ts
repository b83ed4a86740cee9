import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createClient,
  type Eip1193Provider,
  type ExecuteOptions,
  execute,
  InputError,
  type Plan,
  verifyWebhook,
} from '../../packages/client/src/index.ts';
import { runAfter, wait } from '../../packages/client/src/wait.ts';
import { failureOf } from '../support/execution.ts';

const LONGEST_MS = 2_147_483_647;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function deferredAnswer() {
  let settle: (answer: Response) => void = () => {};
  const promise = new Promise<Response>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

test.each([{ toleranceSec: Number.NaN }, { toleranceSec: -1 }, { nowMs: Number.NaN }])(
  'error: a time of verifyWebhook that would find no webhook too old: %o',
  async (times) => {
    const signature = `t=1,v1=${createHmac('sha256', 'secret').update('1.{}').digest('hex')}`;
    const input = { body: '{}', signature, secret: 'secret' };
    await expect(verifyWebhook(input)).rejects.toMatchObject({ code: 'too_old' });
    await expect(verifyWebhook({ ...input, ...times })).rejects.toBeInstanceOf(InputError);
  },
);

describe('error: an option of execute that is not allowed is refused before the wallet is asked', () => {
  const asked: string[] = [];
  const wallet: Eip1193Provider = {
    async request({ method }) {
      asked.push(method);
      throw new Error('asked');
    },
  };
  test.each([
    ['confirmations', 1.5],
    ['confirmations', Number.NaN],
    ['confirmations', Number.POSITIVE_INFINITY],
    ['confirmations', -1],
    ['confirmations', '2'],
    ['receiptTimeoutMs', Number.NaN],
    ['receiptTimeoutMs', -1],
    ['receiptTimeoutMs', '600000'],
    ['pollMs', Number.NaN],
    ['pollMs', Number.POSITIVE_INFINITY],
    ['pollMs', -1],
    ['minValidityMs', Number.NaN],
    ['minValidityMs', Number.POSITIVE_INFINITY],
    ['maxWorsePct', Number.NaN],
    ['maxWorsePct', -0.1],
    ['maxWorsePct', '0.1'],
    ['now', () => Number.NaN],
    ['now', 1_000],
    ['wait', 1_000],
    ['mode', 'batches'],
    ['account', '0x1'],
    ['reader', {}],
    ['reader', null],
    ['proof', 'NONE'],
    ['proof', null],
    ['signal', {}],
    ['rebuild', true],
    ['acceptWorse', true],
    ['check', true],
    ['onProgress', {}],
  ])('%s %o', async (name, value) => {
    const error = await failureOf(execute({} as Plan, wallet, { [name]: value } as ExecuteOptions));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toMatch(new RegExp(`^${name} is .*\\. Give `));
    expect(asked).toEqual([]);
  });

  test('options that are none', async () => {
    expect(await failureOf(execute({} as Plan, wallet, null as unknown as ExecuteOptions))).toBeInstanceOf(InputError);
  });
});

test('behavior: no limit, and one longer than a timer, are allowed', async () => {
  const wallet: Eip1193Provider = { request: () => Promise.reject(new Error('asked')) };
  for (const receiptTimeoutMs of [Number.POSITIVE_INFINITY, 3_000_000_000, 0]) {
    const more = { receiptTimeoutMs, maxWorsePct: Number.POSITIVE_INFINITY, confirmations: 0, pollMs: 0 };
    expect(await failureOf(execute({} as Plan, wallet, more))).toMatchObject({ code: 'invalid_plan' });
  }
});

/** Only the timers of the client stand still: others of the process, such as those of the runner, are none of its own. */
function useFakeTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return { started: vi.spyOn(globalThis, 'setTimeout'), cancelled: vi.spyOn(globalThis, 'clearTimeout') };
}

describe('a time that is longer than a timer can be', () => {
  test.each([LONGEST_MS, LONGEST_MS + 1, 2 * LONGEST_MS + 7])('%i ms end after that time', async (ms) => {
    useFakeTimers();
    const done = vi.fn();
    const waiting = wait(ms).then(done);
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
  });

  test('Infinity ends with the signal only, and leaves no timer', async () => {
    const { started, cancelled } = useFakeTimers();
    const abort = new AbortController();
    const waiting = failureOf(wait(Number.POSITIVE_INFINITY, abort.signal));
    await vi.advanceTimersByTimeAsync(3 * LONGEST_MS);
    const reason = new Error('left');
    const newest = started.mock.results.findLast((_, index) => started.mock.calls[index]?.[1] === LONGEST_MS);
    abort.abort(reason);
    expect(await waiting).toBe(reason);
    expect(cancelled).toHaveBeenCalledWith(newest?.value);
  });

  test('a timer that is cancelled after its first piece does not run', async () => {
    useFakeTimers();
    const run = vi.fn();
    const cancel = runAfter(3 * LONGEST_MS, run);
    await vi.advanceTimersByTimeAsync(LONGEST_MS + 1);
    cancel();
    await vi.advanceTimersByTimeAsync(3 * LONGEST_MS);
    expect(run).not.toHaveBeenCalled();
  });
});

describe('options of a client', () => {
  const baseUrl = 'http://service.test';

  test('behavior: timeoutMs without a limit does not end a request', async () => {
    useFakeTimers();
    const { promise, settle } = deferredAnswer();
    const client = createClient({
      baseUrl,
      timeoutMs: Number.POSITIVE_INFINITY,
      retries: 0,
      fetch: () => promise,
    });
    const failed = failureOf(client.prices());
    await vi.advanceTimersByTimeAsync(1_000);
    settle(new Response('{}', { status: 503, headers: { 'content-type': 'application/json' } }));
    expect(await failed).toMatchObject({ status: 503 });
  });

  test.each([
    ['timeoutMs', Number.NaN],
    ['timeoutMs', -1],
    ['retries', Number.NaN],
    ['retries', 0.5],
    ['maxRetryWaitMs', Number.NaN],
    ['maxAnswerBytes', Number.NaN],
    ['fetch', 'fetch'],
    ['wait', 5],
  ])('error: %s %o', (name, value) => {
    expect(() => createClient({ baseUrl, [name]: value })).toThrow(InputError);
  });

  test('error: timeoutMs of a call, and limits of a stream', async () => {
    const client = createClient({ baseUrl, fetch: () => Promise.reject(new Error('asked')) });
    expect(await failureOf(client.prices(undefined, { timeoutMs: Number.NaN }))).toBeInstanceOf(InputError);
    for (const wrong of [{ silenceMs: Number.NaN }, { maxFailures: Number.NaN }, { maxFailures: -1 }]) {
      expect(await failureOf(client.live.freshness({}, wrong).next())).toBeInstanceOf(InputError);
    }
  });

  test('behavior: silenceMs without a limit does not end a stream', async () => {
    useFakeTimers();
    const { promise, settle } = deferredAnswer();
    const client = createClient({ baseUrl, fetch: () => promise });
    const more = { silenceMs: Number.POSITIVE_INFINITY, maxFailures: 0 };
    const failed = failureOf(client.live.freshness({}, more).next());
    await vi.advanceTimersByTimeAsync(1_000);
    settle(new Response('{}', { status: 400, headers: { 'content-type': 'application/json' } }));
    expect(await failed).toMatchObject({ status: 400 });
  });
});
