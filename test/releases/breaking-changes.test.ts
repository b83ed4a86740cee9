import { readFileSync } from 'node:fs';
import { buildSchema, findBreakingChanges } from 'graphql';
import { describe, expect, test } from 'vitest';
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

const graphqlChanges = (schema: string) =>
  findBreakingChanges(buildSchema(released.schema), buildSchema(schema)).map(({ description }) => description);

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
  ])('behavior: notices %s', (_what, expected, change) => {
    expect(changesOf(change).join('\n')).toContain(expected);
  });

  test.each<[string, (document: Json) => void]>([
    ['a new path', (d) => (d.paths['/v1/new'] = { get: { responses: {} } })],
    ['a new answer field', (d) => (schemas(d).Strategy.properties.fresh = { type: 'string' })],
    ['a new optional field of a body', (d) => (schemas(d).EquitySimulateBody.properties.memo = { type: 'string' })],
    ['a wider range of a parameter', (d) => (d.paths['/v1/prices/chart'].get.parameters[1].schema.maximum = 730)],
    ['a narrower range of an answer', (d) => (schemas(d).Strategy.properties.supplyUsd.minimum = 1)],
    ['a new value of a parameter', (d) => d.paths['/v1/strategies'].get.parameters[0].schema.enum.push(8453)],
  ])('behavior: allows %s', (_what, change) => {
    expect(changesOf(change)).toEqual([]);
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
