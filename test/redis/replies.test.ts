import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openClient } from '../../src/redis/client.ts';
import { closeOnUnfitReplies } from '../../src/redis/replies.ts';
import { settingsOf } from '../snapshot/redis-server.ts';

const NIL = '$-1\r\n';

describe(closeOnUnfitReplies, () => {
  let server: Server;
  const sockets = new Set<Socket>();
  let reply = '';
  beforeEach(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('data', () => socket.write(reply));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    server.close();
  });

  test.each([
    ['nothing for a subscription', NIL],
    ['a number for a subscription', ':1\r\n'],
    ['one reply too many, which is nothing', `*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n>1\r\n${NIL}`],
  ])('behavior: %s closes the connection, and throws nothing', async (_name, sent) => {
    reply = sent;
    const { port } = server.address() as AddressInfo;
    const times = { connectMs: 5_000, commandMs: 5_000, retryMs: () => null };
    const redis = openClient(settingsOf(`redis://127.0.0.1:${port}`, 'spiral'), 'test', times);
    const messages: string[] = [];
    redis.on('error', ({ message }: Error) => messages.push(message));
    const ended = new Promise<void>((resolve) => redis.once('end', resolve));
    redis.once('ready', () => redis.subscribe('c').catch(() => {}));
    await ended;
    expect(messages).toEqual([expect.stringContaining('the server sent a reply that fits no command')]);
  });

  test.each([
    ['none', NIL],
    ['of nothing', `*1\r\n${NIL}`],
    ['with a range of more slots than there are', '*1\r\n*3\r\n:0\r\n:99999999\r\n*2\r\n$1\r\nx\r\n:7\r\n'],
    ['with no port', '*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$1\r\nx\r\n:70000\r\n'],
  ])(
    'behavior: a table of slots that is malformed fails the connection, and throws nothing: %s',
    async (_name, sent) => {
      reply = sent;
      const { port } = server.address() as AddressInfo;
      const times = { connectMs: 5_000, commandMs: 5_000, retryMs: () => null };
      const cluster = openClient(settingsOf(`redis+cluster://127.0.0.1:${port}`, 'spiral'), 'test', times);
      const failures: unknown[] = [];
      cluster.on('error', (error: { readonly lastNodeError?: Error }) => failures.push(error.lastNodeError?.message));
      await new Promise<void>((resolve) => cluster.once('end', resolve));
      expect(failures).toEqual(['the server sent no table of slots']);
    },
  );
});
