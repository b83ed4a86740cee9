import fc from 'fast-check';
import { encodeFunctionData, encodeFunctionResult } from 'viem';
import { describe, expect, test } from 'vitest';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { multicall3Abi } from '../../src/abi/multicall3.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { planBorrowRates, planStoredState } from '../../src/chain/plans/lending-state.ts';
import { decodeAggregate, encodeAggregate, wordAt } from '../../src/chain/words.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { runAtOnce } from '../../src/shared/slices.ts';

const bytes = fc.uint8Array({ maxLength: 100 }).map((data) => `0x${Buffer.from(data).toString('hex')}` as Hex);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((data) => `0x${Buffer.from(data).toString('hex')}` as Address);
const markets = createCatalog(curatedChains).chains.flatMap((chain) => chain.markets);

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

describe('wordAt', () => {
  test('error: RangeError behind the end', () => {
    expect(wordAt(`0x${'0'.repeat(63)}1`, 0)).toBe(1n);
    expect(() => wordAt(`0x${'0'.repeat(63)}`, 0)).toThrow(RangeError);
  });
});

describe('plans', () => {
  test('default: what the general encoder writes', () => {
    const morphoBlue = '0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb' as Address;
    const stored = runAtOnce(planStoredState(morphoBlue, markets));
    const totals = {
      totalSupplyAssets: 10n ** 30n,
      totalSupplyShares: 2n,
      totalBorrowAssets: 3n,
      totalBorrowShares: 4n,
      lastUpdate: 1_700_000_000n,
      fee: 0n,
    };
    const rates = runAtOnce(planBorrowRates(markets.map((market) => ({ market, totals, rateAtTarget: 1n }))));
    for (const [i, { id, loan, collateral, oracle, irm, lltv }] of markets.entries()) {
      const params = { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
      expect([stored[i]?.data, stored[markets.length + i]?.data, rates[i]?.data]).toEqual([
        encodeFunctionData({ abi: morphoBlueAbi, functionName: 'market', args: [id] }),
        encodeFunctionData({ abi: irmAbi, functionName: 'rateAtTarget', args: [id] }),
        encodeFunctionData({ abi: irmAbi, functionName: 'borrowRateView', args: [params, totals] }),
      ]);
    }
  });
});
