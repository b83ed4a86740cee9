import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RangeRefusedError, toLogsError } from '../../src/chain/logs/refusal.ts';
import { createChainClient } from '../../src/chain/rpc/client.ts';
import { BlockMissingError, type ChainReadError, toChainReadError } from '../../src/chain/rpc/errors.ts';
import { NODE_ERRORS } from './node-error-cases.ts';

let server: Server;
let error: { readonly code: number; readonly message: string };
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error })));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function ask(method: string): Promise<ChainReadError> {
  const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createChainClient({ chainId: 1, rpcUrl, retryCount: 0, batchSize: 1 });
  const thrown: unknown = await client.request({ method, params: [{}] } as never).catch((caught: unknown) => caught);
  return method === 'eth_getLogs' ? toLogsError(thrown) : toChainReadError(thrown);
}

function kindOf(read: ChainReadError): string {
  if (read instanceof BlockMissingError) return 'missing';
  return read instanceof RangeRefusedError && read.why === 'refused' ? 'range' : read.reason;
}

test.each(NODE_ERRORS)('behavior: $method: $code "$message" means $kind', async ({ kind, method, code, message }) => {
  error = { code, message };
  expect(kindOf(await ask(method))).toBe(kind);
});

// The words of a node are the same for every method; only a range is one of eth_getLogs alone.
test.each(NODE_ERRORS.filter(({ method, kind }) => method === 'eth_call' && kind !== 'server_error'))(
  'behavior: eth_getLogs: $code "$message" means $kind as well',
  async ({ kind, code, message }) => {
    error = { code, message };
    expect(kindOf(await ask('eth_getLogs'))).toBe(kind);
  },
);

test('behavior: a limit that says when it is over carries that time', async () => {
  error = { code: -32_000, message: 'Public RPC Rate Limit Hit, limit will reset in 60 seconds' };
  expect(await ask('eth_call')).toMatchObject({ reason: 'rate_limited', retryAfterSec: 60 });
});
