import { type DocumentNode, getOperationAST, getVariableValues, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { PORTFOLIOS, SCREEN, WALLETS } from '../../bench/partner-rows.ts';
import { PAGE, rowsOf } from '../../bench/rows.ts';
import { buildSchema } from '../../src/schema/index.ts';

const schema = buildSchema();

describe('queries of the benchmarks', () => {
  it.each(Object.entries({ PAGE, WALLETS, SCREEN, PORTFOLIOS }))('default: %s fits the schema', (_name, query) => {
    expect(validate(schema, parse(query))).toEqual([]);
  });

  const bodies = rowsOf({ strategyId: '', etag: '' }).flatMap(({ name, shot }) => {
    const { query, variables } = JSON.parse(shot.body?.() ?? '{}') as { query?: string; variables?: object };
    return query === undefined ? [] : [{ name, document: parse(query), variables }];
  });
  it.each(bodies)('default: the variables of $name fit the schema', ({ document, variables }) => {
    const definitions = getOperationAST(document as DocumentNode)?.variableDefinitions ?? [];
    expect(getVariableValues(schema, definitions, { ...variables }).errors).toBeUndefined();
  });
});
