import { afterEach, describe, expect, test } from 'vitest';
import { closedGraphQL } from '../../src/app/warmer-only.ts';
import { createHandler } from '../../src/server/handler.ts';
import { type Listening, listen } from '../../src/server/listen.ts';
import { createUnread } from '../../src/server/unread.ts';
import { captureLogs } from '../support/log-capture.ts';

let listening: Listening | undefined;
afterEach(() => listening?.close(100));

describe('the log line of a request', () => {
  test.each([
    ['/ready', 'debug'],
    ['/v1/prices', 'warn'],
  ])('behavior: a 503 of %s is told as %s', async (path, level) => {
    const logs = captureLogs();
    const handler = createHandler({
      graphql: closedGraphQL,
      pages: () => ({ status: 503, headers: {}, body: '{}' }),
      routeName: (name) => name,
      cors: { origins: '*' },
      trustedProxies: 0,
      unread: createUnread({ processBytes: 1, addressBytes: 1 }),
      clock: { now: () => 0 },
      logger: logs.logger,
    });
    listening = await listen(handler.node, { host: '127.0.0.1', port: 0 });
    expect((await fetch(listening.url + path)).status).toBe(503);
    await expect.poll(() => logs.take().join()).toMatch(new RegExp(`^${level} request .*"status":503`));
  });
});
