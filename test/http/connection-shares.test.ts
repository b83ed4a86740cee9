import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Listening, listen } from '../../src/http/listen.ts';

const KEY = 'Bearer known';
let listening: Listening;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listening.close(0);
});

/** Listen with the given MAX_CONNECTIONS; half of them are for strangers, two fifths for the key. */
const start = async (maxConnections: number): Promise<void> => {
  listening = await listen((_req, res) => res.end('answered'), {
    host: '127.0.0.1',
    port: 0,
    maxConnections,
    keyOf: (authorization) => (authorization === KEY ? { tier: 'partner', identity: 'key' } : undefined),
  });
};

/** Send a request on a new connection, which stays open. `closed` = there was no answer. */
const ask = (authorization?: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(listening.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {}).on('close', () => resolve('closed'));
    socket.once('data', (bytes) => resolve(String(bytes)));
    const key = authorization === undefined ? '' : `authorization: ${authorization}\r\n`;
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${key}\r\n`);
  });

test('behavior: strangers hold half of MAX_CONNECTIONS; a key is answered beside them, and a new key once', async () => {
  await start(10);
  for (let i = 0; i < 5; i += 1) expect(await ask()).toMatch(/^HTTP\/1\.1 200/);
  expect(await ask()).toMatch(/^HTTP\/1\.1 503[\s\S]*Too many connections/);
  for (let i = 0; i < 4; i += 1) {
    const answer = await ask(KEY);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).not.toMatch(/connection: close/i);
  }
  expect(await ask(KEY)).toMatch(/^HTTP\/1\.1 503/);
  // Its check is the first step of its request.
  expect(await ask('Bearer new')).toMatch(/^HTTP\/1\.1 200[\s\S]*connection: close/i);
});

test('behavior: a key on an open connection makes room for a stranger', async () => {
  await start(2);
  expect(await ask(KEY)).toMatch(/^HTTP\/1\.1 200/);
  expect(await ask()).toMatch(/^HTTP\/1\.1 200/);
  expect(await ask()).toMatch(/^HTTP\/1\.1 503/);
});
