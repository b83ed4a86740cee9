import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json } from '../support/service.ts';
import { contractDifferences } from './differences.ts';

const text = readFileSync('openapi.json', 'utf8');

describe(contractDifferences, () => {
  // Every answer of the frozen answers is valid for openapi.json, so the document speaks for the service.
  test('default: openapi.json has the whole interface document', () => {
    expect(contractDifferences(JSON.parse(text))).toEqual([]);
  });

  const schemas = (document: Json) => document.components.schemas;
  const bodyOf = (document: Json, name: string) => schemas(document)[name].properties;
  test.each<[string, string, (document: Json) => void]>([
    ['a row that is gone', 'get /v1/tvl: missing', (d) => delete d.paths['/v1/tvl']],
    ['a key that is needed', 'get /v1/tvl: security', (d) => (d.paths['/v1/tvl'].get.security = [{ apiKey: [] }])],
    [
      'a field that is gone',
      'get /v1/strategies.strategies[].maxLeverage: missing',
      (d) => delete bodyOf(d, 'Strategy').maxLeverage,
    ],
    [
      'a field that may be absent',
      'get /v1/tvl.stale: may be absent',
      (d) => (schemas(d).Tvl.required = schemas(d).Tvl.required.filter((name: string) => name !== 'stale')),
    ],
    [
      'another type',
      'get /v1/strategies.strategies[].maxLeverage: number instead of decimal',
      (d) => (bodyOf(d, 'Strategy').maxLeverage = { type: 'number' }),
    ],
    [
      'null where there was none',
      'get /v1/strategies.strategies[].borrowApyPct: null instead of decimal',
      (d) => (bodyOf(d, 'Strategy').borrowApyPct = { anyOf: [bodyOf(d, 'Strategy').borrowApyPct, { type: 'null' }] }),
    ],
    [
      'a value that is gone',
      'get /v1/strategies.strategies[].collateralApySource: no value onchain',
      (d) => (bodyOf(d, 'Strategy').collateralApySource.enum = ['yieldmarket', 'none']),
    ],
    [
      'another time',
      'get /v1/strategies.strategies[].freshness.borrow.asOf: integer instead of date-time',
      (d) => (bodyOf(d, 'Freshness').asOf = { type: 'integer' }),
    ],
    [
      'a parameter that is narrower',
      'get /v1/strategies chainId: 4663 is refused',
      (d) => (d.paths['/v1/strategies'].get.parameters[0].schema = { const: 1 }),
    ],
    [
      'a new required parameter',
      'get /v1/tvl window: new and required',
      (d) => (d.paths['/v1/tvl'].get.parameters = [{ name: 'window', required: true, schema: {} }]),
    ],
    [
      'another default',
      'get /v1/prices/chart days: default',
      (d) => {
        for (const each of d.paths['/v1/prices/chart'].get.parameters)
          if (each.name === 'days') each.schema.default = 30;
      },
    ],
    [
      'a pattern that is narrower',
      '/v1/partner/equity/simulate: {"strategyId":',
      (d) => (bodyOf(d, 'EquitySimulateBody').strategyId.pattern = '^0x[0-9a-f]{64}$'),
    ],
    [
      'a new required field of a body',
      'post /v1/partner/equity/exit/build: {"strategyId":',
      (d) => schemas(d).EquityExitBuildBody.required.push('slippage'),
    ],
    [
      'a field of a body that is no longer required',
      'post /v1/partner/equity/exit/build: userAddress is not required',
      (d) => (schemas(d).EquityExitBuildBody.required = ['strategyId']),
    ],
    [
      'an action that is gone',
      '"action":"borrow"',
      (d) => (schemas(d).ManageBuildBody.oneOf = schemas(d).ManageBuildBody.oneOf.slice(0, -1)),
    ],
    [
      'an error without its envelope',
      'post /v1/partner/leverage/build 401.error: missing',
      (d) => (schemas(d).UnauthorizedError = { type: 'object', properties: {} }),
    ],
  ])('behavior: notices %s', (_what, difference, change) => {
    const document = JSON.parse(text);
    change(document);
    expect(contractDifferences(document).join('\n')).toContain(difference);
  });
});
