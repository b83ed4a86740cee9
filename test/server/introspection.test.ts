import { buildSchema, getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createIntrospection } from '../../src/server/introspection.ts';

const schema = buildSchema('type Query { "A name." name(first: Int): String }');

describe('createIntrospection', () => {
  test('default: one buffer for the standard query, however it is spaced', () => {
    const { find } = createIntrospection(schema);
    const first = find(getIntrospectionQuery());
    expect(first).toBeDefined();
    expect(find(getIntrospectionQuery().replaceAll(/\s+/g, ' '))).toBe(first);
    expect(find('{__schema{types{name}}}')).toBeUndefined();
    expect(find('{__schema')).toBeUndefined();
  });

  test('behavior: forms with other options have answers of their own, and no more than eight are kept', () => {
    const { find } = createIntrospection(schema);
    const forms = Array.from({ length: 16 }, (_, bits) =>
      getIntrospectionQuery({
        descriptions: (bits & 1) !== 0,
        specifiedByUrl: (bits & 2) !== 0,
        directiveIsRepeatable: (bits & 4) !== 0,
        schemaDescription: (bits & 8) !== 0,
      }),
    );
    const found = forms.map(find);
    expect(String(found[0])).not.toContain('A name.');
    expect(String(found[1])).toContain('A name.');
    // The others are executed, at the cost of what they answer.
    expect(found).toContain(undefined);
    expect(new Set(found.filter((bytes) => bytes !== undefined))).toHaveLength(8);
    expect(forms.map(find)).toEqual(found);
  });
});
