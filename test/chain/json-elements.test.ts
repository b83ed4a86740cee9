import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJsonElements } from '../../src/chain/rpc/json-elements.ts';

/** Feed a text in pieces of a size, and give the elements as they came. */
function cut(text: string, size: number): readonly string[] {
  const cutter = createJsonElements();
  const elements: string[] = [];
  for (let at = 0; at < text.length; at += size) elements.push(...cutter.push(text.slice(at, at + size)));
  cutter.end();
  return elements;
}

const anyAnswer = fc.record({ id: fc.integer(), result: fc.jsonValue(), note: fc.string({ unit: 'binary' }) });

describe('createJsonElements', () => {
  test('default', () => {
    const text = ' [ {"id":1,"result":"0x"} ,\n{"id":2,"error":{"message":"no } ] \\" here"}}]\n';
    expect(cut(text, 7)).toEqual(['{"id":1,"result":"0x"}', '{"id":2,"error":{"message":"no } ] \\" here"}}']);
  });

  test('behavior: a single object is its own element, and an empty list has none', () => {
    expect(cut('{"id":1,"result":[{},[]]} ', 3)).toEqual(['{"id":1,"result":[{},[]]}']);
    expect(cut('[]', 1)).toEqual([]);
  });

  test('behavior: the same elements wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.array(anyAnswer), fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 2), (list, size, indent) => {
        const elements = cut(JSON.stringify(list, null, indent), size);
        expect(elements.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(list)));
      }),
      { numRuns: 300 },
    );
  });

  test.each(['<html>', '"text"', '[1]', '[{}', '{"a":"', '{} {}', '[{}]{}', ''])(
    'error: SyntaxError for %j',
    (text) => {
      expect(() => cut(text, 2)).toThrow(SyntaxError);
    },
  );
});
