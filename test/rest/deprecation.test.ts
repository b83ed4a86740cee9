import SchemaBuilder from '@pothos/core';
import { buildSchema, printSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createRestAdapter } from '../../src/rest/adapter.ts';
import { createAnswers } from '../../src/rest/derive/answers.ts';
import { createDerive } from '../../src/rest/derive/row.ts';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { type Deprecation, deprecationSentence } from '../../src/shared/contract/deprecation.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Json } from '../support/service.ts';

const ENDING: Deprecation = { since: '2026-12-01', sunset: '2027-07-01', instead: 'Use netYieldPct' };
const EARLIER: Deprecation = { since: '2026-11-01', sunset: '2027-06-01', instead: 'Use /v1/yields' };

const schema = buildSchema(`
  type Query { yields: Yields plain: Plain }
  type Plain { yieldPct: Decimal! }
  type Yields { pools: [Pool!]! }
  "A pool."
  type Pool {
    "Yield, percent."
    yieldPct: Decimal @deprecated(reason: "${deprecationSentence(ENDING)}")
  }
  scalar Decimal
`);
const documents = {
  Plain: { row: '{ plain { ...PlainYield } } fragment PlainYield on Plain { yieldPct }' },
  Old: { row: '{ yields { ...OldYield } } fragment OldYield on Yields { pools { yieldPct } }' },
};
const derive = createDerive(createAnswers({ schema, documents, conversions: {}, errorOf: () => new Error('refused') }));
const row = (path: string, operation: keyof typeof documents, deprecation?: Deprecation) =>
  derive({
    method: 'GET',
    path,
    surface: 'Public',
    summary: 'Yield',
    description: 'The yield.',
    operation,
    params: z.object({}),
    variables: () => ({}),
    errors: [],
    examples: [{ summary: 'The yield' }],
    deprecation,
  });
const routes = [
  row('/v1/plain', 'Plain'),
  row('/v1/with-field', 'Old'),
  row('/v1/whole-row', 'Plain', EARLIER),
  row('/v1/both-of-them', 'Old', EARLIER),
];
const LINK = '</docs>; rel="deprecation"; type="text/html"';

const adapter = createRestAdapter({
  routes,
  admit: async () => ({
    refusal: null,
    headers: () => ({}),
    turn: async () => {},
    giveBack: async () => {},
    keyed: false,
  }),
  execute: async () => {
    const result = { data: { plain: { yieldPct: '5' }, yields: { pools: [] } } };
    return { result, again: async () => result };
  },
  clock: { now: () => 0 },
  logger: silentLogger,
});
const headersOf = async (path: string, query = '') => {
  const request = { method: 'GET', path, query, headers: {}, correlationId: 'sample', clientIp: '127.0.0.1' };
  const { status, headers } = await adapter.answer({ ...request, body: async () => new Uint8Array() });
  const { deprecation, sunset, link } = headers;
  return { status, deprecation, sunset, link };
};

describe('headers of a deprecated part', () => {
  test.each([
    ['/v1/plain', undefined, undefined],
    ['/v1/with-field', '@1796083200', 'Thu, 01 Jul 2027 00:00:00 GMT'],
    ['/v1/whole-row', '@1793491200', 'Tue, 01 Jun 2027 00:00:00 GMT'],
    ['/v1/both-of-them', '@1793491200', 'Tue, 01 Jun 2027 00:00:00 GMT'],
  ])('default: %s', async (path, deprecation, sunset) => {
    const link = sunset === undefined ? undefined : LINK;
    expect(await headersOf(path)).toEqual({ status: 200, deprecation, sunset, link });
  });

  test('behavior: an error of the row has them too', async () => {
    const { status, sunset } = await headersOf('/v1/whole-row', 'a=%');
    expect([status, sunset]).toEqual([400, 'Tue, 01 Jun 2027 00:00:00 GMT']);
  });
});

describe('a deprecated part in OpenAPI', () => {
  const { paths, components } = createOpenApi({ routes, version: '1.0.0' }) as Json;

  test('default: the field is marked and names its replacement', () => {
    expect(components.schemas.OldYieldPool.properties.yieldPct).toMatchObject({
      deprecated: true,
      'x-deprecation': ENDING,
      description: 'Yield, percent. Deprecated since 2026-12-01, may be removed from 2027-07-01 on. Use netYieldPct.',
    });
    expect(components.schemas.PlainYield.properties.yieldPct.deprecated).toBeUndefined();
  });

  test('default: the row is marked and lists the headers', () => {
    expect(paths['/v1/whole-row'].get).toMatchObject({ deprecated: true, 'x-deprecation': EARLIER });
    expect(Object.keys(paths['/v1/whole-row'].get.responses[200].headers)).toEqual(
      expect.arrayContaining(['Deprecation', 'Sunset', 'Link']),
    );
    expect(paths['/v1/plain'].get.deprecated).toBeUndefined();
    expect(Object.keys(paths['/v1/plain'].get.responses[200].headers)).not.toContain('Sunset');
  });
});

describe('a deprecated field in GraphQL', () => {
  test('default: carries the same sentence as its reason', () => {
    const builder = new SchemaBuilder<Record<never, never>>({} as never);
    builder.queryType({
      fields: (t) => ({
        yieldPct: t.string({ deprecationReason: deprecationSentence(ENDING), resolve: () => '5' }),
      }),
    });
    const [field] = Object.values(buildSchema(printSchema(builder.toSchema())).getQueryType()?.getFields() ?? {});
    expect(field?.deprecationReason).toBe(
      'Deprecated since 2026-12-01, may be removed from 2027-07-01 on. Use netYieldPct.',
    );
  });
});

describe('the notice', () => {
  test('behavior: at least six months lie between announcement and end, in the service and in these rows', () => {
    const served = createRoutes({ schema: sharedSchema(), chainIds: [1, 4663], equityChainIds: [4663] });
    const texts = [served, routes].map((table) => JSON.stringify(createOpenApi({ routes: table, version: '1.0.0' })));
    const announced = [...texts.join().matchAll(/"since":"([\d-]+)","sunset":"([\d-]+)"/g)];
    expect(announced.length).toBeGreaterThan(0);
    for (const [, since = '', sunset = ''] of announced) {
      const earliest = new Date(since);
      earliest.setUTCMonth(earliest.getUTCMonth() + 6);
      expect(Date.parse(sunset)).toBeGreaterThanOrEqual(earliest.getTime());
    }
  });
});
