import { get as httpGet, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../../src/rest/generated/manifest.json' with { type: 'json' };
import { PARTNER, startService, type TestService } from '../../support/service.ts';

interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Ask without a client that decodes or caches anything. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    httpGet(`${service.url}${path}`, { headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
  });
}

/** Compressed bytes are ready a moment after the first answer: ask until they come. */
async function compressed(path: string, coding: string): Promise<Raw> {
  for (;;) {
    const answer = await raw(path, { 'accept-encoding': coding });
    if (answer.headers['content-encoding'] === coding) return answer;
  }
}

const LIST = '/v1/strategies';
const idOf = (answer: Raw) => String(answer.headers['x-correlation-id']);

describe('public rows', () => {
  it('default: every public list returns the same bytes again with a new id', async () => {
    for (const path of [LIST, '/v1/app/markets', '/v1/stable-apy', '/v1/prices', '/v1/tvl']) {
      const first = await raw(path);
      const second = await raw(path);
      expect([first.status, second.status], path).toEqual([200, 200]);
      expect(second.body.equals(first.body), path).toBe(true);
      expect(second.headers.etag, path).toBe(first.headers.etag);
      expect(second.headers['cache-control'], path).toMatch(/^public, max-age=\d+$/);
      expect(idOf(second), path).not.toBe(idOf(first));
    }
  });

  it('behavior: a sent id is returned with cached bytes too', async () => {
    expect(idOf(await raw(LIST, { 'x-correlation-id': 'caller-chosen-1' }))).toBe('caller-chosen-1');
  });

  it('behavior: brotli and gzip hold the same text', async () => {
    const plain = await raw(LIST);
    const br = await compressed(LIST, 'br');
    const gz = await compressed(LIST, 'gzip');
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(gunzipSync(gz.body).equals(plain.body)).toBe(true);
    expect(br.headers['content-length']).toBe(String(br.body.length));
    for (const { headers } of [plain, br, gz]) expect(headers.vary).toContain('accept-encoding');
  });

  it('behavior: HEAD has the headers of GET without a body; a known tag gets 304', async () => {
    const full = await raw(LIST);
    const head = await raw(LIST, {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(full.headers['content-length']);
    expect(head.headers.etag).toBe(full.headers.etag);
    const known = await raw(LIST, { 'if-none-match': String(full.headers.etag) });
    expect([known.status, known.body.length]).toEqual([304, 0]);
    expect(known.headers['content-length']).toBeUndefined();
    expect(known.headers['x-correlation-id']).toBeDefined();
  });

  it('behavior: unknown parameters share the cached bytes, and each answer names its own', async () => {
    const plain = await raw(LIST);
    const ignored = async (query: string, headers = {}) => {
      const answer = await raw(`${LIST}?${query}`, headers);
      return [answer.status, answer.headers.etag, answer.headers['ignored-parameters']];
    };
    const { etag } = plain.headers;
    expect(await ignored('utm_source=x')).toEqual([200, etag, 'utm_source']);
    expect(await ignored('v=2')).toEqual([200, etag, 'v']);
    expect(await ignored('v=2', { 'if-none-match': String(etag) })).toEqual([304, etag, 'v']);
    expect((await raw(LIST)).headers['ignored-parameters']).toBeUndefined();
  });

  it('behavior: a new version is shown at once', async () => {
    const before = JSON.parse((await raw(LIST)).body.toString());
    service.clock.advance(5_000);
    await service.refresh('lending-state:1');
    const after = await raw(LIST);
    expect(after.headers.age).toBe('0');
    expect(JSON.parse(after.body.toString()).asOf).not.toBe(before.asOf);
  });

  it('behavior: cached bytes show their age; stale ones are rendered again once a second', async () => {
    const first = await raw(LIST);
    service.clock.advance(20_000);
    const later = await raw(LIST);
    expect(later.body.equals(first.body)).toBe(true);
    expect(Number(later.headers.age)).toBe(Number(first.headers.age ?? 0) + 20);
    service.clock.advance(400_000);
    const staleSeconds = async () => {
      const { strategies } = JSON.parse((await raw(LIST)).body.toString());
      return strategies[0].freshness.borrow.staleForSec as number;
    };
    const stale = await staleSeconds();
    expect(stale).toBeGreaterThan(0);
    service.clock.advance(3_000);
    expect(await staleSeconds()).toBe(stale + 3);
    await service.refresh('lending-state:1');
  });

  it('behavior: with a key the same bytes are sent as no-store', async () => {
    const open = await raw(LIST);
    const keyed = await raw(LIST, { ...PARTNER, 'if-none-match': String(open.headers.etag) });
    expect(keyed.status).toBe(200);
    expect(keyed.body.equals(open.body)).toBe(true);
    expect([keyed.headers['cache-control'], keyed.headers.age, keyed.headers.etag]).toEqual([
      'no-store',
      undefined,
      undefined,
    ]);
    const invalid = await raw(LIST, { authorization: 'Bearer nonsense' });
    expect([invalid.status, invalid.headers.warning]).toEqual([200, expect.stringContaining('not valid')]);
    expect([invalid.headers.etag, invalid.headers['cache-control']]).toEqual([undefined, 'no-store']);
  });

  it('error: refusals are created for each caller', async () => {
    const unknown = `/v1/strategies/0x${'0'.repeat(64)}`;
    const [first, second] = [await raw(unknown), await raw(unknown)];
    expect([first.status, second.status]).toEqual([404, 404]);
    expect(first.headers.etag).toBeUndefined();
    expect(JSON.parse(second.body.toString()).error.correlationId).toBe(idOf(second));
  });
});

describe('repeated operations', () => {
  const QUERY =
    'query List($first: Int!) { strategies(first: $first) { nodes { id freshness { borrow { status } } } } }';
  const ask = (query: string, variables: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    service.graphql(query, variables, headers);

  it('default: equal operations get equal data, their own id and their own cost', async () => {
    const first = await ask(QUERY, { first: 3 });
    const again = [await ask(QUERY, { first: 3 }), await ask(QUERY, { first: 3 })];
    for (const answer of again) {
      expect(answer.body).toEqual(first.body);
      expect(answer.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-correlation-id')).not.toBe(first.headers.get('x-correlation-id'));
    }
    expect(first.body.extensions?.cost).toBeDefined();
  });

  it('behavior: other variables, another operation name or another text give other answers', async () => {
    const two = await ask(QUERY, { first: 2 });
    const three = await ask(QUERY, { first: 3 });
    expect([two.body.data.strategies.nodes.length, three.body.data.strategies.nodes.length]).toEqual([2, 3]);
    const both = 'query A { chains { chainId } } query B { chains { name } }';
    const named = async (operationName: string) =>
      (await service.post('/graphql', { query: both, operationName })).body.data.chains[0];
    for (let round = 0; round < 2; round += 1) {
      expect(Object.keys(await named('A'))).toEqual(['chainId']);
      expect(Object.keys(await named('B'))).toEqual(['name']);
    }
  });

  it('behavior: a new version shows at once, and ages change each second', async () => {
    const versions = '{ chains { version } strategies(first: 1) { nodes { freshness { borrow { ageSec } } } } }';
    const first = (await ask(versions)).body.data;
    await service.refresh('lending-state:1');
    expect((await ask(versions)).body.data.chains[0].version).toBeGreaterThan(first.chains[0].version);
    const age = async () => (await ask(versions)).body.data.strategies.nodes[0].freshness.borrow.ageSec as number;
    const young = await age();
    service.clock.advance(10_000);
    expect(await age()).toBe(young + 10);
  });

  it('behavior: answers with the requested media type', async () => {
    for (const accept of ['application/json', 'application/graphql-response+json', 'application/json']) {
      for (let round = 0; round < 3; round += 1) {
        const answer = await ask(QUERY, { first: 4 }, { accept });
        expect(answer.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
      }
    }
  });

  it('behavior: an answer as a stream is one for each such request', async () => {
    for (let round = 0; round < 4; round += 1) {
      const response = await fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
        body: JSON.stringify({ query: QUERY, variables: { first: 4 } }),
      });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(await response.text()).toMatch(/^event: next\ndata: \{"data":/m);
    }
  });

  it('behavior: a persisted id and its text are the same operation', async () => {
    const { sha256, document } = manifest.Strategies;
    const variables = { chainId: 1 };
    const byText = await ask(document, variables);
    const byId = await service.post('/graphql', { documentId: sha256, variables });
    const again = await service.post('/graphql', { documentId: `sha256:${sha256}`, variables });
    expect(byId.body.data).toEqual(byText.body.data);
    expect(again.body.data).toEqual(byText.body.data);
  });

  it('behavior: errors are created for each caller, also from compiled operations', async () => {
    const query = 'query One($id: StrategyId!) { strategy(id: $id) { id: strategyId utilizationPct } }';
    const known = (await ask('{ strategies(first: 1) { nodes { id: strategyId } } }')).body.data.strategies.nodes[0].id;
    for (let round = 0; round < 5; round += 1) {
      expect((await ask(query, { id: known }, PARTNER)).body.data.strategy.id).toBe(known);
      const refused = await ask(query, { id: `0x${'0'.repeat(64)}` });
      const [error] = refused.body.errors ?? [];
      expect(error.extensions.code).toBe('not_found');
      expect(error.extensions.correlationId).toBe(refused.headers.get('x-correlation-id'));
      expect(error.locations).toHaveLength(1);
      expect(error.path).toEqual(['strategy']);
    }
  });

  it('behavior: compiled operations answer like interpreted ones', async () => {
    const requested = [
      [manifest.Strategies.document, { chainId: 1 }],
      [manifest.Strategies.document, { chainId: 4663 }],
      [manifest.AppMarkets.document, {}],
      [manifest.StableApy.document, {}],
      [manifest.Prices.document, { chainId: 1 }],
      [QUERY, { first: 7 }],
    ] as const;
    for (const [query, variables] of requested) {
      // With a key every answer is executed; the third and later ones by the compiled operation.
      const answers = [];
      for (let round = 0; round < 5; round += 1) answers.push((await ask(query, variables, PARTNER)).text);
      expect(JSON.parse(answers[0] ?? '').errors).toBeUndefined();
      expect(new Set(answers.map((text) => JSON.stringify(JSON.parse(text).data))).size).toBe(1);
    }
  });
});

describe('limits', () => {
  it('behavior: cached answers are charged and refused like others', async () => {
    await service.restart({ RATE_LIMIT_ANONYMOUS: '40' });
    const left = (answer: Raw) => Number(/r=(\d+)/.exec(String(answer.headers.ratelimit))?.[1]);
    const first = await raw(LIST);
    const second = await raw(LIST);
    const known = await raw(LIST, { 'if-none-match': String(second.headers.etag) });
    expect(second.headers.age).toBeDefined();
    expect([left(first) - left(second), left(second) - left(known)]).toEqual([1, 1]);

    const query = '{ chains { chainId name } }';
    const remaining = async () => (await service.graphql(query)).body.extensions.rateLimit.remaining as number;
    const [one, two, three] = [await remaining(), await remaining(), await remaining()];
    expect([one - two, two - three]).toEqual([1, 1]);

    let refused: Raw | undefined;
    for (let n = 0; n < 50 && refused === undefined; n += 1) {
      const answer = await raw(LIST);
      if (answer.status === 429) refused = answer;
    }
    expect(refused?.headers['retry-after']).toBeDefined();
    expect(JSON.parse(refused?.body.toString() ?? '{}').error.code).toBe('rate_limited');
    expect((await service.graphql(query)).status).toBe(429);
  });
});
