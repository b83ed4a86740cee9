import { describe, expect, test } from 'vitest';
import { breakingGraphqlChanges } from '../../scripts/releases/graphql-changes.ts';

describe('kinds of changes of a GraphQL schema', () => {
  const query = 'type Query { a: Int }';
  const field = (args: string) => `type Query { a${args}: Int }`;
  const input = (fields: string, more = '') => `input I ${more} { ${fields} } type Query { a(i: I): Int }`;
  const directive = (args: string, rest = 'on FIELD') => `directive @d${args} ${rest} ${query}`;
  const answer = (type: string) => `type Query { a: ${type} }`;
  const union = (members: string) =>
    `interface Refusal { b: Int } type R implements Refusal { b: Int } type S implements Refusal { b: Int }
     type T { b: Int } type V { b: Int } union U = ${members} type Query { a: U }`;
  const roots = (more: string) => `schema { query: Query ${more} } type Mutation { b: Int } ${query}`;
  const scalar = (url: string) => `scalar D @specifiedBy(url: "${url}") type Query { a: D }`;

  test.each<readonly [string, string, string, string | null]>([
    ['a default of an argument where there was none', field('(n: Int)'), field('(n: Int = 1)'), 'none to 1'],
    ['another default of an argument', field('(n: Int = 1)'), field('(n: Int = 2)'), 'from 1 to 2'],
    ['a default of an argument that is gone', field('(n: Int = 1)'), field('(n: Int)'), 'from 1 to none'],
    ['an argument', field(''), field('(n: Int)'), null],
    ['an argument with a default', field(''), field('(n: Int = 1)'), null],
    ['a required argument', field(''), field('(n: Int!)'), 'required arg n'],
    ['an argument that is gone', field('(n: Int)'), field(''), 'n was removed'],
    ['an argument that has to be there', field('(n: Int)'), field('(n: Int!)'), 'from Int to Int!'],
    ['an argument that may be absent', field('(n: Int!)'), field('(n: Int)'), null],
    ['a default of an input field where there was none', input('n: Int'), input('n: Int = 1'), 'I.n has changed'],
    ['a required input field', input('n: Int'), input('n: Int m: Int!'), 'required field m'],
    ['an input field', input('n: Int'), input('n: Int m: Int'), null],
    ['an input field that is gone', input('n: Int m: Int'), input('n: Int'), 'I.m was removed'],
    ['one field only', input('n: Int m: Int'), input('n: Int m: Int', '@oneOf'), 'I allows one field only'],
    ['several fields', input('n: Int m: Int', '@oneOf'), input('n: Int m: Int'), null],
    ['a directive that is gone', directive(''), query, 'd was removed'],
    ['a place of a directive', directive('', 'on FIELD | QUERY'), directive(''), 'QUERY was removed'],
    ['a directive that may stand once', directive('', 'repeatable on FIELD'), directive(''), 'Repeatable flag'],
    ['an argument of a directive', directive(''), directive('(n: Int)'), null],
    ['a required argument of a directive', directive(''), directive('(n: Int!)'), 'required arg n'],
    ['an argument of a directive that is gone', directive('(n: Int)'), directive(''), 'n was removed'],
    ['another type of one', directive('(n: Int)'), directive('(n: String)'), '@d argument n has changed its type'],
    ['one that has to be there', directive('(n: Int)'), directive('(n: Int!)'), 'from Int to Int!'],
    ['one that may be absent', directive('(n: Int!)'), directive('(n: Int)'), null],
    ['a list for one', directive('(n: Int)'), directive('(n: [Int])'), null],
    ['one for a list', directive('(n: [Int])'), directive('(n: Int)'), 'from [Int] to Int'],
    ['a default of one where there was none', directive('(n: Int)'), directive('(n: Int = 1)'), '@d argument n has'],
    ['another default of one', directive('(n: Int = 1)'), directive('(n: Int = 2)'), 'from 1 to 2'],
    ['another type of an answer', answer('Int'), answer('String'), 'from Int to String'],
    ['an answer that may be null', answer('Int!'), answer('Int'), 'from Int! to Int'],
    ['an answer that is never null', answer('Int'), answer('Int!'), null],
    ['a field', query, 'type Query { a: Int b: Int }', null],
    ['a field that is gone', 'type Query { a: Int b: Int }', query, 'b was removed'],
    ['a member of a union', union('T'), union('T | V'), 'V was added to the union U'],
    ['a refusal in a union without any', union('T'), union('T | R'), 'R was added to the union U'],
    ['a kind of refusal', union('T | R'), union('T | R | S'), null],
    ['a member that is gone', union('T | V'), union('T'), 'V was removed'],
    ['a value of an enumeration', `enum E { A } ${answer('E')}`, `enum E { A B } ${answer('E')}`, null],
    ['a value that is gone', `enum E { A B } ${answer('E')}`, `enum E { A } ${answer('E')}`, 'B was removed'],
    [
      'an interface that is gone',
      'interface N { a: Int } type Query implements N { a: Int }',
      `interface N { a: Int } ${query}`,
      'Query no longer implements interface N',
    ],
    [
      'another kind of type',
      'scalar X type Query { a: X }',
      'enum X { A } type Query { a: X }',
      'Scalar type to an Enum',
    ],
    [
      'an operation that is gone',
      roots('mutation: Mutation'),
      roots(''),
      'The type of mutation was Mutation and is none',
    ],
    ['an operation', roots(''), roots('mutation: Mutation'), null],
    ['another form of a scalar', scalar('http://a'), scalar('http://b'), 'D has changed its specification'],
  ])('behavior: %s', (_what, before, after, expected) => {
    const report = breakingGraphqlChanges(before, after).join('\n');
    if (expected === null) expect(report).toBe('');
    else expect(report).toContain(expected);
  });
});
