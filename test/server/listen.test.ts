import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { listen } from '../../src/server/listen.ts';
import { settle } from '../warmers/fake-time.ts';

const place = { host: '127.0.0.1', port: 0 };

describe('listen', () => {
  test('behavior: closing finishes what runs, also on connections that are kept alive', async () => {
    let answer: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
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
    await asked;
    const closed = listening.close(10_000);
    finish();
    expect(await response).toEqual({ connection: 'close', body: 'done' });
    await closed;
    agent.destroy();
  });

  test('behavior: a reader that takes nothing is cut off; one that reads is not', async () => {
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

  test('error: ListenError names the setting', async () => {
    const first = await listen((_req, res) => res.end(), place);
    const second = listen((_req, res) => res.end(), { ...place, port: first.port, setting: 'METRICS_PORT' });
    await expect(second).rejects.toMatchObject({
      name: 'ListenError',
      message: expect.stringContaining('METRICS_PORT'),
    });
    await first.close(100);
  });
});
