import { parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { PORTFOLIOS, WALLETS } from '../../bench/partner-rows.ts';
import { PAGE } from '../../bench/rows.ts';
import { buildSchema } from '../../src/schema/index.ts';

describe('queries of the benchmarks', () => {
  it.each(Object.entries({ PAGE, WALLETS, PORTFOLIOS }))('default: %s fits the schema', (_name, query) => {
    expect(validate(buildSchema(), parse(query))).toEqual([]);
  });
});
