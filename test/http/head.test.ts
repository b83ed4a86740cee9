import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { headLines, sendReady, statusLine, takesReadyHeads } from '../../src/http/head.ts';

let end: (() => void) | undefined;
afterEach(() => end?.());

async function serve(listener: (req: IncomingMessage, res: ServerResponse) => void): Promise<number> {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener);
  end = () => {
    server.close();
    server.closeAllConnections();
  };
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  return (server.address() as AddressInfo).port;
}

/** Everything that comes back for what is sent, as it is on the wire, until `bytes` of it are there. */
function exchange(port: number, sent: string, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    let got = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      got = Buffer.concat([got, chunk]);
      if (got.length >= bytes) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(got));
  });
}

const ask = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nhost: a.example\r\n\r\n`;
const OWN = { 'content-type': 'application/json', 'content-length': '7', date: 'Mon, 01 Jun 2026 12:00:00 GMT' };
const OPEN = { connection: 'keep-alive', 'keep-alive': 'timeout=65' };
const HEAD = `${statusLine(200)}${headLines({ ...OWN, ...OPEN })}\r\n`;
const TEXT = '{"x":1}';

describe('sendReady', () => {
  test('default: on the wire it is what writeHead writes', async () => {
    const port = await serve((req, res) => {
      if (req.url === '/ready') sendReady(res, 200, HEAD, TEXT);
      else if (req.url === '/bytes') sendReady(res, 200, HEAD, Buffer.from(TEXT));
      else res.writeHead(200, OWN).end(TEXT);
    });
    const length = HEAD.length + TEXT.length;
    const usual = (await exchange(port, ask('/usual'), length)).toString('latin1');
    const lower = (text: string) => text.replace(/^(connection|keep-alive):/gim, (name) => name.toLowerCase());
    expect((await exchange(port, ask('/ready'), length)).toString('latin1')).toBe(lower(usual));
    expect((await exchange(port, ask('/bytes'), length)).toString('latin1')).toBe(lower(usual));
  });

  test('behavior: bytes beyond ASCII stay what they are', async () => {
    const body = Buffer.from('{"é":"€"}');
    const head = `${statusLine(200)}${headLines({ 'content-length': String(body.length) })}\r\n`;
    const port = await serve((_, res) => sendReady(res, 200, head, body.toString('latin1')));
    const got = await exchange(port, ask('/'), head.length + body.length);
    expect(got.subarray(head.length).equals(body)).toBe(true);
  });

  test('behavior: requests that were sent together are answered one after the other', async () => {
    const port = await serve((req, res) => {
      if (req.url === '/later') setImmediate(() => sendReady(res, 200, HEAD, TEXT));
      else sendReady(res, req.url === '/same' ? 304 : 200, HEAD, req.url === '/same' ? undefined : TEXT);
    });
    const once = HEAD.length + TEXT.length;
    const got = await exchange(port, ask('/later') + ask('/same') + ask('/now'), 2 * once + HEAD.length);
    expect(got.toString('latin1')).toBe(HEAD + TEXT + HEAD + HEAD + TEXT);
  });

  test('behavior: HEAD and 304 leave the connection as usable as before', async () => {
    const port = await serve((req, res) => sendReady(res, req.method === 'HEAD' ? 200 : 304, HEAD));
    const got = await exchange(port, ask('/', 'HEAD') + ask('/'), 2 * HEAD.length);
    expect(got.toString('latin1')).toBe(HEAD + HEAD);
  });

  test('behavior: the answer counts as sent, and ends', async () => {
    const seen: unknown[] = [];
    const port = await serve((_, res) => {
      res.once('finish', () => seen.push('finish'));
      sendReady(res, 200, HEAD, TEXT);
      seen.push(res.headersSent, res.statusCode, res.writableEnded);
    });
    await new Promise<void>((resolve, reject) => {
      request({ port, host: '127.0.0.1', agent: false }, (answer) => answer.resume().on('end', resolve))
        .on('error', reject)
        .end();
    });
    expect(seen).toEqual([true, 200, true, 'finish']);
  });
});

describe('headLines', () => {
  test('error: what would break out of its line', () => {
    for (const bad of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a: b\r\nx-c': 'd' }, { 'x-a': 'é' }]) {
      expect(() => headLines(bad)).toThrow(TypeError);
    }
  });
});

test('takesReadyHeads: this runtime does', () => {
  expect(takesReadyHeads()).toBe(true);
});
