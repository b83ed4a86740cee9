import {
  GraphQLBoolean,
  type GraphQLField,
  GraphQLInt,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { costlyVariables } from '../../src/limits/query-cost.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { WORK_COSTS } from '../../src/shared/contract/work-costs.ts';

type Complexity = (args: object, context: object, field: GraphQLField<unknown, unknown>) => unknown;

/** Every field whose cost is computed from its arguments. */
const computed = Object.values(buildSchema().getTypeMap())
  .filter(isObjectType)
  .flatMap((type) => Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field })))
  .filter(({ field }) => typeof field.extensions.complexity === 'function');

describe('costlyVariables', () => {
  test('default: the names of integers, booleans, lists, chains and filters with chains', () => {
    const document = parse(
      'query A($a: Int, $b: Boolean!, $c: String, $d: Filter) { x } query B($e: [Int!]!, $f: [ID], $a: Int!, $g: ChainId, $h: StrategyFilter!) { x }',
    );
    expect(costlyVariables(document)).toEqual(['a', 'b', 'e', 'f', 'g', 'h']);
  });

  test.each(computed)(
    'behavior: the cost of $name reads only integers, booleans, lists and the filter',
    ({ field }) => {
      const read: string[] = [];
      const args = new Proxy({} as Record<string, unknown>, {
        get: (_target, name) => {
          read.push(String(name));
          return 1;
        },
      });
      (field.extensions.complexity as Complexity)(args, {}, field);
      for (const name of read) {
        const argument = field.args.find((one) => one.name === name);
        const type = argument && getNullableType(argument.type);
        const isFilter = isInputObjectType(type) && type.name === 'StrategyFilter';
        expect(isListType(type) || type === GraphQLInt || type === GraphQLBoolean || isFilter, name).toBe(true);
      }
      // Of a field with work the cost is fixed; that of `marketSeries` is the one of `series`.
      if (!Object.hasOwn(WORK_COSTS, field.name) && field.name !== 'marketSeries')
        expect(read.length).toBeGreaterThan(0);
    },
  );
});
