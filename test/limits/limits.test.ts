import { type GraphQLNamedType, getIntrospectionQuery, isObjectType } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { configOf } from '../../src/graphql/plugins/use-field-limits.ts';
import { needsKey } from '../../src/limits/field-scopes.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import { EXAMPLES } from '../../src/schema/examples.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import {
  type Front,
  type FrontOptions,
  OPS_KEY,
  PARTNER_KEY,
  startTestGateway,
  UNLIMITED,
} from '../http/test-gateway.ts';
import type { Answer } from '../support/service.ts';

let front: Front | undefined;
const start = async (options: FrontOptions = {}) => {
  front = await startTestGateway(options);
  return front;
};
afterEach(async () => {
  await front?.stop();
  front = undefined;
});

const fieldsOf = (type: GraphQLNamedType | null | undefined) => (isObjectType(type) ? type.getFields() : {});
/** A document with a field several times. */
const aliased = (count: number, field: string): string =>
  `{${Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(' ')}}`;
const CHART = '/v1/prices/chart?coinId=ethereum';

describe('budgets over HTTP', () => {
  test('default: REST and GraphQL share one budget and report the same numbers', async () => {
    const { send, graphql } = await start();
    const rest = await send('/v1/prices');
    expect(rest.headers.get('ratelimit-policy')).toBe('"anonymous";q=600;w=60');
    expect(rest.headers.get('ratelimit')).toBe('"anonymous";r=599;t=60');
    const answer = await graphql('{strategies(first:100){nodes{id collateral{symbol}}}}');
    expect(answer.body.extensions).toEqual({
      cost: { cost: 149, limit: 10_000, points: 2 },
      rateLimit: { policy: 'anonymous', limit: 600, remaining: 597, resetSec: 60, windowSec: 60 },
    });
    expect(answer.headers.get('ratelimit')).toBe('"anonymous";r=597;t=60');
    const refused = await graphql('{');
    expect(refused.body.extensions.rateLimit.remaining).toBe(596);
    const early = await send('/graphql', { method: 'POST', body: '{' });
    expect(early.body.extensions.rateLimit.remaining).toBe(595);
  });

  test('error: rate_limited on every surface, until the window ends', async () => {
    const { send, graphql, clock } = await start({ env: { RATE_LIMIT_ANONYMOUS: '3' } });
    for (let i = 0; i < 3; i += 1) expect((await send('/v1/prices')).status).toBe(200);
    clock.advance(15_000);
    const rest = await send('/v1/prices');
    expect(rest.status).toBe(429);
    expect(rest.headers.get('retry-after')).toBe('45');
    expect(rest.headers.get('ratelimit')).toBe('"anonymous";r=0;t=45');
    expect(rest.headers.get('cache-control')).toBe('no-store');
    expect(rest.body.error).toMatchObject({
      code: 'rate_limited',
      details: { scope: 'client', limit: 3, windowSec: 60 },
    });
    const gql = await graphql('{chains{chainId}}');
    expect(gql.status).toBe(429);
    expect(gql.headers.get('retry-after')).toBe('45');
    expect(gql.body.errors[0].extensions).toMatchObject({ code: 'rate_limited', retryable: true, retryAfterSec: 45 });
    expect((await send('/v1/nowhere')).status).toBe(429);
    clock.advance(45_000);
    expect((await send('/v1/prices')).status).toBe(200);
  });

  test('behavior: refuses an exhausted budget like an insufficient one, at once and without a log line', async () => {
    const { send, graphql, clock, logs } = await start({ env: { RATE_LIMIT_ANONYMOUS: '3' } });
    const shown = ({ status, headers, body }: Answer) => {
      const own = [...headers]
        .filter(([name]) => !['date', 'x-correlation-id', 'content-length'].includes(name))
        .sort();
      const id = headers.get('x-correlation-id') ?? 'none';
      expect((body.error ?? body.errors[0].extensions).correlationId).toBe(id);
      expect(Buffer.byteLength(JSON.stringify(body))).toBe(Number(headers.get('content-length')));
      return { status, headers: own, body: JSON.stringify(body).replace(id, 'ID') };
    };
    const accept = { accept: 'application/graphql-response+json' };
    for (const ask of [
      () => send(CHART),
      () => graphql(aliased(5, 'strategies(first:300){nodes{id}}')),
      () => graphql(aliased(5, 'strategies(first:300){nodes{id}}'), { headers: accept }),
    ]) {
      clock.advance(60_000);
      for (let i = 0; i < 2; i += 1) expect((await send('/v1/prices')).status).toBe(200);
      const tooLittle = shown(await ask());
      logs.take();
      expect(shown(await ask())).toEqual(tooLittle);
      expect(tooLittle.status).toBe(429);
      const headers = { authorization: 'Bearer guess', 'x-correlation-id': 'a-well-formed-id' };
      expect((await send('/v1/prices', { headers })).headers.get('x-correlation-id')).toBe('a-well-formed-id');
      expect(logs.take().filter((line) => !line.startsWith('debug'))).toEqual([]);
    }
    expect((await send('/v1/prices', { method: 'OPTIONS' })).status).toBe(204);
    const head = await send('/v1/prices', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([429, '']);
  });

  test('behavior: refuses a key with an exhausted budget without a check, for a second at a time', async () => {
    let checks = 0;
    const verify = async () => {
      checks += 1;
      return { keyId: 'key-partner', tier: 'partner', label: 'partner' } as const;
    };
    const { send, graphql, clock } = await start({ env: { RATE_LIMIT_PARTNER: '3' }, verify });
    const ask = () => send('/v1/prices', { headers: PARTNER_KEY });
    for (let i = 0; i < 3; i += 1) expect((await ask()).status).toBe(200);
    const refused = await ask();
    const before = checks;
    const again = await ask();
    expect([refused.status, again.status, checks]).toEqual([429, 429, before]);
    const { correlationId: _first, ...reported } = refused.body.error;
    expect(again.body.error).toMatchObject(reported);
    expect(again.body.error.details.policy).toBe('partner');
    expect((await graphql('{chains{chainId}}', { headers: PARTNER_KEY })).status).toBe(429);
    expect(checks).toBe(before);
    // Neither other callers at the address nor public answers are charged to it.
    expect((await send('/v1/prices')).status).toBe(200);
    expect((await send('/docs', { headers: PARTNER_KEY })).status).toBe(200);
    clock.advance(1_000);
    expect((await ask()).status).toBe(429);
    expect(checks).toBe(before + 1);
    clock.advance(59_000);
    expect((await ask()).status).toBe(200);
  });

  test('behavior: a spoofed forwarding header gains nothing', async () => {
    const { send } = await start({ env: { RATE_LIMIT_ANONYMOUS: '5' } });
    const answers = [];
    for (let i = 0; i < 10; i += 1) {
      const headers = {
        'x-forwarded-for': `198.51.100.${i}`,
        forwarded: `for=198.51.100.${i}`,
        'x-real-ip': `198.51.100.${i}`,
      };
      answers.push((await send('/v1/prices', { headers })).status);
    }
    expect(answers).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429]);
  });

  test('behavior: behind trusted proxies the address comes from them, not from the client', async () => {
    const { send } = await start({ env: { RATE_LIMIT_ANONYMOUS: '2', TRUSTED_PROXIES: '2' } });
    const from = async (forwarded: string) =>
      (await send('/v1/prices', { headers: { 'x-forwarded-for': forwarded } })).status;
    expect(await from('192.0.2.1, 10.0.0.1')).toBe(200);
    expect(await from('6.6.6.6, 192.0.2.1, 10.0.0.1')).toBe(200);
    expect(await from('7.7.7.7, 8.8.8.8, 192.0.2.1, 10.0.0.1')).toBe(429);
    expect(await from('192.0.2.2, 10.0.0.1')).toBe(200);
    // Fewer hops than proxies: the request did not pass them, so its header is not trusted.
    expect(await from('9.9.9.9')).toBe(200);
    expect(await from('5.5.5.5')).toBe(200);
    expect(await from('4.4.4.4')).toBe(429);
  });

  test('behavior: charges guessed keys to the address', async () => {
    const { send } = await start({ env: { RATE_LIMIT_ANONYMOUS: '3' } });
    const guess = async (i: number) =>
      (await send('/v1/ops/drift-history', { headers: { authorization: `Bearer guess-${i}` } })).status;
    expect([await guess(1), await guess(2), await guess(3), await guess(4)]).toEqual([401, 401, 401, 429]);
  });

  test('behavior: tiers have the configured budgets', async () => {
    const { send } = await start({ env: { RATE_LIMIT_PARTNER: '77', RATE_LIMIT_OPS: '88' } });
    expect((await send('/v1/prices', { headers: PARTNER_KEY })).headers.get('ratelimit-policy')).toBe(
      '"partner";q=77;w=60',
    );
    expect((await send('/v1/prices', { headers: OPS_KEY })).headers.get('ratelimit-policy')).toBe('"ops";q=88;w=60');
  });

  test('behavior: a persisted operation has the cost of its row, and is exempt from the limits of documents', async () => {
    const { send } = await start();
    const { default: manifest } = await import('../../src/rest/generated/manifest.json', { with: { type: 'json' } });
    const persisted = async (body: object) =>
      send('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const byId = await persisted({ documentId: manifest.AppMarkets.sha256 });
    expect(byId.body.errors).toBeUndefined();
    expect(byId.body.extensions.cost).toEqual({ points: 1 });
    const byHash = await persisted({
      extensions: { persistedQuery: { version: 1, sha256Hash: manifest.AppMarkets.sha256 } },
    });
    expect(byHash.body.data).toEqual(byId.body.data);
    const byGet = await send(`/graphql?documentId=${manifest.AppMarkets.sha256}`);
    expect(byGet.body.data).toEqual(byId.body.data);
  });

  test('behavior: restricting callers without a key to persisted operations is a setting', async () => {
    const { graphql, send } = await start({ env: { PERSISTED_ONLY_FOR_ANONYMOUS: 'true' } });
    const { default: manifest } = await import('../../src/rest/generated/manifest.json', { with: { type: 'json' } });
    const refused = await graphql('{chains{chainId}}');
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([400, 'bad_request']);
    expect((await graphql('{chains{chainId}}', { headers: PARTNER_KEY })).status).toBe(200);
    expect((await send(`/graphql?documentId=${manifest.AppMarkets.sha256}`)).status).toBe(200);
  });
});

describe('limits of documents', () => {
  test('behavior: every example fits, without a key and within one minute', async () => {
    const { graphql } = await start();
    for (const { title, query, variables } of EXAMPLES.public) {
      const { status, body } = await graphql(query, { variables: { ...variables } });
      expect([title, status, body.errors]).toEqual([title, 200, undefined]);
    }
  });

  test('behavior: the introspection query of the usual tools fits', async () => {
    const { graphql } = await start();
    const options = { descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true };
    const query = getIntrospectionQuery({ ...options, inputValueDeprecation: true, oneOf: true });
    const { body } = await graphql(query);
    expect(body.errors).toBeUndefined();
    expect(body.data.__schema.types.length).toBeGreaterThan(50);
    expect(body.extensions.cost.cost).toBeGreaterThan(100);
  });

  test('behavior: tiers have higher limits', async () => {
    const { graphql } = await start();
    const query = aliased(
      12,
      'strategies(first:500){nodes{id ...on LoopStrategy{leverageLadder{leverage ltvPct}} gaps{field reason}}}',
    );
    const [anonymous, partner, ops] = [
      await graphql(query),
      await graphql(query, { headers: PARTNER_KEY }),
      await graphql(query, { headers: OPS_KEY }),
    ];
    expect(anonymous.body.errors[0].extensions).toMatchObject({
      code: 'query_too_complex',
      details: { measure: 'cost', limit: 10_000, tier: 'anonymous' },
    });
    expect(partner.body.errors).toBeUndefined();
    expect(ops.body.errors).toBeUndefined();
    const more = aliased(
      15,
      'strategies(first:500){nodes{id ...on LoopStrategy{leverageLadder{leverage ltvPct leverageApyPct}} gaps{field reason message since}}}',
    );
    const refused = await graphql(more, { headers: PARTNER_KEY });
    expect(refused.body.errors[0].extensions.details).toMatchObject({
      measure: 'cost',
      limit: 20_000,
      tier: 'partner',
    });
    expect((await graphql(more, { headers: OPS_KEY })).body.errors).toBeUndefined();
  });

  test('behavior: a document of one tier stays refused to another after parsing', async () => {
    const { graphql } = await start();
    const query = `{${Array.from({ length: 50 }, (_, i) => `a${i}:__typename`).join(' ')}}`;
    for (let i = 0; i < 3; i += 1) {
      expect((await graphql(query, { headers: PARTNER_KEY })).status).toBe(200);
      expect((await graphql(query)).status).toBe(400);
    }
  });

  test('behavior: an ops key may send more fragments up to its limit, in any nesting', async () => {
    const { graphql } = await start();
    const chain = (count: number) =>
      `{...F0} ${Array.from({ length: count }, (_, i) => `fragment F${i} on Query{${i === count - 1 ? '__typename' : `...F${i + 1}`}}`).join(' ')}`;
    const ask = async (count: number, headers: Record<string, string>) => {
      const { body } = await graphql(chain(count), { headers });
      return body.errors?.[0].extensions.details.measure ?? body.data.__typename;
    };
    expect([await ask(50, {}), await ask(51, {})]).toEqual(['Query', 'fragments']);
    const ops = [await ask(80, OPS_KEY), await ask(100, OPS_KEY), await ask(101, OPS_KEY), await ask(2_400, OPS_KEY)];
    // Each spreads another one: following them is limited before their number is.
    expect(ops).toEqual(['Query', 'validation', 'fragments', 'fragments']);
  });

  test('behavior: only persisted operations may request lists of any length', async () => {
    const { graphql } = await start();
    const { default: manifest } = await import('../../src/rest/generated/manifest.json', { with: { type: 'json' } });
    const { body } = await graphql('{markets(first:2147483647){totalCount}}');
    expect(body.errors[0].extensions).toMatchObject({
      code: 'bad_request',
      details: { field: 'first', limit: { max: 500 } },
    });
    // The very text of a persisted operation is the persisted operation, however it is sent.
    expect((await graphql(manifest.AppMarkets.document)).body.errors).toBeUndefined();
    expect((await graphql(`${manifest.AppMarkets.document} `)).body.errors).toBeDefined();
  });
});

describe('limits of single fields', () => {
  test('behavior: the clients of an IPv6 network of 56 bits have the calls of four together', async () => {
    const { send } = await start({ env: { ...UNLIMITED, RATE_LIMIT_ANONYMOUS: '1000000', TRUSTED_PROXIES: '1' } });
    const aliases = Array.from({ length: 15 }, (_, i) => `a${i}:priceChart(coinId:"ethereum"){source}`).join(' ');
    const ask = async (network: number) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': `2001:db8:1:${network}::1` };
      const { body } = await send('/graphql', {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: `{${aliases}}` }),
      });
      return body.errors?.[0]?.extensions.details.limit;
    };
    expect([await ask(1), await ask(1), await ask(1)]).toEqual([undefined, undefined, 30]);
    for (const network of [2, 3, 4]) expect([await ask(network), await ask(network)]).toEqual([undefined, undefined]);
    expect(await ask(5)).toBe(120);
  });

  test('error: rate_limited, the same on REST and GraphQL; aliases count each, and each client by itself', async () => {
    const { send, graphql } = await start({ env: { RATE_LIMIT_ANONYMOUS: '100000', TRUSTED_PROXIES: '1' } });
    const aliases = Array.from({ length: 15 }, (_, i) => `a${i}:priceChart(coinId:"ethereum"){source}`).join(' ');
    expect((await graphql(`{${aliases}}`)).status).toBe(200);
    for (let i = 0; i < 15; i += 1) expect((await send(CHART)).status).toBe(200);
    const rest = await send(CHART);
    expect([rest.status, rest.headers.get('retry-after')]).toEqual([429, '60']);
    expect(rest.body.error).toMatchObject({
      code: 'rate_limited',
      details: { scope: 'field', policy: 'anonymous', limit: 30, field: 'Query.priceChart' },
    });
    const gql = await graphql('{priceChart(coinId:"ethereum"){source}}');
    expect([gql.status, gql.headers.get('retry-after'), gql.body.data]).toEqual([429, '60', undefined]);
    expect((await graphql('{priceChart(coinId:"ethereum"){source}}', { headers: PARTNER_KEY })).status).toBe(200);
    expect((await send('/v1/prices')).status).toBe(200);
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    expect((await send(CHART, { headers })).status).toBe(200);
    expect((await graphql('{priceChart(coinId:"ethereum"){source}}', { headers })).status).toBe(200);
  });

  test('behavior: takes an argument from a default of the document', async () => {
    const { graphql } = await start();
    const chart = await graphql('query($id:String!="ethereum"){priceChart(coinId:$id){source}}');
    expect([chart.body.errors, chart.body.data?.priceChart.source]).toEqual([undefined, 'coingecko']);
    const wallets = await graphql(
      'query($a:[Address!]!=["0x90F79bf6EB2c4f870365E785982E1f101E93b906"]){wallets(addresses:$a){address}}',
      { headers: PARTNER_KEY },
    );
    expect([wallets.body.errors, wallets.body.data?.wallets.length]).toEqual([undefined, 1]);
  });

  test('behavior: every configured field exists, and every root field that needs a key is limited', async () => {
    const { schema } = await start();
    const limits = createLimits({ anonymous: 1, partner: 1, ops: 1 });
    for (const tier of Object.values(limits)) {
      for (const coordinate of Object.keys(tier.calls)) {
        const [type = '', field = ''] = coordinate.split('.');
        expect([coordinate, Object.keys(fieldsOf(schema.getType(type)))]).toEqual([
          coordinate,
          expect.arrayContaining([field]),
        ]);
      }
      const roots = [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
        Object.values(fieldsOf(root)).flatMap((field) => (needsKey(field) ? [`${root?.name}.${field.name}`] : [])),
      );
      expect(configOf(schema, tier).map(({ type, field }) => `${type}.${field}`)).toEqual(
        expect.arrayContaining(roots),
      );
    }
  });
});

describe('keys during an outage of their check', () => {
  test('behavior: keyed surfaces close, public reads continue', async () => {
    const verify = () => Promise.reject(new UpstreamUnavailableError('database', 'unreachable', { retryAfterSec: 2 }));
    const { send, graphql } = await start({ verify });
    expect((await send('/v1/prices', { headers: PARTNER_KEY })).status).toBe(200);
    const address = `0x${'1'.repeat(40)}`;
    const partner = await send(`/v1/partner/positions/${address}`, { headers: PARTNER_KEY });
    expect([partner.status, partner.body.error.code, partner.headers.get('retry-after')]).toEqual([
      503,
      'upstream_unavailable',
      '2',
    ]);
    expect((await graphql('{chains{chainId}}', { headers: PARTNER_KEY })).status).toBe(503);
    expect((await graphql('{chains{chainId}}')).status).toBe(200);
  });
});
