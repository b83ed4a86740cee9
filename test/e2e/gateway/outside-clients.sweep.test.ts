import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApolloClient, HttpLink, InMemoryCache, gql as tagged } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChromium, whyNoChromium } from '../../support/chromium.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

/** Clients as their users set them up, against the service. */
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

interface Exchange {
  readonly method: string;
  readonly hasQuery: boolean;
  readonly status: number;
}

/** Fetch as browsers have it, which records what was sent. */
function recording() {
  const sent: Exchange[] = [];
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const text = request.method === 'GET' ? decodeURIComponent(request.url) : await request.clone().text();
    const response = await fetch(request);
    sent.push({ method: request.method, hasQuery: /[?&"]query["=]/.test(text), status: response.status });
    return response;
  };
  return { sent, send };
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** Each test has a document of its own, so that no other has registered it. */
const textFor = (name: string) => `query ${name} { chains { chainId } }`;
const asked = (exchanges: readonly Exchange[]) =>
  exchanges.map(({ method, hasQuery, status }) => `${method} ${hasQuery ? 'text' : 'hash'} ${status}`);

describe('the persisted link of Apollo Client', () => {
  const ask = async (name: string, useGETForHashedQueries: boolean) => {
    const { sent, send } = recording();
    const client = () =>
      new ApolloClient({
        cache: new InMemoryCache(),
        link: new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(
          new HttpLink({ uri: `${service.url}/graphql`, fetch: send, headers: { ...PARTNER } }),
        ),
      });
    for (let i = 0; i < 2; i += 1) {
      const { data } = await client().query<Json>({ query: tagged(textFor(name)) });
      expect(data.chains.map(({ chainId }: Json) => chainId)).toEqual([1, 4663]);
    }
    return asked(sent);
  };

  test('default: sends the text once, then the hash', async () => {
    expect(await ask('ApolloPost', false)).toEqual(['POST hash 200', 'POST text 200', 'POST hash 200']);
  });

  test('behavior: hashes by GET', async () => {
    const exchanges = await ask('ApolloGet', true);
    expect(exchanges[0]).toBe('GET hash 200');
    expect(exchanges.at(-1)).toBe('GET hash 200');
    expect(exchanges).toHaveLength(3);
  });
});

describe('the persisted exchange of urql', () => {
  test.each([true, false])('default: sends the text once, then the hash; by GET: %s', async (preferGet) => {
    const { sent, send } = recording();
    const client = () =>
      new Client({
        url: `${service.url}/graphql`,
        fetch: send,
        preferGetMethod: false,
        exchanges: [
          persistedExchange({ preferGetForPersistedQueries: preferGet, generateHash: async (text) => sha256(text) }),
          fetchExchange,
        ],
      });
    for (let i = 0; i < 2; i += 1) {
      const { data, error } = await client()
        .query<Json>(textFor(`Urql${preferGet}`), {})
        .toPromise();
      expect(error).toBeUndefined();
      expect(data.chains.map(({ chainId }: Json) => chainId)).toEqual([1, 4663]);
    }
    const by = preferGet ? 'GET' : 'POST';
    expect(asked(sent)).toEqual([`${by} hash 200`, `${by} text 200`, `${by} hash 200`]);
  });
});

describe('where only persisted operations are allowed', () => {
  test('behavior: a caller with a key still uses both links', async () => {
    await service.restart({ PERSISTED_ONLY_FOR_ANONYMOUS: 'true' });
    const { sent, send } = recording();
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new PersistedQueryLink({ sha256 }).concat(
        new HttpLink({ uri: `${service.url}/graphql`, fetch: send, headers: { ...OPS } }),
      ),
    });
    await client.query({ query: tagged(textFor('Closed')) });
    expect(asked(sent)).toEqual(['POST hash 200', 'POST text 200']);
    const refused = recording();
    const anonymous = new Client({
      url: `${service.url}/graphql`,
      fetch: refused.send,
      preferGetMethod: false,
      exchanges: [persistedExchange({ generateHash: async (text) => sha256(text) }), fetchExchange],
    });
    const { error } = await anonymous.query(textFor('Closed'), {}).toPromise();
    expect(error?.message).toContain('only persisted operations are allowed');
    await service.restart();
  });
});

describe.skipIf(whyNoChromium !== null)(
  `a page on another origin${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`,
  () => {
    let browser: Browser;
    let page: Page;
    let site: Server;
    beforeAll(async () => {
      site = createServer((_req, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'));
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      browser = await startChromium();
      page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    });
    afterAll(async () => {
      await browser?.close();
      await new Promise((resolve) => site.close(resolve));
    });
    const ask = (path: string, init: RequestInit): Promise<Json> =>
      page.evaluate(
        async ([url, sent]) => {
          const response = await fetch(url as string, sent as RequestInit);
          return {
            status: response.status,
            id: response.headers.get('x-correlation-id'),
            text: (await response.text()).slice(0, 200),
          };
        },
        [`${service.url}${path}`, init],
      );
    const TRACING = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=1',
      baggage: 'sentry-environment=test',
      'sentry-trace': '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1',
      'apollographql-client-name': 'web',
      'apollographql-client-version': '1',
      'x-datadog-trace-id': '1',
      'mcp-method': 'tools/list',
      'mcp-name': 'x',
    };

    test('default: reads rows and GraphQL with the headers of tracing', async () => {
      const headers = { ...TRACING, ...PARTNER, 'content-type': 'application/json' };
      expect((await ask('/v1/strategies', { headers: TRACING })).status).toBe(200);
      const body = JSON.stringify({ query: '{ chains { chainId } }' });
      expect(await ask('/graphql', { method: 'POST', headers, body })).toMatchObject({ status: 200 });
      // After a redirect the browser asks again.
      expect(await ask('/graphql/', { method: 'POST', headers, body })).toMatchObject({ status: 200 });
      const simulated = await ask('/v1/partner/leverage/simulate', { method: 'POST', headers, body: '{}' });
      expect(simulated.status).toBe(400);
    });

    test('behavior: reads the refusal of headers that are too large', async () => {
      const answer = await ask('/v1/prices', { headers: { 'x-large': 'x'.repeat(20_000) } });
      expect([answer.status, answer.id]).toEqual([431, expect.any(String)]);
    });

    test('behavior: reads the refusal of one connection too many, with its preflight', async () => {
      await service.restart({ MAX_CONNECTIONS_PER_ADDRESS: '1' });
      const { port } = new URL(service.url);
      const { connect } = await import('node:net');
      const first = connect(Number(port), '127.0.0.1');
      first.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
      await new Promise((resolve) => first.once('data', resolve));
      const answer = await ask('/v1/prices', { headers: TRACING });
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('Too many connections are open')]);
      first.destroy();
      await service.restart({});
    });
  },
);
