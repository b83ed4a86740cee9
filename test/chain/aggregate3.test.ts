import fc from 'fast-check';
import { concat, encodeFunctionData, encodeFunctionResult, type Hex, numberToHex, pad } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeAggregate3, encodeAggregate3 } from '../../src/abi/aggregate3.ts';
import { multicall3Abi } from '../../src/abi/multicall3.ts';
import { addressAt, uintAt } from '../../src/abi/words.ts';
import type { Address } from '../../src/shared/ids.ts';

const ADDRESS: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const hex = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const calls = fc.array(fc.record({ to: fc.constantFrom(ADDRESS, pad('0x1', { size: 20 })), data: hex(100) }));
const results = fc.array(fc.record({ success: fc.boolean(), returnData: hex(100) }));
const SEEDED = { seed: 42, numRuns: 200 };

const answerTo = (result: readonly { readonly success: boolean; readonly returnData: Hex }[]) =>
  encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });

describe('encodeAggregate3', () => {
  test('default: gives the calldata of viem', () => {
    fc.assert(
      fc.property(calls, (made) => {
        const args = made.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
        expect(encodeAggregate3(made)).toBe(
          encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [args] }),
        );
      }),
      SEEDED,
    );
  });
});

describe('decodeAggregate3', () => {
  test('default: gives the results that viem encoded, in either case of the digits', () => {
    fc.assert(
      fc.property(results, (result) => {
        const answer = answerTo(result);
        expect(decodeAggregate3(answer, result.length)).toEqual(result);
        const capital = `0x${answer.slice(2).toUpperCase()}` as const;
        expect(decodeAggregate3(capital, result.length)).toEqual(result);
      }),
      SEEDED,
    );
  });

  const words = (...values: readonly (bigint | number)[]) =>
    concat(values.map((value) => numberToHex(value, { size: 32 })));
  test.each<[string, Hex]>([
    ['that is empty', '0x'],
    ['without a list', words(32)],
    ['whose list is behind its end', words(2n ** 255n, 1)],
    ['with fewer results', words(32, 0)],
    ['with more results', words(32, 2, 64, 64, 1, 64, 0)],
    ['with a number of results that no memory holds', words(32, 2n ** 64n)],
    ['whose result is behind its end', words(32, 1, 2n ** 200n)],
    ['whose result is cut', words(32, 1, 32, 1)],
    ['with a result of another flag', words(32, 1, 32, 2, 64, 0)],
    ['whose bytes are behind its end', words(32, 1, 32, 1, 2n ** 53n)],
    ['with more bytes than there are', words(32, 1, 32, 1, 64, 1)],
    ['with bytes of an impossible length', words(32, 1, 32, 1, 64, 2n ** 256n - 1n)],
    ['with other digits', `${words(32, 1, 32, 1, 64, 31)}${'zz'.repeat(31)}`],
  ])('error: an answer %s', (_what, answer) => {
    expect(() => decodeAggregate3(answer, 1)).toThrow(RangeError);
  });

  test('behavior: every cut of an answer is refused, or leaves out only the padding', () => {
    const result = [{ success: true, returnData: '0x1234' as const }];
    const answer = answerTo(result);
    for (let length = 2; length < answer.length; length += 1) {
      let found: unknown;
      try {
        found = decodeAggregate3(answer.slice(0, length) as Hex, 1);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        continue;
      }
      expect(found).toEqual(result);
    }
  });
});

describe('words', () => {
  test('default: by their index', () => {
    const data = concat([numberToHex(2n ** 256n - 1n), pad(ADDRESS), numberToHex(7, { size: 32 })]);
    expect([uintAt(data, 0), addressAt(data, 1), uintAt(data, 2)]).toEqual([2n ** 256n - 1n, ADDRESS, 7n]);
  });

  test('error: a word that is not there, or is none', () => {
    expect(() => uintAt('0x', 0)).toThrow();
    expect(() => addressAt('0x', 0)).toThrow();
    expect(() => uintAt(`0x${'zz'.repeat(32)}`, 0)).toThrow(SyntaxError);
  });
});
