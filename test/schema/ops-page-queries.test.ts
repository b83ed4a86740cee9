import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../src/schema/index.ts';

const QUERIES = new URL('../../console/ops/queries.js', import.meta.url).href;

test('behavior: every query of the ops page is valid', async () => {
  const schema = buildSchema();
  const queries: Record<string, string> = await import(/* @vite-ignore */ QUERIES);
  const faults = Object.entries(queries).flatMap(([name, text]) =>
    validate(schema, parse(text)).map(({ message }) => `${name}: ${message}`),
  );
  expect([Object.keys(queries).length > 5, faults]).toEqual([true, []]);
});
