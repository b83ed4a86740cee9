import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import * as queries from '../../src/http/pages/ops-page/queries.js';
import { buildSchema } from '../../src/schema/index.ts';

test('behavior: every query of the ops page is valid', () => {
  const schema = buildSchema();
  const faults = Object.entries(queries).flatMap(([name, text]) =>
    validate(schema, parse(String(text))).map(({ message }) => `${name}: ${message}`),
  );
  expect(faults).toEqual([]);
});
