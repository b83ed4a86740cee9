import { expect, test } from 'vitest';
import { joinHeaders } from '../../src/shared/headers.ts';

test('joinHeaders: the last value counts, and Vary adds up', () => {
  const joined = joinHeaders({ a: '1', vary: 'Origin' }, { b: 'a' }, { a: '3', vary: 'authorization' });
  expect(joined).toEqual(['a', '3', 'vary', 'Origin, authorization', 'b', 'a']);
  expect(joinHeaders()).toEqual([]);
});
