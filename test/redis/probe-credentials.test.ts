import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { errorOfNode } from '../../src/redis/client.ts';
import { settingsOf } from '../snapshot/redis-server.ts';

test.each([
  ['its own password', '?sentinelPassword=of-sentinels', 'of-sentinels'],
  ['none', '', null],
])(
  'behavior: a sentinel is probed with %s, and never gets the password or the database of its servers',
  async (_, parameters, sent) => {
    let received = '';
    const sentinel = createServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', (bytes) => {
          received += String(bytes);
          socket.write('-WRONGPASS invalid username-password pair\r\n');
        });
    });
    sentinel.listen(0, '127.0.0.1');
    await once(sentinel, 'listening');
    onTestFinished(() => void sentinel.close());
    const { port } = sentinel.address() as AddressInfo;
    const address = `redis+sentinel://server-user:of-servers@127.0.0.1:${port}/primary/3${parameters}`;
    await errorOfNode(settingsOf(address), { connectMs: 5_000, commandMs: 5_000, retryMs: () => null });
    expect(received).not.toContain('of-servers');
    expect(received.toLowerCase()).not.toContain('select');
    if (sent === null) expect(received.toLowerCase()).not.toContain('auth');
    else expect(received).toContain(sent);
  },
);
