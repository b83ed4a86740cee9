import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { breakingGraphqlChanges } from '../../scripts/releases/graphql-changes.ts';
import { lastRelease, releasedVersions } from '../../scripts/releases/last-release.ts';
import { breakingOpenApiChanges } from '../../scripts/releases/openapi-changes.ts';
import type { Json } from '../support/service.ts';

const TODAY = '2026-11-22';
const released = lastRelease();
const openApi = (): Json => JSON.parse(readFileSync('openapi.json', 'utf8'));
/** Breaking changes that a release makes on purpose, each with its reason. */
const accepted: readonly { change: string; reason: string }[] = JSON.parse(
  readFileSync('releases/accepted.json', 'utf8'),
);

const graphqlChanges = (schema: string) => breakingGraphqlChanges(released.schema, schema);

describe('against the last release', () => {
  test('default: openapi.json and schema.graphql break no client, but for the accepted changes', () => {
    const changes = [
      ...breakingOpenApiChanges(JSON.parse(released.openApi), openApi(), TODAY),
      ...graphqlChanges(readFileSync('schema.graphql', 'utf8')),
    ];
    expect(changes).toEqual(accepted.map(({ change }) => change));
  });

  test('behavior: a changed GraphQL schema is noticed', () => {
    const removed = readFileSync('schema.graphql', 'utf8').replace(/^ {2}borrowApyPct: /m, '  renamed: ');
    expect(graphqlChanges(removed).join()).toContain('borrowApyPct was removed');
  });

  test.each([
    ['of an argument', 'type Query { list(first: Int = 20): Int }', '= 20', '= 7', 'default'],
    ['of an argument that is gone', 'type Query { list(first: Int = 20): Int }', ' = 20', '', 'default'],
    [
      'of an input field',
      'input I { full: Boolean = true } type Query { a(i: I): Int }',
      '= true',
      '= false',
      'I.full',
    ],
    [
      'of an input field that is gone',
      'input I { at: [Int!] = [1] } type Query { a(i: I): Int }',
      ' = [1]',
      '',
      'I.at',
    ],
  ])('behavior: notices another default %s', (_what, schema, default_, other, expected) => {
    expect(breakingGraphqlChanges(schema, schema)).toEqual([]);
    expect(breakingGraphqlChanges(schema, schema.replace(default_, other)).join()).toContain(expected);
  });
});

describe(breakingOpenApiChanges, () => {
  const changesOf = (change: (document: Json) => void, before = openApi()) => {
    const after = structuredClone(before);
    change(after);
    return breakingOpenApiChanges(before, after, TODAY);
  };
  const schemas = (document: Json) => document.components.schemas;

  test('default: an equal document breaks nothing', () => {
    expect(changesOf(() => {})).toEqual([]);
  });

  test.each<[string, string, (document: Json) => void]>([
    ['a removed path', 'GET /v1/tvl: removed', (d) => delete d.paths['/v1/tvl']],
    ['a key that is needed', 'GET /v1/tvl: needs a key', (d) => (d.paths['/v1/tvl'].get.security = [{ apiKey: [] }])],
    [
      'a removed parameter',
      'GET /v1/strategies query.chainId: removed',
      (d) => (d.paths['/v1/strategies'].get.parameters = []),
    ],
    [
      'a parameter that became required',
      'GET /v1/strategies query.chainId: new required input',
      (d) => (d.paths['/v1/strategies'].get.parameters[0].required = true),
    ],
    [
      'a removed value of a parameter',
      'GET /v1/strategies query.chainId: value 4663 removed',
      (d) => (d.paths['/v1/strategies'].get.parameters[0].schema.enum = [1]),
    ],
    [
      'a narrower range of a parameter',
      'GET /v1/prices/chart query.days: maximum 365 became 30',
      (d) => (d.paths['/v1/prices/chart'].get.parameters[1].schema.maximum = 30),
    ],
    [
      'a removed answer field',
      'Strategy.borrowApyPct: removed',
      (d) => delete schemas(d).Strategy.properties.borrowApyPct,
    ],
    [
      'an answer field that may be absent',
      'Strategy.borrowApyPct: may be absent',
      (d) =>
        (schemas(d).Strategy.required = schemas(d).Strategy.required.filter((name: string) => name !== 'borrowApyPct')),
    ],
    [
      'another type of an answer field',
      'Strategy.supplyUsd: type number became string',
      (d) => (schemas(d).Strategy.properties.supplyUsd.type = 'string'),
    ],
    [
      'an answer field that may be null',
      'Strategy.supplyUsd: type number became number or null',
      (d) => (schemas(d).Strategy.properties.supplyUsd.type = ['number', 'null']),
    ],
    [
      'a wider range of an answer',
      'Strategy.supplyUsd: minimum 0 became -Infinity',
      (d) => delete schemas(d).Strategy.properties.supplyUsd.minimum,
    ],
    [
      'a removed value of an answer',
      'Strategy.collateralApySource: value "none" removed',
      (d) => schemas(d).Strategy.properties.collateralApySource.enum.pop(),
    ],
    [
      'a new required field of a body',
      'EquitySimulateBody.memo: new required input',
      (d) => {
        schemas(d).EquitySimulateBody.properties.memo = { type: 'string' };
        schemas(d).EquitySimulateBody.required.push('memo');
      },
    ],
    [
      'a removed form of a body',
      'ManageBuildBody: form #/components/schemas/CloseBody removed',
      (d) => schemas(d).ManageBuildBody.oneOf.shift(),
    ],
    [
      'another pattern of an input',
      'EquitySimulateBody.strategyId: pattern',
      (d) => (schemas(d).EquitySimulateBody.properties.strategyId.pattern = '^x$'),
    ],
    [
      'another operationId',
      'GET /v1/tvl: operationId tvl became value',
      (d) => (d.paths['/v1/tvl'].get.operationId = 'value'),
    ],
    [
      'another default',
      'GET /v1/strategies query.chainId: default 1 became 4663',
      (d) => (d.paths['/v1/strategies'].get.parameters[0].schema.default = 4663),
    ],
    [
      'another form of a parameter in the address',
      'GET /v1/strategies query.chainId: explode undefined became false',
      (d) => (d.paths['/v1/strategies'].get.parameters[0].explode = false),
    ],
    [
      'another scheme of keys',
      'POST /v1/partner/leverage/build: security {"apiKey":[]} removed',
      (d) => (d.paths['/v1/partner/leverage/build'].post.security = [{ opsKey: [] }]),
    ],
    [
      'a key in another place',
      'security scheme apiKey: scheme bearer became basic',
      (d) => (d.components.securitySchemes.apiKey.scheme = 'basic'),
    ],
    [
      'another path of the servers',
      'server path / removed',
      (d) => (d.servers = [{ url: 'https://gateway.example/v2' }]),
    ],
    [
      'another content type of an answer',
      'GET /v1/tvl 200 application/json: removed',
      ({ paths }) => {
        const { content } = paths['/v1/tvl'].get.responses[200];
        content['text/csv'] = content['application/json'];
        delete content['application/json'];
      },
    ],
    [
      'an answer without content',
      'GET /v1/tvl 200 application/json: removed',
      (d) => delete d.paths['/v1/tvl'].get.responses[200].content,
    ],
    [
      'another form of an answer',
      'Portfolio.closed[]: form 2 added',
      (d) => schemas(d).Portfolio.properties.closed.items.anyOf.push({ type: 'object', properties: {} }),
    ],
    [
      'another named form of an answer',
      'Portfolio.closed[]: form Strategy added',
      (d) => schemas(d).Portfolio.properties.closed.items.anyOf.push({ $ref: '#/components/schemas/Strategy' }),
    ],
    [
      'a narrower value of a query that is described as a whole',
      'DayCandlesQuery.aggregate: ',
      (d) => (schemas(d).DayCandlesQuery.properties.aggregate = { type: 'boolean' }),
    ],
    [
      'a key that every operation needs that names none',
      'GET /v1/tvl: needs a key',
      (d) => {
        d.security = [{ apiKey: [] }];
        delete d.paths['/v1/tvl'].get.security;
      },
    ],
    ['a removed answer', 'GET /v1/tvl 400: removed', (d) => delete d.paths['/v1/tvl'].get.responses[400]],
    [
      'a removed header',
      'GET /v1/tvl 200 header ETag: removed',
      (d) => delete d.paths['/v1/tvl'].get.responses[200].headers.ETag,
    ],
    [
      'another type of a header',
      'GET /v1/tvl 429 header Retry-After: type integer became string',
      (d) => (d.components.headers['Retry-After'].schema.type = 'string'),
    ],
    [
      'a removed body',
      'POST /v1/partner/leverage/build body: removed',
      (d) => delete d.paths['/v1/partner/leverage/build'].post.requestBody,
    ],
    [
      'a removed content type of a body',
      'POST /v1/partner/leverage/build body application/json: removed',
      (d) => (d.paths['/v1/partner/leverage/build'].post.requestBody.content = { 'text/csv': {} }),
    ],
    [
      'a renamed schema',
      'schema Strategy: removed',
      (d) => {
        Object.assign(d, JSON.parse(JSON.stringify(d).replaceAll('schemas/Strategy"', 'schemas/Plan"')));
        schemas(d).Plan = schemas(d).Strategy;
        delete schemas(d).Strategy;
      },
    ],
    [
      'a field of another named schema',
      'EquitySimulateBody.amount: schema none became Tvl',
      (d) => (schemas(d).EquitySimulateBody.properties.amount = { $ref: '#/components/schemas/Tvl' }),
    ],
    [
      'a bound of an input that is no longer included',
      'EquitySimulateBody.slippage: maximum 1000000000 became exclusive',
      (d) => {
        const { slippage } = schemas(d).EquitySimulateBody.properties;
        slippage.exclusiveMaximum = slippage.maximum;
      },
    ],
    [
      'a bound of an answer that is included now',
      'StableApyPoolMetricsApy.avg7d: minimum -100 became inclusive',
      (d) => {
        const { avg7d } = schemas(d).StableApyPoolMetricsApy.properties;
        avg7d.minimum = avg7d.exclusiveMinimum;
        delete avg7d.exclusiveMinimum;
      },
    ],
    [
      'steps of an input',
      'EquitySimulateBody.slippage: multipleOf undefined became 0.001',
      (d) => (schemas(d).EquitySimulateBody.properties.slippage.multipleOf = 0.001),
    ],
    [
      'items of an answer that may be anything',
      'items may be anything',
      (d) => {
        for (const { properties = {} } of Object.values<Json>(schemas(d)))
          for (const field of Object.values<Json>(properties)) if (field.type === 'array') delete field.items;
      },
    ],
  ])('behavior: notices %s', (_what, expected, change) => {
    expect(changesOf(change).join('\n')).toContain(expected);
  });

  test.each<[string, (document: Json) => void]>([
    ['a new path', (d) => (d.paths['/v1/new'] = { get: { responses: {} } })],
    ['a new answer field', (d) => (schemas(d).Strategy.properties.fresh = { type: 'string' })],
    ['a new optional field of a body', (d) => (schemas(d).EquitySimulateBody.properties.memo = { type: 'string' })],
    ['a wider range of a parameter', (d) => (d.paths['/v1/prices/chart'].get.parameters[1].schema.maximum = 730)],
    ['a narrower range of an answer', (d) => (schemas(d).Strategy.properties.supplyUsd.minimum = 1)],
    [
      'a new answer and a new header',
      ({ paths }) => {
        const { responses } = paths['/v1/tvl'].get;
        responses[418] = { description: 'No.' };
        responses[200].headers.More = { schema: { type: 'string' } };
      },
    ],
    [
      'another kind of error and of its details',
      (d) => {
        schemas(d).FreshDetails = { type: 'object', properties: {} };
        schemas(d).BadRequestProblem.properties.details.anyOf.push({ $ref: '#/components/schemas/FreshDetails' });
        const { schema } = d.paths['/v1/prices'].get.responses[503].content['application/json'];
        (schema.oneOf ?? schema.anyOf).push({ $ref: '#/components/schemas/InternalError' });
      },
    ],
    ['another way to a key', (d) => d.paths['/v1/partner/leverage/build'].post.security.push({ opsKey: [] })],
    ['a path without a key', (d) => (d.paths['/v1/partner/leverage/build'].post.security = [])],
    ['another server', (d) => d.servers.push({ url: 'https://gateway.example/v2' })],
    ['a new value of a parameter', (d) => d.paths['/v1/strategies'].get.parameters[0].schema.enum.push(8453)],
  ])('behavior: allows %s', (_what, change) => {
    expect(changesOf(change)).toEqual([]);
  });

  test('behavior: notices a changed discriminator', () => {
    const before = openApi();
    schemas(before).ManageBuildBody.discriminator = { propertyName: 'action' };
    expect(changesOf((d) => delete schemas(d).ManageBuildBody.discriminator, before)).toEqual([
      'ManageBuildBody: discriminator changed',
    ]);
  });

  test('behavior: a deprecated field may be removed from its sunset on', () => {
    const before = openApi();
    const deprecate = (sunset: string) => {
      schemas(before).Strategy.properties.borrowApyPct['x-deprecation'] = { since: '2026-01-01', sunset };
      return changesOf((d) => delete schemas(d).Strategy.properties.borrowApyPct, before);
    };
    expect(deprecate('2026-11-22')).toEqual([]);
    expect(deprecate('2026-11-23')).toEqual(['Strategy.borrowApyPct: removed']);
  });
});

describe('CHANGELOG.md', () => {
  const headings = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$/gm)];
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  test('default: has the version of package.json and every released version, the latest first', () => {
    const [first, ...versions] = headings.map(([, name = '']) => name);
    expect(first).toBe('Unreleased');
    expect(versions).toContain(version);
    expect(versions).toEqual([...versions].sort((a, b) => b.localeCompare(a, 'en', { numeric: true })));
    expect(versions).toEqual(expect.arrayContaining([...releasedVersions()]));
  });

  test('behavior: every version has its date', () => {
    expect(headings.slice(1).map(([, , date]) => date)).toEqual(headings.slice(1).map(() => expect.any(String)));
  });
});
