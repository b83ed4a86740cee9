import { buildSchema, type GraphQLEnumType, GraphQLSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createEnumValues } from '../../src/graphql/enum-values.ts';

const built = buildSchema(`
  enum Kind { LOOP VAULT }
  enum Same { A B }
  input Order { kind: Kind, kinds: [Kind!], order: Order }
  interface Thing { kind: Kind! }
  type Loop implements Thing { kind: Kind!, same: Same, others: [Thing] }
  type Vault implements Thing { kind: Kind!, kinds: [[Kind]] }
  type Query { thing(order: Order, kind: Kind, first: Int): Thing, text: String }
`);
const kind = built.getType('Kind') as GraphQLEnumType;
for (const value of kind.getValues()) value.value = value.name === 'LOOP' ? 'loop' : 'stock-vault';
const schema = new GraphQLSchema(built.toConfig());

const document = parse(`
  query($order: Order, $kind: Kind, $first: Int) {
    thing(order: $order, kind: $kind, first: $first) {
      ...Parts
      ... on Vault { all: kinds }
    }
    text
  }
  fragment Parts on Thing { what: kind ... on Loop { same others { kind } } }
`);

describe('createEnumValues', () => {
  const enums = createEnumValues(schema, document);

  test('default: enum names in an answer become their internal values, under any alias and at any depth', () => {
    expect(
      enums.valued({
        thing: { what: 'VAULT', all: [['LOOP', null], null], same: 'A', others: [{ kind: 'LOOP' }, null] },
        text: 'LOOP',
      }),
    ).toEqual({
      thing: { what: 'stock-vault', all: [['loop', null], null], same: 'A', others: [{ kind: 'loop' }, null] },
      text: 'LOOP',
    });
    expect(enums.valued(null)).toBeNull();
    expect(enums.valued({ thing: null, text: null })).toEqual({ thing: null, text: null });
  });

  test('behavior: values in variables become names, in lists and objects too; others are left as they are', () => {
    const order = { kind: 'stock-vault', kinds: ['loop', 'nonsense'], order: { kind: null }, more: 1 };
    expect(enums.named({ order, kind: 'loop', first: 3, unknown: 'loop' })).toEqual({
      order: { kind: 'VAULT', kinds: ['LOOP', 'nonsense'], order: { kind: null }, more: 1 },
      kind: 'LOOP',
      first: 3,
      unknown: 'loop',
    });
  });

  test('behavior: the data itself is left as it is', () => {
    const data = Object.freeze({ thing: Object.freeze({ what: 'LOOP' }), text: null });
    expect(enums.valued(data)).toEqual({ thing: { what: 'loop' }, text: null });
    expect(data.thing.what).toBe('LOOP');
  });
});
