import fc from 'fast-check';
import { encodeFunctionData, encodeFunctionResult } from 'viem';
import { describe, expect, test } from 'vitest';
import { multicall3Abi } from '../../src/abi/multicall3.ts';
import { decodeAggregate, encodeAggregate } from '../../src/chain/lens/words.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';

const bytes = fc.uint8Array({ maxLength: 100 }).map((data) => `0x${Buffer.from(data).toString('hex')}` as Hex);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((data) => `0x${Buffer.from(data).toString('hex')}` as Address);

describe('encodeAggregate', () => {
  test('default: what the general encoder writes', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ to: address, data: bytes }), { maxLength: 6 }), (calls) => {
        const args = [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))] as const;
        const expected = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args });
        expect(encodeAggregate(calls)).toBe(expected);
      }),
    );
  });
});

describe('decodeAggregate', () => {
  const rows = fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 6 });
  const encoded = (result: readonly { success: boolean; returnData: Hex }[]) =>
    encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });

  test('default: what the general encoder wrote', () => {
    fc.assert(
      fc.property(rows, (result) => {
        const expected = result.map(({ success, returnData }) => (success ? returnData : null));
        expect(decodeAggregate(encoded(result))).toEqual(expected);
      }),
    );
  });

  test('error: anything cut short is refused, and nothing is read behind the end', () => {
    fc.assert(
      fc.property(rows, fc.nat(), (result, at) => {
        const text = encoded(result);
        const cut = text.slice(0, 2 + (at % (text.length - 2))) as Hex;
        const whole = decodeAggregate(text);
        // What is cut off the padding of the last bytes is nothing.
        try {
          expect(decodeAggregate(cut)).toEqual(whole);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  test.each(['0x', '0xzz', `0x${'f'.repeat(64)}`, `0x${'0'.repeat(62)}20${'f'.repeat(64)}`] as Hex[])(
    'error: %s',
    (data) => {
      expect(() => decodeAggregate(data)).toThrow(RangeError);
    },
  );
});
