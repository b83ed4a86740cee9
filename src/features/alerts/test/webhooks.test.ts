import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { isPublicAddress } from '../webhooks/addresses.ts';
import { createWebhookSender, type SenderOptions } from '../webhooks/send.ts';
import { signatureHeader, signingSecret } from '../webhooks/sign.ts';
import { parseTarget } from '../webhooks/target.ts';

const open: (Server | TcpServer)[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(open.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});
async function listen(server: Server | TcpServer): Promise<number> {
  open.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const http = (answer: (request: IncomingMessage, response: ServerResponse) => void) => listen(createServer(answer));
/** A server that writes these bytes on every connection. */
const raw = (...bytes: string[]) =>
  listen(
    createTcpServer((socket) => {
      socket.on('error', () => {});
      for (const part of bytes) socket.write(part);
    }),
  );
const send = (url: string, options: Partial<SenderOptions> = {}) =>
  createWebhookSender({ allowed: 'any', timeoutMs: 300, ...options })({ url, body: '{}', headers: { 'x-test': '1' } });
const at = (port: number, path = '/') => `http://127.0.0.1:${port}${path}`;

describe('isPublicAddress', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
  ])('error: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '198.20.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('default: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('parseTarget', () => {
  test.each([
    ['http://example.com/', /not an https/],
    ['https://example.com:22/', /port 22/],
    ['https://example.com:444/', /port 444/],
    ['https://127.0.0.1/', /not public/],
    ['https://0x7f.1/', /not public/],
    ['https://2130706433/', /not public/],
    ['https://[::1]/', /not public/],
    ['https://[::ffff:169.254.169.254]/', /not public/],
    ['https://user@example.com/', /user name/],
    ['https://example.com/#a', /fragment/],
    [`https://example.com/${'a'.repeat(2_048)}`, /characters/],
    ['javascript:alert(1)', /not an https/],
  ])('error: %s', (url, message) => {
    expect(() => parseTarget(url, 'public', 'input.webhookUrl')).toThrow(message);
  });

  test('an error never repeats the path or the query, which may be secret', () => {
    expect(() => parseTarget('http://a.example/secret?token=1', 'public', 'x')).toThrow(
      expect.objectContaining({
        message: expect.not.stringContaining('secret'),
        details: { field: 'x', value: 'http://a.example' },
      }),
    );
  });

  test.each(['https://example.com/', 'https://example.com:8443/a?b=c', 'https://8.8.8.8:1024/'])(
    'default: %s',
    (url) => {
      expect(parseTarget(url, 'public', 'x').href).toBe(url);
    },
  );
});

describe('createWebhookSender', () => {
  test('default: posts the body once, and takes any status from 200 to 299', async () => {
    const seen: string[] = [];
    const port = await http((request, response) => {
      request.on('data', (chunk) => seen.push(`${request.method} ${request.headers['x-test']} ${chunk}`));
      request.on('end', () => response.writeHead(202).end('thanks'));
    });
    expect(await send(at(port))).toMatchObject({ ok: true, httpStatus: 202, failure: null });
    expect(seen).toEqual(['POST 1 {}']);
  });

  test.each([301, 302, 303, 307, 308])('error: a redirect (%s) to loopback is not followed', async (status) => {
    let reached = 0;
    const inner = await http((_request, response) => {
      reached += 1;
      response.end();
    });
    const outer = await http((_request, response) => response.writeHead(status, { location: at(inner) }).end());
    expect(await send(at(outer))).toMatchObject({ ok: false, httpStatus: status, failure: 'redirect' });
    expect(reached).toBe(0);
  });

  test.each([
    [400, undefined, undefined],
    [500, undefined, undefined],
    [503, '120', 120],
    [429, 'soon', undefined],
    [503, '-5', undefined],
  ])('error: status %s, Retry-After %s', async (status, retryAfter, retryAfterSec) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    const port = await http((_request, response) => response.writeHead(status, headers).end());
    expect(await send(at(port))).toEqual({ ok: false, httpStatus: status, failure: 'status', retryAfterSec });
  });

  test('error: a receiver that is down, that hangs, or that sends no HTTP', async () => {
    const port = await http(() => {});
    const closed = await raw();
    await new Promise((resolve) => open.pop()?.close(resolve));
    expect((await send(at(closed))).failure).toBe('unreachable');
    expect((await send(at(port))).failure).toBe('timeout');
    expect((await send(at(await raw('SSH-2.0-OpenSSH_9.6\r\n')))).failure).toBe('malformed');
    expect((await send(at(await raw(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`)))).failure).toBe(
      'malformed',
    );
    expect((await send(at(await raw('HTTP/1.1 200 OK\r\nx-slow')))).failure).toBe('timeout');
  });

  test('an endless answer is cut off, and counts by its status', async () => {
    let sent = 0;
    const port = await http((_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        sent += 65_536;
        if (!response.destroyed && sent < 50_000_000) response.write('a'.repeat(65_536), more);
      };
      more();
    });
    expect(await send(at(port), { timeoutMs: 5_000 })).toMatchObject({ ok: true, httpStatus: 200 });
    expect(sent).toBeLessThan(50_000_000);
  });

  test('an answer that begins and never ends counts by its status', async () => {
    const port = await http((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('a');
    });
    expect(await send(at(port))).toMatchObject({ ok: true, httpStatus: 200 });
  });

  const resolving = (...addresses: string[]): SenderOptions['lookup'] =>
    ((_host: string, _options: unknown, callback: (error: null, found: object[]) => void) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as never;

  test.each([['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['169.254.169.254']])(
    'error: a name that resolves to %s',
    async (...addresses) => {
      const result = await send('https://rebinding.example:8443/', {
        allowed: 'public',
        lookup: resolving(...addresses),
      });
      expect(result).toEqual({ ok: false, httpStatus: null, failure: 'address_not_public' });
    },
  );

  test('the checked address is the one that is connected, and each attempt asks for one answer', async () => {
    let lookups = 0;
    const rebinding: SenderOptions['lookup'] = ((host: string, options: object, callback: never) => {
      lookups += 1;
      resolving(lookups === 1 ? '192.0.2.1' : '127.0.0.1')?.(host, options, callback);
    }) as never;
    const options = { allowed: 'public', lookup: rebinding } as const;
    expect((await send('https://rebinding.example/', options)).failure).toBe('address_not_public');
    expect(lookups).toBe(1);
    expect((await send('https://rebinding.example/', options)).failure).toBe('address_not_public');
    expect(lookups).toBe(2);
  });

  test.each(['http://127.0.0.1/', 'https://127.0.0.1/', 'https://[::1]:8443/', 'https://example.com:25/'])(
    'error: a stored URL that is not allowed any more, %s',
    async (url) => {
      expect((await send(url, { allowed: 'public' })).failure).toBe('invalid_url');
    },
  );

  test('error: an unknown name, and an aborted attempt', async () => {
    const missing: SenderOptions['lookup'] = ((_host: string, _options: unknown, callback: (error: Error) => void) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))) as never;
    expect((await send('https://missing.example/', { allowed: 'public', lookup: missing })).failure).toBe(
      'unknown_host',
    );
    const sender = createWebhookSender({ allowed: 'any' });
    expect((await sender({ url: at(1), body: '', headers: {} }, AbortSignal.abort())).failure).toBe('timeout');
  });
});

describe('signatures', () => {
  const salt = Buffer.from('salt');
  test('the secret depends on the alert, the version, the salt and the pepper', () => {
    const secrets = [
      signingSecret('a', { salt, version: 1 }, 'pepper'),
      signingSecret('b', { salt, version: 1 }, 'pepper'),
      signingSecret('a', { salt, version: 2 }, 'pepper'),
      signingSecret('a', { salt: Buffer.from('other'), version: 1 }, 'pepper'),
      signingSecret('a', { salt, version: 1 }, 'other'),
      signingSecret('a', { salt, version: 1 }, undefined),
    ];
    expect(new Set(secrets).size).toBe(secrets.length);
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[\w-]{43}$/);
  });

  test('the signature covers the time and the body', () => {
    const one = [{ version: 1, secret: 's' }];
    const all = [signatureHeader(one, 1, 'a'), signatureHeader(one, 2, 'a'), signatureHeader(one, 1, 'b')];
    expect(new Set(all.map((header) => header.split('v1=')[1])).size).toBe(3);
  });

  test('each secret makes a signature of its own, the newest first', () => {
    const [old, newest] = [
      { version: 1, secret: 's' },
      { version: 2, secret: 'n' },
    ];
    const macOf = (header: string) => header.split('v1=')[1];
    expect(signatureHeader([newest, old], 1, 'a')).toBe(
      `t=1,k=2,v1=${macOf(signatureHeader([newest], 1, 'a'))},k=1,v1=${macOf(signatureHeader([old], 1, 'a'))}`,
    );
  });
});
