import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sendHttp } from '../../devnet/http.ts';
import { startWalletRelay, type WalletRelay } from '../../devnet/wallet-relay.ts';

let node: Server;
let relay: WalletRelay;
const received: string[] = [];
const PAGE = { origin: 'http://127.0.0.1:8787', 'content-type': 'application/json' };
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

beforeAll(async () => {
  node = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    received.push(body);
    response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  relay = await startWalletRelay({ rpcUrls: { 1: `http://127.0.0.1:${(node.address() as AddressInfo).port}` } });
});
afterAll(async () => {
  await relay.stop();
  node.closeAllConnections();
  node.close();
});
beforeEach(() => {
  received.length = 0;
});
const send = (body = CALL, headers: Readonly<Record<string, string>> = PAGE, path = '/1') =>
  sendHttp(`${relay.url}${path}`, { method: 'POST', headers, body, isAlone: true });

test('default: relays a call of a page of this machine', async () => {
  const answer = await send();
  expect([answer.status, JSON.parse(String(answer.bytes))]).toEqual([200, { jsonrpc: '2.0', id: 1, result: '0x1' }]);
  expect(answer.headers['access-control-allow-origin']).toBe(PAGE.origin);
  expect(received.map((body) => JSON.parse(body))).toEqual([JSON.parse(CALL)]);
});

test.each([
  ['a page of elsewhere', { origin: 'https://elsewhere.test' }],
  ['a page whose name begins like this machine', { origin: 'http://127.0.0.1.elsewhere.test' }],
  ['no page', { origin: '' }],
  ['a sandboxed page', { origin: 'null' }],
  ['a name that leads to this machine', { host: 'elsewhere.test:8545' }],
])('error: 403 for %s', async (_, headers) => {
  const { status } = await send(CALL, { ...PAGE, ...headers });
  expect([status, received]).toEqual([403, []]);
});

test.each([
  ['a method of the node alone', '{"id":1,"method":"anvil_setBalance"}', 403],
  ['a list of calls', `[${CALL}]`, 403],
  ['null', 'null', 400],
  ['no JSON', '{', 400],
])('error: %s is not relayed', async (_, body, status) => {
  expect([(await send(body)).status, received]).toEqual([status, []]);
});

test('error: 404 for another path', async () => {
  for (const path of ['/', '/2', '/1/../2', '/__proto__']) expect((await send(CALL, PAGE, path)).status).toBe(404);
});

test('error: 404 without CORS for a page of this machine that does not know the secret path', async () => {
  const { origin, pathname } = new URL(relay.url);
  expect(pathname).toMatch(/^\/[0-9a-f]{32}$/);
  for (const path of ['/1', `/${'0'.repeat(32)}/1`, `${pathname.slice(0, -1)}/1`]) {
    for (const method of ['POST', 'OPTIONS']) {
      const headers = { ...PAGE, origin: 'http://localhost:3000' };
      const body = method === 'POST' ? CALL : '';
      const answer = await sendHttp(`${origin}${path}`, { method, headers, body, isAlone: true });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([404, undefined]);
    }
  }
  expect(received).toEqual([]);
});

test('behavior: of a name that stands twice, the node gets the value that was checked', async () => {
  await send('{"id":1,"method":"anvil_setBalance","method":"eth_chainId","params":[]}');
  expect(received).toHaveLength(1);
  expect(received[0]).not.toContain('anvil_setBalance');
});
