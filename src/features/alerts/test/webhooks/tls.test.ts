import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../../../../../test/redis/certificates.ts';
import { createWebhookSender, type SenderOptions } from '../../webhooks/send.ts';

let folder: string;
let certificates: ReturnType<typeof makeCertificates>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-webhooks-'));
  certificates = makeCertificates(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open: (Server | TcpServer)[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(open.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

/** A receiver with the certificate of this name. */
async function receiver(certificate: string, options: object = {}) {
  const names: (string | false | null)[] = [];
  const bodies: string[] = [];
  let connections = 0;
  const server = createServer(
    {
      cert: readFileSync(certificates.path(`${certificate}.pem`)),
      key: readFileSync(certificates.path(`${certificate}.key`)),
      ...options,
    },
    async (request, response) => {
      names.push((request.socket as TLSSocket).servername);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(204).end();
    },
  );
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    connections += 1;
  });
  server.on('tlsClientError', () => {});
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, names, bodies, connections: () => connections };
}

/** Every name resolves to this address. */
const resolving = (address: string): SenderOptions['lookup'] =>
  ((_host: string, _options: unknown, callback: (error: null, found: object[]) => void) =>
    callback(null, [{ address, family: 4 }])) as never;

const send = (url: string, options: Partial<SenderOptions> = {}) =>
  createWebhookSender({ allowed: 'any', ca: certificates.ca, lookup: resolving('127.0.0.1'), ...options })({
    url,
    body: '{"id":"1"}',
    headers: {},
  });
const refused = (failure: string) => ({ ok: false, httpStatus: null, failure });

describe('a receiver over https', () => {
  test('default: a valid certificate is delivered to, under the name of the URL', async () => {
    const { port, names, bodies } = await receiver('server');
    expect(await send(`https://localhost:${port}/hook`)).toEqual({
      ok: true,
      httpStatus: 204,
      failure: null,
      retryAfterSec: undefined,
    });
    expect([names, bodies]).toEqual([['localhost'], ['{"id":"1"}']]);
  });

  test('behavior: a valid certificate of an address is delivered to without a name', async () => {
    const { port, names } = await receiver('server');
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ ok: true, httpStatus: 204 });
    expect(names).toEqual([false]);
  });

  test.each([
    ['has expired', 'expired', 'certificate_expired'],
    ['is of another name', 'other-host', 'certificate_host'],
    ['is signed by itself', 'ca', 'certificate_self_signed'],
  ])('error: a certificate that %s is refused before anything is sent', async (_name, certificate, failure) => {
    const { port, bodies, connections } = await receiver(certificate);
    // One that is signed by itself is not trusted, whatever authority is.
    const ca = certificate === 'ca' ? certificates.anotherCa : certificates.ca;
    expect(await send(`https://localhost:${port}/`, { ca })).toEqual(refused(failure));
    expect([bodies, connections()]).toEqual([[], 1]);
  });

  test('error: a certificate of an authority that is not trusted, also with the whole chain', async () => {
    const { port } = await receiver('server');
    const options = { ca: certificates.anotherCa };
    expect(await send(`https://localhost:${port}/`, options)).toEqual(refused('certificate_authority'));
    const chain = ['server', 'ca'].map((name) => readFileSync(certificates.path(`${name}.pem`), 'utf8')).join('');
    const whole = await receiver('server', { cert: chain });
    expect(await send(`https://localhost:${whole.port}/`, options)).toEqual(refused('certificate_authority'));
  });

  test('error: a name that resolves to the receiver of another one', async () => {
    const { port, bodies } = await receiver('server');
    expect(await send(`https://receiver.example:${port}/`)).toEqual(refused('certificate_host'));
    expect(bodies).toEqual([]);
  });

  test('error: an old version of TLS, and no TLS at all', async () => {
    const old = await receiver('server', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' });
    expect(await send(`https://localhost:${old.port}/`)).toEqual(refused('tls'));
    const plain = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      sockets.add(socket);
    });
    open.push(plain);
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    expect(await send(`https://localhost:${(plain.address() as AddressInfo).port}/`)).toEqual(refused('tls'));
  });

  test('behavior: a name with a valid certificate that resolves to this machine is refused without a connection', async () => {
    const { port, connections } = await receiver('server');
    const url = `https://localhost:${port}/`;
    expect(await send(url, { allowed: 'public' })).toEqual(refused('address_not_public'));
    // A name that answers differently the next time gets no next time.
    let lookups = 0;
    const rebinding: SenderOptions['lookup'] = ((host: string, options: object, callback: never) => {
      lookups += 1;
      resolving(lookups === 1 ? '10.0.0.1' : '127.0.0.1')?.(host, options, callback);
    }) as never;
    expect(await send(url, { allowed: 'public', lookup: rebinding })).toEqual(refused('address_not_public'));
    expect([lookups, connections()]).toEqual([1, 0]);
  });
});
