import { expect, test } from 'vitest';
import { boundsOf, boundsText, numberIn, rangeWith } from '../../../examples/app/src/link.ts';

test('default: the bounds of a link are those of its request', () => {
  const bounds = boundsOf(new URLSearchParams('amount=5&slippage=0.0057&maxSwapLossPct=1.5&minAmountOut=150.25'));
  expect(bounds).toEqual({ slippage: 0.0057, maxSwapLossPct: 1.5, minAmountOut: '150.25' });
  expect(boundsText(bounds)?.replaceAll('\u00a0', ' ')).toBe(
    'The link asks for a slippage of at most 0.57 %, swaps that lose at most 1.5 %, an output of at least 150.25.',
  );
  expect(boundsOf(new URLSearchParams('amount=5'))).toEqual({});
  expect(boundsText({})).toBeUndefined();
});

test('behavior: a slider has the number of a link among its values', () => {
  const usual = { min: 1.1, max: 10, step: 0.1 };
  expect(rangeWith(2.5, usual)).toEqual(usual);
  expect(rangeWith(2.55, usual)).toEqual({ ...usual, step: 0.01 });
  expect(rangeWith(1.05, usual)).toEqual({ min: 1.05, max: 10, step: 0.01 });
  expect(rangeWith(12, usual)).toEqual({ ...usual, max: 12 });
  expect(rangeWith(71.5, { min: 1, max: 80, step: 0.5 }).step).toBe(0.5);
  expect(rangeWith(71.25, { min: 1, max: 80, step: 0.5 }).step).toBe(0.01);
});

test('behavior: what is no number in a link is left to the form', () => {
  const query = new URLSearchParams('leverage=2.55&a=abc&b=&c=-3&d=Infinity&e=0');
  expect(['leverage', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => numberIn(query, name))).toEqual([
    2.55,
    ...Array(6).fill(undefined),
  ]);
});
