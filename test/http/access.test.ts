import {
  getNamedType,
  getOperationAST,
  isLeafType,
  isObjectType,
  parse,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopeOf } from '../../src/limits/field-scopes.ts';
import { documents } from '../../src/rest/routes/index.ts';
import { buildSchema } from '../../src/schema/index.ts';
import type { Answer, Json } from '../support/service.ts';
import { type AskedField, callOf, everyField, isAllowed, sampleOf, type Tier, togetherIfAllowed } from './fields.ts';
import { type Front, OPS_KEY, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

const schema = buildSchema();
const fields = everyField(schema);
/**
 * All that needs a key, and a part of the rest: for callers with a key, whose public fields are the same, and for ways that lead
 * to the execution that POST has shown for every field.
 */
const keyedAndSome = fields.filter(({ scope }, i) => scope !== 'public' || i % 5 === 0);
const HEADERS: Readonly<Record<Tier, Record<string, string>>> = { anonymous: {}, partner: PARTNER_KEY, ops: OPS_KEY };
const TIERS = ['anonymous', 'partner', 'ops'] as const;

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

/** The one form of a refusal: nothing of the answer, nothing of the budget, nothing of why. */
function refusalOf(body: Json): unknown {
  const [{ extensions, ...error }] = body.errors;
  const { correlationId: _id, ...rest } = extensions;
  return { ...body, errors: [{ ...error, extensions: rest }] };
}
const REFUSAL = {
  errors: [
    {
      message: expect.any(String),
      extensions: { code: 'unauthorized', status: 401, retryable: false },
    },
  ],
};
const isUnauthorized = (body: Json) =>
  (body.errors ?? []).some((error: Json) => error.extensions.code === 'unauthorized') ||
  body.error?.code === 'unauthorized';

function check(
  field: { coordinate: string; scope: AskedField['scope'] },
  tier: Tier,
  status: number | null,
  body: Json,
): void {
  const where = `${field.coordinate} as ${tier}`;
  if (isAllowed(field.scope, tier)) {
    expect([where, isUnauthorized(body), status === 401]).toEqual([where, false, false]);
    // A query that is refused for another reason, such as its cost, shows nothing of its fields.
    if (body.errors) expect([where, 'data' in body]).toEqual([where, true]);
    return;
  }
  expect([where, status ?? 401, refusalOf(body)]).toEqual([where, 401, REFUSAL]);
}

/** Enough at a time to be quick, few enough for one process. */
async function inTurn<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

const post = (body: unknown, headers: Record<string, string>): Promise<Answer> =>
  front.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('everyField', () => {
  test('default: covers the whole schema, public and keyed', () => {
    expect(fields.length).toBeGreaterThan(300);
    expect(new Set(fields.map(({ scope }) => scope))).toContain('partner');
    const reached = new Set(fields.map(({ coordinate }) => coordinate.split('.')[0]));
    for (const type of Object.values(schema.getTypeMap())) {
      const isOutput = 'getFields' in type && 'getInterfaces' in type && !type.name.startsWith('__');
      const isOther = type.name === 'Subscription' || type.constructor.name === 'GraphQLInterfaceType';
      if (isOutput && !isOther && !onlySubscribed(type.name)) expect(reached).toContain(type.name);
    }
  });
});

/** Types that only subscriptions return, and those inside of them. */
function onlySubscribed(name: string): boolean {
  const returned = Object.values(schema.getSubscriptionType()?.getFields() ?? {}).map(({ type }) => getNamedType(type));
  const inside = returned.flatMap((type) =>
    isObjectType(type) ? Object.values(type.getFields()).map((field) => getNamedType(field.type).name) : [],
  );
  return returned.some((type) => type.name === name) || inside.includes(name);
}

describe.each(TIERS)('every field as %s', (tier) => {
  const someQueries = togetherIfAllowed(keyedAndSome, tier);

  test('POST', async () => {
    await inTurn(tier === 'anonymous' ? togetherIfAllowed(fields, tier) : someQueries, async (field) => {
      const { status, body } = await post({ query: field.query }, HEADERS[tier]);
      check(field, tier, status, body);
    });
  });

  test('GET', async () => {
    const queries = someQueries.filter(({ query }) => !query.startsWith('mutation'));
    await inTurn(queries, async (field) => {
      const { status, body } = await front.send(`/graphql?query=${encodeURIComponent(field.query)}`, {
        headers: HEADERS[tier],
      });
      check(field, tier, status, body);
    });
  });

  test('batch', async () => {
    const chunks = Array.from({ length: Math.ceil(someQueries.length / 5) }, (_, i) =>
      someQueries.slice(5 * i, 5 * i + 5),
    );
    await inTurn(chunks, async (chunk) => {
      const { status, body } = await post(
        chunk.map(({ query }) => ({ query })),
        HEADERS[tier],
      );
      expect([status, body.length]).toEqual([200, chunk.length]);
      // Each operation of a batch is answered by itself.
      chunk.forEach((field, i) => {
        check(field, tier, null, body[i]);
      });
    });
  });

  test('persisted', async () => {
    await inTurn(Object.entries(documents), async ([name, { sha256, document }]) => {
      const ast = parse(document);
      const operation = getOperationAST(ast, name);
      const variables = Object.fromEntries(
        (operation?.variableDefinitions ?? []).map(({ variable, type }) => [
          variable.name.value,
          sampleOf(typeFromAST(schema, type as never) as never),
        ]),
      );
      const typeInfo = new TypeInfo(schema);
      const scopes: string[] = [];
      visit(
        ast,
        visitWithTypeInfo(typeInfo, {
          Field: () => void scopes.push(scopeOf(typeInfo.getFieldDef() ?? { extensions: {} })),
        }),
      );
      const scope = scopes.includes('ops') ? 'ops' : scopes.includes('partner') ? 'partner' : 'public';
      for (const body of [
        { documentId: sha256, variables },
        { extensions: { persistedQuery: { version: 1, sha256Hash: sha256 } }, variables },
      ]) {
        const answer = await post(body, HEADERS[tier]);
        check({ coordinate: name, scope }, tier, answer.status, answer.body);
      }
    });
  });

  test('REST', async () => {
    await inTurn(front.routes, async (route) => {
      const [example] = route.examples;
      const path = route.path.replace(/\{(\w+)\}/g, (_all, name: string) => example?.params?.[name] ?? '');
      const query = new URLSearchParams(example?.query).toString();
      const body = route.method === 'POST' ? { body: JSON.stringify(example?.body ?? {}) } : {};
      const headers = { 'content-type': 'application/json', ...HEADERS[tier] };
      const answer = await front.send(`${path}?${query}`, { method: route.method, headers, ...body });
      const scope = ({ Public: 'public', Partner: 'partner', Ops: 'ops', Status: 'public' } as const)[route.surface];
      expect([route.path, tier, answer.status === 401]).toEqual([route.path, tier, !isAllowed(scope, tier)]);
      expect(isUnauthorized(answer.body)).toBe(!isAllowed(scope, tier));
    });
  });
});

describe.each(TIERS)('every subscription as %s', (tier) => {
  const subscribed = Object.values(schema.getSubscriptionType()?.getFields() ?? {});

  test.each(subscribed.map((field) => [field.name, field] as const))('%s', async (name, field) => {
    const ending = new AbortController();
    const named = getNamedType(field.type);
    const query = `subscription{${callOf(field)}${isLeafType(named) ? '' : '{__typename}'}}`;
    const response = await fetch(`${front.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...HEADERS[tier] },
      body: JSON.stringify({ query }),
      signal: ending.signal,
    });
    const allowed = isAllowed(scopeOf(field), tier);
    expect([name, response.status]).toEqual([name, allowed ? 200 : 401]);
    if (!allowed) expect(await response.text()).toContain('"code":"unauthorized"');
    ending.abort();
  });
});

describe('refused keys', () => {
  const wrong = {
    missing: undefined,
    empty: '',
    malformed: 'Bearer nonsense',
    'another scheme': 'Basic dXNlcjpwYXNz',
    unknown: `Bearer sg_partner_abcdefgh_${'A'.repeat(49)}`,
    'too long': `Bearer ${'x'.repeat(5_000)}`,
  };
  const shown = ({ status, headers, body }: Answer) => {
    const own = [...headers].filter(([name]) => !['date', 'x-correlation-id'].includes(name));
    const error = body.error ?? body.errors[0].extensions;
    expect(error.correlationId).toBe(headers.get('x-correlation-id'));
    return { status, headers: own, body: JSON.stringify(body).replace(error.correlationId, 'ID') };
  };
  const ask = (path: string, authorization: string | undefined) =>
    front.send(path, { headers: authorization === undefined ? {} : { authorization } });

  test('behavior: indistinguishable on REST, except for the correlation id', async () => {
    const path = `/v1/partner/positions/0x${'1'.repeat(40)}`;
    const answers = await Promise.all(Object.values(wrong).map(async (key) => shown(await ask(path, key))));
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toHaveLength(1);
    expect(answers[0]?.status).toBe(401);
    expect(Object.fromEntries(answers[0]?.headers ?? [])).toMatchObject({
      'www-authenticate': 'Bearer',
      'cache-control': 'no-store',
    });
    expect(answers[0]?.headers.map(([name]) => name)).not.toContain('ratelimit');
  });

  test('behavior: indistinguishable on GraphQL', async () => {
    const query = encodeURIComponent(`{wallet(address:"0x${'1'.repeat(40)}" chainIds:[1]){chainIds}}`);
    const answers = await Promise.all(
      Object.values(wrong).map(async (key) => shown(await ask(`/graphql?query=${query}`, key))),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toHaveLength(1);
    expect(answers[0]?.status).toBe(401);
  });

  const WARNING = /^299 - "The API key is not valid: [^"]+"$/;
  const invalid = Object.entries(wrong).filter(([, header]) => header?.startsWith('Bearer'));
  const withoutTimes = (headers: Headers) =>
    [...headers].filter(([name]) => !['date', 'x-correlation-id', 'etag', 'age', 'warning'].includes(name));

  test.each(invalid)(
    'behavior: every public row is answered as without a key, with a warning: %s',
    async (_name, key) => {
      const rows = front.routes.filter(({ surface }) => surface === 'Public');
      for (const { path, examples } of rows) {
        const place = path.replace(/\{(\w+)\}/g, (_all, name: string) => examples[0]?.params?.[name] ?? '');
        const url = `${place}?${new URLSearchParams(examples[0]?.query)}`;
        const [without, answer] = [await ask(url, undefined), await ask(url, key)];
        const same = (text: string) => text.replace(/"correlationId":"[^"]+"/, '');
        expect([path, answer.status, same(answer.text)]).toEqual([path, without.status, same(without.text)]);
        expect(answer.headers.get('warning')).toMatch(WARNING);
        expect([without.headers.get('warning'), answer.headers.get('cache-control')]).toEqual([null, 'no-store']);
        expect(answer.headers.get('etag')).toBeNull();
      }
      expect(rows.length).toBeGreaterThan(12);
      expect((await ask('/v1/nowhere', key)).status).toBe(404);
    },
  );

  const KEYED = `wallet(address:"0x${'1'.repeat(40)}" chainIds:[1]){chainIds}`;
  const sha256 = documents.StableApy?.sha256;

  test.each([
    ['a document', { query: '{chains{chainId}}' }],
    ['a fragment', { query: '{chains{...C}} fragment C on Chain{chainId}' }],
    ['a persisted operation', { documentId: sha256 }],
    ['a persisted operation by its hash', { extensions: { persistedQuery: { version: 1, sha256Hash: sha256 } } }],
    ['introspection', { query: '{__schema{queryType{name}}}' }],
    ['a node', { query: '{nodes(ids:[]){__typename}}' }],
    ['a document that is not valid', { query: '{nothing}' }],
    ['a batch', [{ query: '{chains{chainId}}' }, { query: '{chains{name}}' }]],
  ])('behavior: GraphQL without keyed fields is answered as without a key: %s', async (_name, body) => {
    const [without, answer] = [await post(body, {}), await post(body, { authorization: 'Bearer nonsense' })];
    const contents = ({ status, text, body: { errors } }: Answer) =>
      errors === undefined ? [status, text] : [status, errors[0].message];
    expect(contents(answer)).toEqual(contents(without));
    expect(answer.headers.get('warning')).toMatch(WARNING);
    expect(withoutTimes(answer.headers)).toEqual(withoutTimes(without.headers));
    expect(without.headers.get('warning')).toBeNull();
  });

  test.each([
    ['a keyed field', { query: `{${KEYED}}` }],
    ['one beside a public field', { query: `{chains{chainId} ${KEYED}}` }],
    ['one in a fragment', { query: `{...W} fragment W on Query{chains{chainId} ${KEYED}}` }],
    ['one that is skipped', { query: `{chains{chainId} ...@include(if:false){${KEYED}}}` }],
    ['one of another operation', { query: `query A{chains{chainId}} query B{${KEYED}}`, operationName: 'A' }],
    ['a mutation', { query: 'mutation{deleteAlert(alertId:"00000000-0000-4000-8000-000000000000"){__typename}}' }],
    [
      'a persisted operation',
      { documentId: documents.WalletPositions?.sha256, variables: { address: `0x${'1'.repeat(40)}`, chainId: 1 } },
    ],
  ])('error: unauthorized for a document with %s', async (_name, body) => {
    const { status, headers, body: answer } = await post(body, { authorization: 'Bearer nonsense' });
    expect([status, refusalOf(answer)]).toEqual([401, REFUSAL]);
    expect([headers.get('warning'), headers.get('ratelimit'), headers.get('www-authenticate')]).toEqual([
      null,
      null,
      'Bearer',
    ]);
  });

  test.each([
    ['freshnessChanged(chainIds:[1]){ready}', 200],
    ['walletChanged(address:"0x1111111111111111111111111111111111111111" chainIds:[1]){version}', 401],
  ])('behavior: a stream of %s: %i', async (field, expected) => {
    const ending = new AbortController();
    const response = await fetch(`${front.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: 'Bearer nonsense',
      },
      body: JSON.stringify({ query: `subscription{${field}}` }),
      signal: ending.signal,
    });
    expect([response.status, response.headers.has('warning')]).toEqual([expected, expected === 200]);
    ending.abort();
  });

  test('behavior: an attempt costs a point more than the read without a key, and guesses come to an end', async () => {
    const limited = await startTestGateway({ env: { RATE_LIMIT_ANONYMOUS: '10' } });
    const left = async (headers: Record<string, string>, path = '/v1/prices') =>
      (await limited.send(path, { headers })).headers.get('ratelimit');
    const guess = { authorization: 'Bearer nonsense' };
    expect(await left({})).toContain('r=9');
    expect(await left(guess)).toContain('r=7');
    expect(await left(guess, '/graphql?query={chains{chainId}}')).toContain('r=5');
    expect((await limited.send('/v1/prices', { headers: PARTNER_KEY })).headers.get('warning')).toBeNull();
    for (let i = 0; i < 2; i += 1) await left(guess);
    const refused = await limited.send('/v1/prices', { headers: guess });
    expect([refused.status, (await limited.send('/v1/prices')).status]).toEqual([429, 429]);
    await limited.stop();
  });

  test('behavior: does not answer the public part of a refused query', async () => {
    const { status, body } = await front.graphql(
      `{chains{chainId} wallet(address:"0x${'1'.repeat(40)}" chainIds:[1]){chainIds}}`,
    );
    expect([status, body.data, body.errors.length]).toEqual([401, undefined, 1]);
  });

  test('behavior: without a key a wrong and a right body get the same answer', async () => {
    const route = front.routes.find(({ surface, method }) => surface === 'Partner' && method === 'POST');
    if (!route) return;
    const send = (body: string, type = 'application/json') =>
      front.send(route.path, { method: 'POST', headers: { 'content-type': type }, body });
    const answers = [await send('{}'), await send('{'), await send('x', 'text/plain'), await send('x'.repeat(100_000))];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });
});
