import { buildSchema, getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createIntrospection } from '../../src/graphql/introspection.ts';

const schema = buildSchema('type Query { "A name." name(first: Int): String }');

describe('createIntrospection', () => {
  test('default: one buffer for the standard query with any whitespace', () => {
    const { find } = createIntrospection(schema);
    const first = find(getIntrospectionQuery());
    expect(first).toBeDefined();
    expect(find(getIntrospectionQuery().replaceAll(/\s+/g, ' '))).toBe(first);
    expect(find('{__schema{types{name}}}')).toBeUndefined();
    expect(find('{__schema')).toBeUndefined();
  });

  test('behavior: forms with other options have their own answers, and the latest eight are kept', () => {
    const { find } = createIntrospection(schema);
    // The description of the schema is left out with all others.
    const all = Array.from({ length: 16 }, (_, bits) =>
      getIntrospectionQuery({
        descriptions: (bits & 1) !== 0,
        specifiedByUrl: (bits & 2) !== 0,
        directiveIsRepeatable: (bits & 4) !== 0,
        schemaDescription: (bits & 8) !== 0,
      }),
    );
    const forms = [...new Set(all)];
    expect(forms).toHaveLength(12);
    const found = forms.map(find);
    expect(String(found[0])).not.toContain('A name.');
    expect(String(found[1])).toContain('A name.');
    expect(found).not.toContain(undefined);
    const again = forms.toReversed().map(find).toReversed();
    expect(again).toEqual(found);
    expect(again.map((bytes, i) => bytes === found[i])).toEqual(forms.map((_, i) => i >= 4));
  });
});
