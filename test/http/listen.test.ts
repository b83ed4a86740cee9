import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { sendHttp } from '../../devnet/http.ts';
import { listen } from '../../src/http/listen.ts';
import { settle } from '../warmers/fake-time.ts';

const place = { host: '127.0.0.1', port: 0 };

describe('listen', () => {
  test('behavior: closing finishes running requests, also on keep-alive connections', async () => {
    let answer: () => void = () => {};
    const requested = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let finish: () => void = () => {};
    const listening = await listen((_req, res) => {
      finish = () => res.end('done');
      answer();
    }, place);
    const agent = new Agent({ keepAlive: true });
    const response = new Promise<{ connection: string | undefined; body: string }>((resolve, reject) => {
      const sent = request(listening.url, { agent }, (received) => {
        let body = '';
        received.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        received.on('end', () => resolve({ connection: received.headers.connection, body }));
      });
      sent.on('error', reject);
      sent.end();
    });
    await requested;
    const closed = listening.close(10_000);
    finish();
    expect(await response).toEqual({ connection: 'close', body: 'done' });
    await closed;
    agent.destroy();
  });

  test('behavior: while open connections are leaving, a new one gets one answer; the listening socket closes last', async () => {
    const listening = await listen((_req, res) => res.end('done'), place);
    const get = (agent: Agent) =>
      new Promise<string | undefined>((resolve, reject) => {
        const sent = request(listening.url, { agent }, (received) => {
          received.resume().once('end', () => resolve(received.headers.connection));
        });
        sent.once('error', reject).end();
      });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get(agent)).toBe('keep-alive');
    const closed = listening.close(10_000, 10_000);
    // The open connection, the next one of the same client, and one of another client.
    expect([await get(agent), await get(agent), await get(new Agent())]).toEqual(['close', 'close', 'close']);
    await closed;
    await expect(get(agent)).rejects.toThrow('ECONNREFUSED');
  });

  test('behavior: cuts off a reader that reads nothing, but not a slow one', async () => {
    let cut: () => void = () => {};
    const wasCut = new Promise<void>((resolve) => {
      cut = resolve;
    });
    let closed = 0;
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const listening = await listen(
      (_req, res) => {
        const write = (): void => {
          if (!res.destroyed && res.write(chunk)) setImmediate(write);
        };
        res.on('drain', write);
        res.on('close', () => {
          closed += 1;
        });
        write();
      },
      { ...place, slowReaderMs: 200, onSlowReader: () => cut() },
    );
    const open = () => {
      const socket = connect(listening.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      return socket;
    };
    const [reading, asleep] = [open(), open()];
    let taken = 0;
    reading.on('data', (data: Buffer) => {
      taken += data.length;
    });
    asleep.pause();
    await wasCut;
    await settle();
    expect(closed).toBe(1);
    expect(reading.destroyed).toBe(false);
    expect(taken).toBeGreaterThan(0);
    reading.destroy();
    asleep.destroy();
    await listening.close(100);
  });

  /** Send bytes, and read until the connection ends. */
  const raw = (port: number, text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('error', () => {}).on('close', () => resolve(answer));
    });
  const envelopeOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).error;

  test('behavior: does not write the error of the next request into a slowly read answer', async () => {
    const body = 'x'.repeat(16 * 2 ** 20);
    let written: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      written = resolve;
    });
    const listening = await listen((_req, res) => {
      res.writeHead(200, { 'content-length': body.length }).end(body);
      written();
    }, place);
    const socket = connect(listening.port, '127.0.0.1').on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await answered;
    // Most of it waits in the service when the parser finds bytes that are not HTTP.
    socket.write('this is not HTTP\r\n\r\n');
    await settle();
    const received = await new Promise<string>((resolve) => {
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(received.endsWith(`\r\n\r\n${body}`)).toBe(true);
    await listening.close(100);
  });

  test('default: headers have 10 s, a request 30 s, checked every second', async () => {
    const listening = await listen((_req, res) => res.end(), place);
    expect(listening.timeouts).toEqual({ headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 });
    await listening.close(100);
  });

  test.each([
    ['no request', '', { headersTimeout: 100, requestTimeout: 30_000 }],
    ['headers that never end', 'GET / HTTP/1.1\r\nhost: x\r\n', { headersTimeout: 100, requestTimeout: 30_000 }],
    [
      'a body that never ends',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nx',
      { headersTimeout: 100, requestTimeout: 200 },
    ],
  ])('error: the envelope with 408 for %s', async (_name, text, timeouts) => {
    const listening = await listen((req) => void req.resume(), { ...place, ...timeouts });
    const answer = await raw(listening.port, text);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(envelopeOf(answer)).toMatchObject({ code: 'bad_request', correlationId: expect.any(String) });
    await listening.close(100);
  });

  test('behavior: every answer of a connection that ends is closed once, also those that wait for an earlier one', async () => {
    const closed: string[] = [];
    const answers: ServerResponse[] = [];
    const listening = await listen((req, res) => {
      res.once('close', () => closed.push(`${req.url} ${res.destroyed}`));
      answers.push(res);
      if (req.url !== '/first') res.end(req.url);
    }, place);
    const socket = connect(listening.port, '127.0.0.1').on('error', () => {});
    for (const path of ['/first', '/second', '/third']) socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => answers.length).toBe(3);
    socket.resetAndDestroy();
    await expect.poll(() => listening.connections).toBe(0);
    expect(closed.sort()).toEqual(['/first true', '/second true', '/third true']);
    await listening.close(100);
  });

  test('behavior: answers that had to wait are closed once, after they are sent', async () => {
    const closed: string[] = [];
    const answers: ServerResponse[] = [];
    const listening = await listen((req, res) => {
      res.on('close', () => closed.push(String(req.url)));
      answers.push(res);
    }, place);
    const socket = connect(listening.port, '127.0.0.1').on('error', () => {});
    socket.resume();
    for (const path of ['/first', '/second', '/third']) socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => answers.length).toBe(3);
    for (const res of answers) res.end('sent');
    await expect.poll(() => closed.length).toBe(3);
    socket.destroy();
    await expect.poll(() => listening.connections).toBe(0);
    expect(closed).toEqual(['/first', '/second', '/third']);
    await listening.close(100);
  });

  const TUNNEL = 'CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n';

  test('behavior: a client that resets the connection of its refused tunnel does not end the process', async () => {
    const listening = await listen((_req, res) => res.end('served'), place);
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    process.on('uncaughtExceptionMonitor', note);
    const socket = connect(listening.port, '127.0.0.1').on('error', () => {});
    socket.once('data', () => socket.resetAndDestroy());
    socket.write(TUNNEL);
    await new Promise((resolve) => socket.once('close', resolve));
    await expect.poll(() => listening.connections).toBe(0);
    process.off('uncaughtExceptionMonitor', note);
    expect(uncaught).toEqual([]);
    await listening.close(100);
  });

  test.each([
    ['a tunnel', TUNNEL, 405],
    ['headers that never end', 'GET / HTTP/1.1\r\nhost: x\r\n', 408],
  ])('behavior: a client that keeps its side open after the refusal of %s is cut off', async (_name, text, status) => {
    const listening = await listen((_req, res) => res.end('served'), { ...place, headersTimeout: 100 });
    const socket = connect({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    socket.write(text);
    const answer = await new Promise((resolve) => socket.once('data', (bytes) => resolve(String(bytes))));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await expect.poll(() => listening.connections).toBe(0);
    socket.destroy();
    await listening.close(100);
  });

  test('error: not_ready for connections of one address beyond the limit, and no answer beyond twice the limit', async () => {
    let refused = 0;
    const listening = await listen((_req, res) => res.end('served'), {
      ...place,
      connectionsPerAddress: 2,
      onRefusedConnection: () => {
        refused += 1;
      },
    });
    const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
    const open = async () => {
      const before = listening.connections;
      const socket = connect(listening.port, '127.0.0.1').on('error', () => {});
      await expect.poll(() => listening.connections).toBe(before + 1);
      return socket;
    };
    const first = [await open(), await open()];
    const answer = await raw(listening.port, GET);
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 2\r\n/is);
    expect(envelopeOf(answer)).toMatchObject({ code: 'not_ready', correlationId: expect.any(String) });
    await expect.poll(() => listening.connections).toBe(2);
    const more = [await open(), await open()];
    expect(await raw(listening.port, GET)).toBe('');
    expect(refused).toBe(4);
    for (const socket of [...first, ...more]) socket.destroy();
    await expect.poll(() => listening.connections).toBe(0);
    expect(await raw(listening.port, GET.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))).toContain('served');
    await listening.close(100);
  });

  test('error: ListenError names the setting', async () => {
    const first = await listen((_req, res) => res.end(), place);
    const second = listen((_req, res) => res.end(), { ...place, port: first.port, setting: 'METRICS_PORT' });
    await expect(second).rejects.toMatchObject({
      name: 'ListenError',
      message: expect.stringContaining('METRICS_PORT'),
    });
    await first.close(100);
  });

  test('behavior: a closed server keeps nothing of the service in memory', async () => {
    const held = await (async () => {
      const listener = (_req: IncomingMessage, res: ServerResponse) => res.end('done');
      const listening = await listen(listener, place);
      await sendHttp(listening.url, { isAlone: true });
      await listening.close(1_000);
      return new WeakRef(listener);
    })();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await expect
      .poll(() => {
        collect();
        return held.deref() === undefined;
      })
      .toBe(true);
  });
});
