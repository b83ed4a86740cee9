import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { closedGraphQL } from '../../src/app/warmer-only.ts';
import { createHandler } from '../../src/http/handler.ts';
import { type Listening, listen } from '../../src/http/listen.ts';
import { createUnread } from '../../src/http/unread-answers.ts';
import { captureLogs } from '../support/log-capture.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let listening: Listening | undefined;
let front: Front | undefined;
afterEach(async () => {
  await listening?.close(100);
  await front?.stop();
  front = undefined;
});

describe('the log line of a request', () => {
  test.each([
    ['/ready', 'debug'],
    ['/v1/prices', 'warn'],
  ])('behavior: logs a 503 of %s as %s', async (path, level) => {
    const logs = captureLogs();
    const handler = createHandler({
      graphql: closedGraphQL,
      pages: () => ({ status: 503, headers: {}, body: '{}' }),
      routeName: (name) => name,
      cors: { origins: '*' },
      trustedProxies: 0,
      clientOf: ({ clientIp }) => ({ tier: 'anonymous', identity: clientIp }),
      unread: createUnread({ processBytes: 1, addressBytes: 1 }),
      clock: { now: () => 0 },
      logger: logs.logger,
    });
    listening = await listen(handler.node, { host: '127.0.0.1', port: 0 });
    expect((await fetch(listening.url + path)).status).toBe(503);
    await expect.poll(() => logs.take().join()).toMatch(new RegExp(`^${level} request .*"status":503`));
  });
});

describe('targets and hosts', () => {
  const ask = async (target: string, headers: readonly string[]): Promise<string> => {
    front ??= await startTestGateway({ env: { ...UNLIMITED, TRUSTED_PROXIES: '1' } });
    const { hostname, port } = new URL(front.url);
    const lines = [`GET ${target} HTTP/1.1`, 'connection: close', ...headers, '', ''];
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(lines.join('\r\n')));
      socket.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer)).on('error', reject);
    });
  };
  const QUERY = '/graphql?query={chains{chainId}}';

  test.each([
    ['no host at all', ['host: [::1:::%%']],
    ['a host with a path', ['host: a/b?c#d']],
    ['a host with spaces', ['host: a b']],
    ['two hosts', ['host: a', 'Host: b']],
  ])('error: bad_request for %s', async (_name, headers) => {
    const answer = await ask(QUERY, headers);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('headers.host');
    if (headers.length > 1) expect(await ask('/v1/prices', headers)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('error: an invalid host after a valid one, and after itself', async () => {
    const statuses: string[] = [];
    for (const host of ['a', 'a', 'a:99999', 'a:99999', '', 'a']) {
      statuses.push((await ask(QUERY, [`host: ${host}`])).slice(9, 12));
    }
    expect(statuses).toEqual(['200', '200', '400', '400', '200', '200']);
  });

  test.each([
    ['GraphQL', `http://elsewhere.example${QUERY}`],
    ['a row', 'HTTP://elsewhere.example:8080/v1/prices?chainId=1'],
    ['a page', 'https://elsewhere.example/docs'],
  ])('default: the target is a whole URL: %s', async (_name, target) => {
    expect(await ask(target, ['host: elsewhere.example'])).toMatch(/^HTTP\/1\.1 200 /);
    // The page of the root is looked up as "/".
    expect(await ask('http://elsewhere.example', ['host: x'])).not.toContain('http://elsewhere.example');
  });

  test('default: an empty host counts as missing', async () => {
    expect(await ask(QUERY, ['host: '])).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('behavior: reads the header of a proxy behind thousands of headers', async () => {
    const many = Array.from({ length: 2_500 }, () => 'a:');
    const key = `authorization: ${PARTNER_KEY.authorization}`;
    const positions = `/v1/partner/positions/0x${'1'.repeat(40)}`;
    expect(await ask(positions, ['host: x', ...many])).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ask(positions, ['host: x', ...many, key])).not.toMatch(/^HTTP\/1\.1 401 /);
  });
});
