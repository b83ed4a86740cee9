import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChainClient, type ChainClientHooks, createChainClient } from '../../src/chain/rpc/client.ts';
import { BlockMissingError, ChainReadError, toChainReadError } from '../../src/chain/rpc/errors.ts';
import { createByteBudget } from '../../src/shared/calls/byte-budget.ts';
import type { Timers } from '../../src/shared/timers.ts';

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [{ readonly data: string }];
}

const TO = `0x${'11'.repeat(20)}` as const;
const MEGABYTE = 1024 * 1024;

let server: Server;
/** The parsed body of each HTTP request. */
let bodies: (RpcRequest | RpcRequest[])[];
let headers: IncomingMessage['headers'];
/** Answers an HTTP request. */
let respond: (body: RpcRequest | RpcRequest[], response: ServerResponse) => void;

const echo = ({ id, params }: RpcRequest) => ({ jsonrpc: '2.0', id, result: params[0].data });
const send = (response: ServerResponse, value: unknown) => response.end(JSON.stringify(value));

beforeEach(async () => {
  bodies = [];
  respond = (body, response) => send(response, Array.isArray(body) ? body.map(echo).reverse() : echo(body));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[];
      bodies.push(body);
      headers = request.headers;
      respond(body, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

function client(
  options: { batchSize?: number; retryCount?: number; login?: string; hooks?: ChainClientHooks } = {},
): ChainClient {
  const { batchSize = 500, retryCount = 0, login = '', hooks = {} } = options;
  const rpcUrl = `http://${login}127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createChainClient({ chainId: 1, rpcUrl, retryCount, batchSize }, hooks);
}

function call(of: ChainClient, data: `0x${string}`, signal?: AbortSignal): Promise<string> {
  return of.request({ method: 'eth_call', params: [{ to: TO, data }, 'latest'] }, signal ? { signal } : {});
}

async function reasonOf(asking: Promise<unknown>): Promise<string> {
  const error = await asking.then(
    () => 'it was answered',
    (thrown: unknown) => toChainReadError(thrown),
  );
  return error instanceof ChainReadError ? error.reason : String(error);
}

describe('createChainClient', () => {
  test('default: calls of one turn are one request, answered in any order', async () => {
    const chain = client();
    const [a, b, c] = await Promise.all([call(chain, '0x0a'), call(chain, '0x0b'), call(chain, '0x0c')]);
    expect([a, b, c]).toEqual(['0x0a', '0x0b', '0x0c']);
    expect(bodies).toHaveLength(1);
  });

  test('behavior: a single call is a single object, and without batches every call is', async () => {
    await call(client(), '0x0a');
    const chain = client({ batchSize: 1 });
    await Promise.all([call(chain, '0x0b'), call(chain, '0x0c')]);
    expect(bodies.map((body) => Array.isArray(body))).toEqual([false, false, false]);
  });

  test('behavior: no request exceeds the batch size of the node', async () => {
    const chain = client({ batchSize: 2 });
    const data = ['0x0a', '0x0b', '0x0c', '0x0d', '0x0e'] as const;
    expect(await Promise.all(data.map((text) => call(chain, text)))).toEqual(data);
    expect(bodies.map((body) => [body].flat().length).sort()).toEqual([1, 2, 2]);
  });

  test('behavior: two clients of one URL do not share requests', async () => {
    await Promise.all([call(client(), '0x0a'), call(client(), '0x0b')]);
    expect(bodies).toHaveLength(2);
  });

  test('behavior: an answer of 7.5 MB to a multicall with many calls is read', async () => {
    const answer = `0x${'5a'.repeat(3.75 * MEGABYTE)}`;
    respond = (body, response) => send(response, { ...echo(body as RpcRequest), result: answer });
    const data = `0x${'0a'.repeat(100_000)}` as const;
    expect((await call(client(), data)) === answer).toBe(true);
  });

  test.each([
    ['eth_chainId', [], 16],
    ['eth_getLogs', [{}], 8_192],
    ['eth_getBlockByNumber', ['latest', false], 1_024],
    ['eth_call', [{ to: TO, data: '0x0a' }, 'latest'], 2_048],
    ['eth_simulateV1', [{}, 'latest'], 4_096],
    ['eth_call', [{ to: TO, data: `0x${'0a'.repeat(1_000_000)}` }, 'latest'], 8_192],
  ])(
    'error: ChainReadError malformed for an answer to %s %# that is larger than it can be',
    async (method, params, maxKb) => {
      const result = 'z'.repeat((maxKb + 1) * 1_024);
      respond = (body, response) => send(response, { id: (body as RpcRequest).id, result: result.slice(0, -2_048) });
      const chain = client();
      const ask = () => chain.request({ method, params } as never);
      expect(typeof (await ask())).toBe('string');
      respond = (body, response) => send(response, { id: (body as RpcRequest).id, result });
      expect(await reasonOf(ask())).toBe('malformed');
    },
  );

  test('error: ChainReadError malformed for a packed answer that unpacks to more than was asked for', async () => {
    const packed = gzipSync(JSON.stringify({ id: 1, result: '0'.repeat(200 * MEGABYTE) }));
    expect(packed.byteLength).toBeLessThan(MEGABYTE);
    respond = (_body, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    expect(await reasonOf(call(client(), '0x0a'))).toBe('malformed');
  });

  test('error: ChainReadError throttled when all answers together exceed the memory for them', async () => {
    const answerBytes = createByteBudget(3 * MEGABYTE);
    const open: ServerResponse[] = [];
    respond = (_body, response) => {
      open.push(response);
      response.write('z'.repeat(1.5 * MEGABYTE));
    };
    // One client each, so that they are several requests.
    const asked = [0, 1, 2].map(() => call(client({ hooks: { answerBytes } }), '0x0a'));
    const refused = await Promise.race(asked).catch((thrown: unknown) => toChainReadError(thrown));
    expect(refused).toMatchObject({ reason: 'throttled', retryAfterSec: 2 });
    for (const response of open) response.destroy();
    await Promise.allSettled(asked);
    expect(answerBytes.used).toBe(0);
  });

  test('error: ChainReadError malformed for an answer without end', async () => {
    respond = (_body, response) => {
      const more = () => {
        while (response.write('0'.repeat(MEGABYTE)));
      };
      response.on('drain', more);
      more();
    };
    expect(await reasonOf(call(client(), '0x0a'))).toBe('malformed');
  });

  test('error: ChainReadError timeout for a body that stops in the middle, also where the caller may abort', async () => {
    respond = (_body, response) => void response.write('{"id":1,"result":"0x');
    const timeouts: Timers = {
      setTimeout: (callback) => setTimeout(callback, 50),
      clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
    };
    const chain = client({ hooks: { timeouts } });
    expect(await reasonOf(call(chain, '0x0a'))).toBe('timeout');
    expect(await reasonOf(call(chain, '0x0a', new AbortController().signal))).toBe('timeout');
  });

  test('behavior: sends name and password of the URL in a header', async () => {
    await call(client({ login: 'user:p%40ss@' }), '0x0a');
    expect(headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });

  test('behavior: a refused call fails without the others', async () => {
    respond = (body, response) =>
      send(
        response,
        [body]
          .flat()
          .map((requests) =>
            requests.params[0].data === '0x0b'
              ? { id: requests.id, error: { code: -32000, message: 'no' } }
              : echo(requests),
          ),
      );
    const chain = client();
    const [a, b] = await Promise.allSettled([call(chain, '0x0a'), call(chain, '0x0b')]);
    expect([a.status, b.status]).toEqual(['fulfilled', 'rejected']);
  });

  test.each([
    ['server_error', 'an error for the whole batch', { error: { code: -32000, message: 'too much' } }],
    ['rate_limited', 'a limit for the whole batch', { error: { code: -32005, message: 'slow down' } }],
    ['malformed', 'no answer to a call', [{ id: 1_000_000, result: '0x' }]],
    [
      'malformed',
      'answers to other calls',
      [
        { id: 1_000_000, result: '0x' },
        { id: 1_000_001, result: '0x' },
      ],
    ],
    ['malformed', 'no list', '0x'],
    ['malformed', 'answers that are none', [null, 'yes']],
  ] as const)('error: ChainReadError %s for %s', async (reason, _what, value) => {
    respond = (_body, response) => send(response, value);
    const chain = client();
    const [, second] = [call(chain, '0x0a').catch(() => {}), call(chain, '0x0b')];
    expect(await reasonOf(second)).toBe(reason);
  });

  test.each([
    ['leaves one out', (answers: readonly object[]) => answers.slice(1)],
    ['has one without a result', ([first, ...rest]: readonly object[]) => [{ ...first, result: undefined }, ...rest]],
    [
      'has one with an error that is none',
      ([first, ...rest]: readonly object[]) => [{ ...first, error: 'no' }, ...rest],
    ],
  ])('error: ChainReadError malformed for a batch that %s, without mixing answers', async (_what, alter) => {
    respond = (body, response) => send(response, alter([body].flat().map(echo)));
    const chain = client();
    const input = (['0x0a', '0x0b', '0x0c'] as const).map((data) => reasonOf(call(chain, data)));
    expect(await Promise.all(input)).toEqual(['malformed', 'malformed', 'malformed']);
  });

  test('behavior: unrequested or duplicate answers do not shift others', async () => {
    respond = (body, response) => {
      const [first, ...rest] = [body].flat().map(echo) as [object, ...object[]];
      send(response, [{ id: 0, result: '0x' }, first, first, ...rest, { id: 1_000_000, result: '0x' }]);
    };
    const chain = client();
    const data = ['0x0a', '0x0b', '0x0c'] as const;
    expect(await Promise.all(data.map((text) => call(chain, text)))).toEqual(data);
  });

  test('behavior: a Retry-After of an hour does not delay the read', async () => {
    respond = (_body, response) => void response.writeHead(429, { 'retry-after': '3600' }).end();
    const error = await call(client({ retryCount: 1 }), '0x0a').catch((thrown: unknown) => toChainReadError(thrown));
    expect(error).toMatchObject({ reason: 'rate_limited', retryAfterSec: 300 });
    expect(bodies).toHaveLength(2);
  });

  test.each([
    [429, { code: 429, message: 'compute units' }],
    [429, { code: -32007, message: '50/second request limit reached' }],
    [429, { code: -32000, message: 'no' }],
    [200, { code: 429, message: 'compute units' }],
    [200, { code: -32007, message: '50/second request limit reached' }],
    [200, { code: -32005, message: 'limit' }],
  ])('error: ChainReadError rate_limited for status %i with %j', async (status, error) => {
    respond = (_body, response) => send(response.writeHead(status), { jsonrpc: '2.0', id: 1, error });
    expect(await reasonOf(call(client(), '0x0a'))).toBe('rate_limited');
  });

  test.each([
    [-32000, 'header not found'],
    [-32000, 'header for hash not found'],
    [-32000, 'hash is not currently canonical'],
    [-32000, '4294967295 could not be found'],
    [-32603, 'upstream does not have the requested block yet'],
    [-32002, 'No state available for block 0x5b1a'],
    [-32001, 'nothing to be said'],
    [-32001, 'block not found: hash 0x5b1a'],
  ])('error: BlockMissingError for %i %s', async (code, message) => {
    respond = (body, response) =>
      send(response, { jsonrpc: '2.0', id: (body as RpcRequest).id, error: { code, message } });
    const error = await call(client(), '0x0a').catch((thrown: unknown) => toChainReadError(thrown));
    expect(error).toBeInstanceOf(BlockMissingError);
  });

  test('error: ChainReadError malformed for an answer that is cut, unreachable for one that breaks off', async () => {
    respond = (_body, response) => response.end('[{"id":1,"result":"0x');
    expect(await reasonOf(call(client(), '0x0a'))).toBe('malformed');
    respond = (_body, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('[{"id":1,"result":"0x', () => response.destroy());
    };
    expect(await reasonOf(call(client(), '0x0a'))).toBe('unreachable');
  });

  test('error: rejects with the reason of an abort, without affecting other calls', async () => {
    const stop = new AbortController();
    const answered = respond;
    respond = (body, response) => {
      if ([body].flat().some(({ params }) => params[0].data === '0x0b')) answered(body, response);
    };
    const chain = client();
    const stopped = call(chain, '0x0a', stop.signal);
    const other = call(chain, '0x0b');
    expect(await other).toBe('0x0b');
    stop.abort(new Error('stopping'));
    await expect(stopped).rejects.toThrow('stopping');
  });
});
