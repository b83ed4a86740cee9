import fc from 'fast-check';
import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { measureShape, type Shape } from '../../src/limits/query-shape.ts';

const shapeOf = (text: string) => measureShape(parse(text));

describe('measureShape', () => {
  test('default', () => {
    expect(shapeOf('{a b:a c{d @skip(if:true) e:__typename}}')).toEqual({
      depth: 2,
      fields: 5,
      aliases: 2,
      directives: 1,
    });
  });

  test('behavior: fragments count at each spread, and once without one', () => {
    const fragment = 'fragment F on Query{a b:a @x}';
    expect(shapeOf(`{...F ...F @y c{...F}} ${fragment}`)).toEqual({ depth: 2, fields: 7, aliases: 3, directives: 4 });
    expect(shapeOf(`{a} ${fragment}`)).toEqual({ depth: 1, fields: 3, aliases: 1, directives: 1 });
  });

  test('behavior: all operations of a document count', () => {
    expect(shapeOf('query A{a} query B @x{b{c}}')).toEqual({ depth: 2, fields: 3, aliases: 0, directives: 1 });
  });

  test('behavior: cycles end', () => {
    expect(shapeOf('{...A} fragment A on Query{a{...B}} fragment B on Query{b{...A}}').fields).toBe(2);
  });

  test('behavior: measures a thousand doublings as fast as one, above every limit', () => {
    const fragments = Array.from({ length: 1_100 }, (_, i) => `fragment F${i} on Query{...F${i + 1} ...F${i + 1}}`);
    expect(shapeOf(`{...F0} ${fragments.join(' ')} fragment F1100 on Query{a}`).fields).toBe(Number.POSITIVE_INFINITY);
  });

  /** A random document as a tree: its expanded size is counted on the tree, without fragments. */
  interface Node {
    readonly alias: boolean;
    readonly directives: number;
    readonly as: 'field' | 'inline' | 'fragment';
    readonly children: readonly Node[];
  }
  const { node } = fc.letrec<{ node: Node; leaf: Node }>((tie) => ({
    leaf: fc.record({
      alias: fc.boolean(),
      directives: fc.nat(2),
      as: fc.constant('field' as const),
      children: fc.constant([]),
    }),
    node: fc.oneof(
      { maxDepth: 4 },
      tie('leaf'),
      fc.record({
        alias: fc.boolean(),
        directives: fc.nat(2),
        as: fc.constantFrom('field' as const, 'inline' as const, 'fragment' as const),
        children: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      }),
    ),
  }));

  test('behavior: equals a count of the expanded document', () => {
    fc.assert(
      fc.property(fc.array(node, { minLength: 1, maxLength: 4 }), (roots) => {
        const fragments: string[] = [];
        const write = (nodes: readonly Node[]): string => `{${nodes.map(one).join(' ')}}`;
        const one = ({ alias, directives, as, children }: Node): string => {
          const marks = ' @d'.repeat(directives);
          if (as === 'field') return `${alias ? 'x:' : ''}f${marks}${children.length === 0 ? '' : write(children)}`;
          if (as === 'inline') return `... on Query${marks}${write(children)}`;
          const name = `F${fragments.length}`;
          fragments.push('');
          fragments[Number(name.slice(1))] = `fragment ${name} on Query${write(children)}`;
          return `...${name}${marks}`;
        };
        const count = (nodes: readonly Node[]): Shape =>
          nodes.reduce<Shape>(
            (sum, { alias, directives, as, children }) => {
              const below = count(children);
              const isField = as === 'field' ? 1 : 0;
              return {
                depth: Math.max(sum.depth, below.depth + isField),
                fields: sum.fields + below.fields + isField,
                aliases: sum.aliases + below.aliases + (alias && isField ? 1 : 0),
                directives: sum.directives + below.directives + directives,
              };
            },
            { depth: 0, fields: 0, aliases: 0, directives: 0 },
          );
        const text = write(roots);
        expect(shapeOf(`${text} ${fragments.join(' ')}`)).toEqual(count(roots));
      }),
      { numRuns: 300 },
    );
  });
});
