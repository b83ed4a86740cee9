import { describe, expect, test } from 'vitest';
import { waitForReceipt } from '../../packages/client/src/execute/receipts.ts';
import { createRpc } from '../../packages/client/src/execute/wallet.ts';
import {
  ClientError,
  type ClientOptions,
  ConflictError,
  ConnectionError,
  createClient,
  InputError,
  InternalServiceError,
  InvalidAnswerError,
  InvalidPlanError,
  InvalidRequestError,
  LiquidityError,
  NotFoundError,
  planOfGraphql,
  RateLimitedError,
  ServiceError,
  SimulationError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
} from '../../packages/client/src/index.ts';
import { ERROR_CODES } from '../../src/shared/errors.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const PRICES = { asOf: '2026-01-01T00:00:00.000Z', stale: false, prices: {} };
const ok = (body: unknown = PRICES, headers = {}) =>
  new Response(JSON.stringify(body), { headers: { ...JSON_TYPE, ...headers } });
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ error: { code, message: 'why', correlationId: 'c-1', details: { field: 'x' } } }), {
    status,
    headers: { ...JSON_TYPE, ...headers },
  });

type Answering = (url: string, init: RequestInit) => Response | Promise<Response>;

/** A client whose transport gives these answers in turn, the last one again and again. */
function clientOf(answers: readonly Answering[], options: Partial<ClientOptions> = {}) {
  const sent: { url: string; init: RequestInit }[] = [];
  const waits: number[] = [];
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async (url, init) => {
      sent.push({ url, init });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer === undefined) throw new Error('no answer');
      return answer(url, init);
    },
    wait: async (ms) => {
      waits.push(ms);
    },
    ...options,
  });
  return { client, sent, waits };
}

/** The error of a call that has to fail. */
async function failureOf(call: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ClientError)) throw new Error(`not refused with an error of the client: ${String(error)}`);
  return error;
}

const once = { retries: 0 };
const PRICE_FIELDS = ['asOf', 'stale', 'prices'];

describe('answers of another service', () => {
  const html = () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
  const text = (body: string, status = 200) => new Response(body, { status, headers: JSON_TYPE });
  const redirect = () => new Response(null, { status: 302, headers: { location: 'https://elsewhere.test/' } });
  const many = () => ok({ ...PRICES, more: 'x'.repeat(10_000_000) });
  const endless = () =>
    new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1_000_000)) }), { headers: JSON_TYPE });

  test.each<[string, () => Response, InvalidAnswerError['reason']]>([
    ['a page', html, 'content_type'],
    ['JSON that is cut off', () => text('{"asOf":'), 'not_json'],
    ['nothing', () => text(''), 'not_json'],
    ['a list in place of a record', () => text('[]'), 'shape'],
    ['null', () => text('null'), 'shape'],
    ['deep brackets', () => text('['.repeat(100_000)), 'not_json'],
    ['a record without its fields', () => ok({ stale: true }), 'shape'],
    ['10 MB', many, 'too_large'],
    ['an answer without an end', endless, 'too_large'],
    ['a redirect', redirect, 'redirect'],
    ['a status of its own', () => text('{}', 418), 'status'],
    ['an error without a code', () => text('{"error":{"message":"x"}}', 500), 'status'],
    ['304 that was not asked for', () => new Response(null, { status: 304 }), 'status'],
    ['no content', () => new Response(null, { status: 204 }), 'content_type'],
  ])('error: InvalidAnswerError for %s', async (_, answer, reason) => {
    const error = await failureOf(clientOf([answer], once).client.prices());
    expect(error).toBeInstanceOf(InvalidAnswerError);
    expect(error).toMatchObject({ code: 'invalid_answer', reason });
  });

  test('behavior: reports which fields are missing', async () => {
    const error = await failureOf(clientOf([() => ok({})], once).client.prices());
    for (const field of PRICE_FIELDS) expect(error.message).toContain(field);
  });

  test('error: ConnectionError for a refused connection, and for an answer that breaks off', async () => {
    const refused = () => Promise.reject(new TypeError('fetch failed'));
    const broken = () =>
      new Response(new ReadableStream({ pull: (to) => to.error(new Error('reset')) }), { headers: JSON_TYPE });
    for (const answer of [refused, broken]) {
      expect(await failureOf(clientOf([answer], once).client.prices())).toBeInstanceOf(ConnectionError);
    }
  });

  test('error: TimeoutError when the answer, or its end, does not come', async () => {
    const never: Answering = (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const halfway: Answering = (_, { signal }) =>
      new Response(
        new ReadableStream({ start: (to) => signal?.addEventListener('abort', () => to.error(new Error('aborted'))) }),
        { headers: JSON_TYPE },
      );
    for (const answer of [never, halfway]) {
      const error = await failureOf(clientOf([answer], { ...once, timeoutMs: 5 }).client.prices());
      expect(error).toBeInstanceOf(TimeoutError);
      expect(error).toMatchObject({ timeoutMs: 5, retryable: true });
    }
  });

  test('behavior: an aborted call rejects with the reason of its signal', async () => {
    const reason = new Error('closed by the user');
    const abort = new AbortController();
    const stopping: Answering = async () => {
      abort.abort(reason);
      throw new TypeError('fetch failed');
    };
    const { client, sent } = clientOf([stopping]);
    await expect(client.prices({}, { signal: abort.signal })).rejects.toBe(reason);
    await expect(client.prices({}, { signal: abort.signal })).rejects.toBe(reason);
    expect(sent).toHaveLength(1);
  });
});

describe('errors of the service', () => {
  const CLASSES = [
    InvalidRequestError,
    UnauthorizedError,
    NotFoundError,
    ConflictError,
    RateLimitedError,
    UnavailableError,
    LiquidityError,
    SimulationError,
    InternalServiceError,
  ];

  test.each(Object.entries(ERROR_CODES))('default: %s has a class of its family', async (code, { status }) => {
    const error = await failureOf(clientOf([() => refusal(status, code)], once).client.prices());
    expect(CLASSES.filter((family) => error instanceof family)).toHaveLength(1);
    expect(error).toMatchObject({ code, status, requestId: 'c-1', details: { field: 'x' }, message: 'why' });
  });

  test('behavior: a code of a later version has the class of its status', async () => {
    for (const [status, family] of [
      [400, InvalidRequestError],
      [404, NotFoundError],
      [429, RateLimitedError],
      [500, InternalServiceError],
      [503, UnavailableError],
    ] as const) {
      const error = await failureOf(clientOf([() => refusal(status, 'constructor')], once).client.prices());
      expect(error).toBeInstanceOf(family);
    }
  });

  test.each([
    ['7', 7],
    ['0', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1e9', undefined],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('behavior: Retry-After "%s" is %s seconds', async (text, retryAfter) => {
    const { client } = clientOf([() => refusal(429, 'rate_limited', { 'retry-after': text })], once);
    const error = await failureOf(client.prices());
    expect(error instanceof ServiceError && error.retryAfter).toBe(retryAfter);
  });
});

describe('retries', () => {
  const busy = (seconds?: number) => () =>
    refusal(503, 'not_ready', seconds === undefined ? {} : { 'retry-after': String(seconds) });
  const OPEN = { strategyId: '0x', payToken: '0x', amount: '1', leverage: 2 } as const;

  test('default: a read is repeated after Retry-After', async () => {
    const { client, sent, waits } = clientOf([busy(3), busy(4), () => ok()]);
    await expect(client.prices()).resolves.toEqual(PRICES);
    expect([sent.length, waits]).toEqual([3, [3_000, 4_000]]);
  });

  test('behavior: pauses grow without Retry-After, and the attempts end', async () => {
    const { client, sent, waits } = clientOf([busy()], { retries: 3 });
    expect(await failureOf(client.prices())).toBeInstanceOf(UnavailableError);
    expect(sent).toHaveLength(4);
    for (const [i, ms] of waits.entries()) expect(ms).toBeLessThanOrEqual(250 * 2 ** i);
  });

  test('behavior: a longer Retry-After than accepted fails at once', async () => {
    const { client, sent, waits } = clientOf([busy(11)]);
    expect(await failureOf(client.prices())).toMatchObject({ retryAfter: 11 });
    expect([sent.length, waits]).toEqual([1, []]);
  });

  test('behavior: a build is never repeated, a simulation is', async () => {
    const { client, sent } = clientOf([busy()]);
    await failureOf(client.leverageBuild({ ...OPEN, userAddress: '0x' }));
    expect(sent).toHaveLength(1);
    await failureOf(client.leverageSimulate(OPEN));
    expect(sent).toHaveLength(4);
  });

  test.each([
    () => refusal(400, 'bad_request'),
    () => refusal(401, 'unauthorized'),
    () => refusal(500, 'internal'),
    () => refusal(503, 'insufficient_liquidity'),
  ])('behavior: a lasting failure is not repeated (%#)', async (answer) => {
    const { client, sent } = clientOf([answer]);
    await failureOf(client.prices());
    expect(sent).toHaveLength(1);
  });
});

describe('entity tags', () => {
  test('default: a known answer is asked for by its tag, and each caller has a copy of its own', async () => {
    const { client, sent } = clientOf([
      () => ok(PRICES, { etag: '"a"' }),
      () => new Response(null, { status: 304 }),
      () => ok({ ...PRICES, stale: true }, { etag: '"b"' }),
      () => new Response(null, { status: 304 }),
    ]);
    const first = await client.prices();
    Object.assign(first, { stale: true });
    expect(await client.prices()).toEqual(PRICES);
    expect((await client.prices()).stale).toBe(true);
    expect((await client.prices()).stale).toBe(true);
    const tags = sent.map(({ init }) => new Headers(init.headers).get('if-none-match'));
    expect(tags).toEqual([null, '"a"', '"a"', '"b"']);
  });

  test('behavior: the answers kept are bounded in number and in size', async () => {
    const big = 'x'.repeat(1_000_000);
    const { client, sent } = clientOf([() => ok({ ...PRICES, big }, { etag: '"t"' })]);
    const isKept = async (chainId: 1 | 4663) => {
      await client.prices({ chainId });
      return new Headers(sent.at(-1)?.init.headers).has('if-none-match');
    };
    expect(await isKept(1)).toBe(false);
    expect(await isKept(1)).toBe(true);
    for (let i = 0; i < 9; i += 1) await client.priceChart({ coinId: `coin-${i}` }).catch(() => {});
    expect(await isKept(1)).toBe(false);
  });
});

describe('input', () => {
  test.each([
    '',
    'service.test',
    'ftp://service.test',
    'https://key@service.test',
    'https://:key@service.test',
    'https://service.test/?a=1',
  ])('error: InputError for the address "%s"', (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(InputError);
  });

  test('error: InputError for a key with a line end', () => {
    expect(() => createClient({ baseUrl: 'http://service.test', apiKey: 'a\nb: c' })).toThrow(InputError);
  });

  test('behavior: an id cannot name another path, and an unknown parameter is not sent', async () => {
    const { client, sent } = clientOf([() => ok()]);
    for (const id of ['', '..', '.']) expect(await failureOf(client.strategy(id))).toBeInstanceOf(InputError);
    const misspelt = { chainIds: 1 } as { chainId?: 1 };
    expect((await failureOf(client.prices(misspelt))).message).toContain('chainIds');
    expect(sent).toHaveLength(0);
    await failureOf(client.strategy('a/b?c#d'));
    expect(sent[0]?.url).toBe('http://service.test/v1/strategies/a%2Fb%3Fc%23d');
  });

  test('behavior: a path of the address is kept; the key goes to the service only, without cookies', async () => {
    const { client, sent } = clientOf([() => ok()], { baseUrl: 'http://service.test/api/', apiKey: 'k' });
    await client.prices({ chainId: 4663 });
    expect(sent[0]?.url).toBe('http://service.test/api/v1/prices?chainId=4663');
    expect(sent[0]?.init).toMatchObject({ redirect: 'manual', credentials: 'omit' });
    expect(new Headers(sent[0]?.init.headers).get('authorization')).toBe('Bearer k');
  });
});

test('error: planOfGraphql names a way out for a position id that it cannot read, or that is of another wallet', () => {
  const wallet = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
  const answer = { chainId: 1, calls: [{ to: wallet, data: '0x', value: '0' }] } as never;
  const plan = (id: string) =>
    planOfGraphql(answer, {
      field: 'manageLeveragePlan',
      wallet,
      input: { position: id, action: { close: {} } } as never,
    });
  for (const id of [btoa(`Position:1:${wallet}:0`), `1-0x${'1'.repeat(64)}-0`, '1-0']) expect(plan(id).chainId).toBe(1);
  for (const id of ['not an id', '', btoa(`Strategy:1:${wallet}:0`), btoa(`Position:1:${wallet}:-1`)]) {
    expect(() => plan(id)).toThrow(/cannot be read: name the position by its positionId/);
  }
  expect(() => plan(btoa(`Position:1:0x${'11'.repeat(20)}:0`))).toThrow(InvalidPlanError);
});

test('behavior: a pending transaction that another account sends for a smart account is waited for', async () => {
  const [account, relayer] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];
  const hash = `0x${'1'.repeat(64)}`;
  let polls = 0;
  const mined = { transactionHash: hash, blockNumber: '0x9', status: '0x1', from: relayer, logs: [] };
  const answers: Readonly<Record<string, () => unknown>> = {
    eth_getTransactionReceipt: () => (polls < 20 ? null : mined),
    eth_getTransactionByHash: () => ({ hash, from: relayer, nonce: '0x0' }),
    eth_getTransactionCount: () => '0x5',
    eth_getCode: () => '0xef01',
  };
  const node = createRpc({ request: async ({ method }: { readonly method: string }) => answers[method]?.() });
  const sent = { hash, from: account, call: { to: relayer, data: '0x', value: 0n }, nonce: 5n, block: 8n };
  const wait = async () => {
    polls += 1;
  };
  const options = { confirmations: 1, timeoutMs: 60_000, pollMs: 1, wait };
  expect(await waitForReceipt(node, sent, options)).toMatchObject({ isSuccess: true, from: relayer });
});
