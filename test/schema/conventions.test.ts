import { buildSchema as fromSdl } from 'graphql';
import { describe, expect, test } from 'vitest';
import { buildSchema } from '../../src/schema/index.ts';
import { lint } from './lint/rules.ts';

test('behavior: the schema keeps its conventions', () => {
  const faults = lint(buildSchema()).map(({ coordinate, rule, message }) => `${coordinate} ${rule}: ${message}`);
  expect(faults).toEqual([]);
});

describe('lint', () => {
  /** Of every field that some rule is shown with, only the faults that the rule is about. */
  const faultsIn = (sdl: string, name: string) =>
    lint(fromSdl(sdl))
      .filter(({ rule }) => rule !== 'description' && rule !== 'unused' && (rule !== 'absence' || name === 'absence'))
      .map(({ coordinate, rule }) => `${coordinate} ${rule}`);

  test.each<[string, string, string[]]>([
    [
      'casing',
      'enum kind { SMALL_ok aB } type Query { Up: Int }',
      ['kind casing', 'kind.SMALL_ok casing', 'kind.aB casing', 'Query.Up casing'],
    ],
    [
      'units',
      'scalar DateTime scalar Decimal type A { pct: Int ageSec: Decimal start: DateTime startsAt: DateTime }',
      ['A.pct units', 'A.ageSec units', 'A.start units'],
    ],
    [
      'identity',
      'interface Node { id: ID! } type A { id: ID! } type B { id: Int } type C implements Node { id: ID! }',
      ['A.id identity', 'B.id identity'],
    ],
    [
      'units in words',
      `type A { """Percent.""" aPct: Decimal "A part." bPct: Decimal "USD." cUsd: Decimal "${'x'.repeat(321)}" d: Int } scalar Decimal`,
      ['A.bPct spoken', 'A.d spoken'],
    ],
    [
      'identity of arguments',
      'scalar MarketId type Query { node(id: ID!): Int a(id: String!): Int b(id: MarketId!, marketId: MarketId, position: Int, positionIndex: Int, strategyIds: [String]): Int }',
      [
        'Query.a(id) identity',
        'Query.b(position) identity',
        'Query.b(positionIndex) identity',
        'Query.b(strategyIds) identity',
      ],
    ],
    [
      'connections',
      'type AConnection { edges: Int nodes: Int pageInfo: Int } type B { a(first: Int = 5, after: String): AConnection pages(first: Int): Int }',
      ['AConnection connectionShape', 'B.a connections', 'B.a connections', 'B.a connections', 'B.pages connections'],
    ],
    [
      'nullable roots',
      'type Query { a: Int! b: Int ops: Ops } type Ops { c: Int! }',
      ['Query.a nullableRoots', 'Ops.c nullableRoots'],
    ],
    [
      'bounds',
      'type A { "All of them." a: [Int] "At most 5." b: [Int] "At most one per wallet." c: [Int] "At most a handful." d: [Int] }',
      ['A.a bounds', 'A.c bounds', 'A.d bounds'],
    ],
    [
      'absence',
      `interface B { gaps: Int! } type A { "\`null\` when new." a: Int b: Int "\`null\` = new." c: Int "\`null\` = no." d: Int! }
       type C implements B { gaps: Int! a: Int } "See \`gaps\` of C." type D { a: Int }`,
      ['A.a absence', 'A.b absence', 'A.d absence'],
    ],
    ['chains', 'type A { a(chainId: Int = 1): Int }', ['A.a(chainId) chains']],
    ['enums', 'type A { kind: String other: String }', ['A.kind enums']],
    [
      'meanings',
      'type A { b: Int } type B { b: A } type C { b: Int positionId: Int } type D { positionId: String }',
      ['B.b meanings', 'C.positionId meanings', 'D.positionId meanings'],
    ],
  ])('behavior: sees %s', (name, sdl, faults) => {
    expect(faultsIn(sdl, name)).toEqual(faults);
  });

  test('behavior: sees a type that nothing refers to', () => {
    const sdl =
      'type Query { a: A u: U } type A implements I { b(e: E): Int } enum E { X } interface I { b: Int } union U = C type C { d: D } scalar D scalar F enum G { Y } type H { h: H2 } type H2 { x: Int }';
    const idle = lint(fromSdl(sdl)).filter(({ rule }) => rule === 'unused');
    expect(idle.map(({ coordinate }) => coordinate)).toEqual(['F', 'G', 'H']);
  });
});
