import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { type DocumentNode, getOperationAST, introspectionFromSchema, OperationTypeNode, parse, print } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { POSSIBLE_TYPES, VALUE_TYPES } from '../../../packages/client/src/graphql/index.ts';
import { EXAMPLES } from '../../../src/schema/examples.ts';
import { buildSchema } from '../../../src/schema/index.ts';
import { cacheConfigOf, withKeys } from '../../support/cache-config.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

/** The caches that clients use find every object of every example again, and never take one for another. */

const schema = buildSchema();
const { possibleTypes, nodes, values } = cacheConfigOf(schema);
/** The holdings of the example, for a wallet with an equity vault. */
const ofVaults = EXAMPLES.partner
  .filter(({ query }) => query.includes('equityPositions'))
  .map((example) => ({
    ...example,
    title: `${example.title}, with a vault`,
    variables: { address: seededWallet('shareholder').account.address },
  }));
const examples = [...EXAMPLES.public, ...EXAMPLES.partner, ...ofVaults, ...EXAMPLES.ops];

interface Answered {
  readonly title: string;
  readonly document: DocumentNode;
  readonly variables: Record<string, unknown>;
  readonly isQuery: boolean;
  readonly data: Json;
}

let service: TestService;
const answers: Answered[] = [];
const warnings: unknown[][] = [];

beforeAll(async () => {
  service = await startService();
  for (const { title, query, variables = {}, tier } of examples) {
    const document = withKeys(schema, query);
    // Alerts are those of the key, and the sample key of partners has some.
    const key = tier === 'partner' ? PARTNER : OPS;
    const { body } = await service.graphql(print(document), { ...variables }, key);
    expect([title, body.errors]).toEqual([title, undefined]);
    const isQuery = getOperationAST(document)?.operation === OperationTypeNode.QUERY;
    answers.push({ title, document, variables: { ...variables }, isQuery, data: body.data });
  }
});
afterAll(() => service.stop());
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((...text) => void warnings.push(text));
  vi.spyOn(console, 'error').mockImplementation((...output) => void warnings.push(output));
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(warnings).toEqual([]);
});

/** The cost that the guide states for each screen. */
const statedCosts = new Map(
  [
    ...readFileSync(new URL('../../../docs/graphql.md', import.meta.url), 'utf8').matchAll(
      /^\| (\w+) \| `(\w+)` \| ([\d,]+) \| (\d+) \|$/gm,
    ),
  ].map(([, screen = '', operation, cost = '', points]) => [
    screen,
    { operation, cost: Number(cost.replace(',', '')), points: Number(points) },
  ]),
);

test('behavior: each screen is one operation below the cost that the guide states', async () => {
  const screens = examples.filter(({ screen, title }) => screen !== undefined && !title.includes('with a vault'));
  expect([...statedCosts.keys()].sort()).toEqual(screens.map(({ screen }) => screen).sort());
  expect([...statedCosts.keys()].sort()).toEqual(['detail', 'list', 'plan', 'portfolio', 'preview']);
  for (const { screen = '', query, variables = {}, tier } of screens) {
    const { body } = await service.graphql(query, { ...variables }, tier === undefined ? {} : PARTNER);
    expect([screen, body.errors]).toEqual([screen, undefined]);
    const { operation = '', cost = 0, points } = statedCosts.get(screen) ?? {};
    expect(getOperationAST(parse(query))?.name?.value).toBe(operation);
    expect([screen, body.extensions.cost.cost < cost, Math.ceil(cost / 100)]).toEqual([screen, true, points]);
    // An empty figure would pass as well.
    expect(body.extensions.cost.cost).toBeGreaterThan(cost / 1.5);
    expect(refusals(body.data)).toEqual([]);
  }
});

function refusals(data: Json): Json[] {
  return [...objectsIn(data)].filter(({ __typename }) => __typename.endsWith('Refusal'));
}

/** Every object of an answer, with its type. */
function* objectsIn(value: Json): Generator<Json> {
  if (Array.isArray(value)) for (const item of value) yield* objectsIn(item);
  else if (value !== null && typeof value === 'object') {
    if (typeof value.__typename === 'string') yield value;
    for (const inner of Object.values(value)) yield* objectsIn(inner);
  }
}

test('default: every object with an identity has an id, and no id is that of another object', () => {
  const observed = new Map<string, string>();
  const met = new Set<string>();
  for (const { data } of answers) {
    for (const object of objectsIn(data)) {
      met.add(object.__typename);
      expect([object.__typename, typeof object.id]).toEqual([
        object.__typename,
        nodes.includes(object.__typename) ? 'string' : 'undefined',
      ]);
      if (object.id === undefined) continue;
      expect(observed.get(object.id) ?? object.__typename).toBe(object.__typename);
      observed.set(object.id, object.__typename);
    }
  }
  expect(nodes.filter((name) => !met.has(name))).toEqual([]);
});

/** The samples of the guide: caches that are configured from the introspection only. */
const FOLDER = join('node_modules/.cache/spiral-gateway', `caches-${process.pid}`);
async function guideSamples(): Promise<Json> {
  const guide = readFileSync('docs/graphql.md', 'utf8');
  const code = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(code).toHaveLength(3);
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, 'samples.ts');
  writeFileSync(file, code.join('\n'));
  return import(/* @vite-ignore */ pathToFileURL(file).href);
}
const introspection = introspectionFromSchema(schema);
let samples: Json;
const apolloCache = (): InMemoryCache => samples.apolloCache(samples.cacheFacts(introspection));
beforeAll(async () => {
  samples = await guideSamples();
  expect(samples.cacheFacts(introspection)).toEqual({ possibleTypes, values });
  // The client package has the same facts.
  expect({ possibleTypes: POSSIBLE_TYPES, values: VALUE_TYPES }).toEqual({ possibleTypes, values });
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe('Apollo', () => {
  test('default: a query reads its own answer from the cache', () => {
    for (const { title, document: query, variables, isQuery, data } of answers) {
      if (!isQuery) continue;
      const cache = apolloCache();
      cache.writeQuery({ query, variables, data });
      expect([title, cache.readQuery({ query, variables })]).toEqual([title, data]);
    }
  });

  test('behavior: all answers in one cache agree on every object', () => {
    const fields = new Map<string, string>();
    const clashes: string[] = [];
    for (const { title, document: query, variables, isQuery, data } of answers) {
      if (!isQuery) continue;
      const cache = apolloCache();
      cache.writeQuery({ query, variables, data });
      for (const [key, stored] of Object.entries(cache.extract())) {
        if (key === 'ROOT_QUERY') continue;
        for (const [field, value] of Object.entries(stored as object)) {
          if (typeof value === 'object' && value !== null) continue;
          const known = fields.get(`${key}.${field}`);
          if (known !== undefined && known !== String(value)) clashes.push(`${title}: ${key}.${field}`);
          fields.set(`${key}.${field}`, String(value));
        }
      }
    }
    expect(clashes).toEqual([]);
  });
});

describe('graphcache of urql', () => {
  test('default: every query reads its answer from a cache with all answers', async () => {
    const client = new Client({
      url: `${service.url}/graphql`,
      fetchOptions: { headers: OPS },
      preferGetMethod: false,
      exchanges: [samples.graphcache(introspection, samples.cacheFacts(introspection)), fetchExchange],
    });
    const brought: Json[] = [];
    for (const { title, document, variables, isQuery } of answers) {
      const sent = isQuery ? client.query(document, variables) : client.mutation(document, variables);
      const result = await sent.toPromise();
      expect([title, result.error]).toEqual([title, undefined]);
      brought.push(result.data);
    }
    for (const [i, { title, document, variables, isQuery }] of answers.entries()) {
      if (!isQuery) continue;
      const again = await client.query(document, variables, { requestPolicy: 'cache-only' }).toPromise();
      expect([title, again.data]).toEqual([title, brought[i]]);
    }
  });
});
