import { describe, expect, test } from 'vitest';
import type { Address } from '../../src/shared/ids.ts';
import { costBasis, equityValueOf, pricedCosts, reallocationFees } from '../../src/transactions/preview/costs.ts';
import { liquidationOf } from '../../src/transactions/preview/economics.ts';
import { ltvPctOf } from '../../src/transactions/preview/ltv.ts';
import { borrowApyChange } from '../../src/transactions/preview/rates.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { tokenOn, USER, whole } from './model/scene.ts';
import { before, chain, collateral, d, liveOf, loan, market, PRICE } from './susde-position.ts';

describe('a position at an oracle price', () => {
  test.each([
    [0n, 0n, undefined],
    [0n, 5n, undefined],
    [10n ** 18n, 0n, undefined],
    [1n, 1n, 'known'],
  ])('behavior: %s of collateral with a debt of %s can be liquidated: %s', (held, debt, expected) => {
    expect(liquidationOf(market, { collateral: held, debt }, PRICE) && 'known').toBe(expected);
  });

  test('behavior: its LTV is unknown where it has debt and no value, and zero without both', () => {
    expect(ltvPctOf({ collateral: 0n, debt: 1n }, PRICE)).toBeUndefined();
    expect(ltvPctOf({ collateral: 0n, debt: 0n }, PRICE)?.toFixed()).toBe('0');
    expect([equityValueOf(before.loop, PRICE), equityValueOf({ collateral: 0n, debt: 7n }, PRICE)]).toEqual([
      whole(2_560, loan),
      -7n,
    ]);
  });
});

describe('the borrow rate', () => {
  const rate = (debt: bigint, moved = 0n) => borrowApyChange(liveOf(1_000n, 900n), debt, moved);

  test('behavior: the smallest borrow, repayment and move of liquidity count', () => {
    const { before: now, after } = rate(1n);
    expect(after.gt(now)).toBe(true);
    expect(rate(-1n).after.lt(now)).toBe(true);
    expect(rate(0n, 1n).after.lt(now)).toBe(true);
    expect(rate(0n).after.eq(now)).toBe(true);
  });
});

describe('costs', () => {
  const usdOf = (prices: Readonly<Record<string, string>>) => (address: Address) => {
    const symbol = chain.tokens.find((token) => token.address === address)?.symbol ?? '';
    return prices[symbol] === undefined ? undefined : d(prices[symbol]);
  };
  const eth = tokenOn(1, 'ETH');
  const fee = { kind: 'REALLOCATION_FEE', token: eth, amount: d('0.5') } as const;
  const own = { kind: 'YIELD_FEE', token: collateral, amount: d(2), valueInLoan: d(3) } as const;
  const priced = (
    items: Parameters<typeof pricedCosts>[0]['items'],
    prices: Readonly<Record<string, string>>,
    equity = 100,
  ) =>
    pricedCosts({ items, equity: d(equity) }, usdOf(prices), loan.address).map(({ usd, pctOfEquity }) => [
      usd?.toFixed(),
      pctOfEquity?.toFixed(),
    ]);

  test.each([
    ['with both prices', { ETH: '2000', PYUSD: '0.5' }, ['1000', '2000'], ['1.5', '3']],
    ['without the price of the native token', { PYUSD: '0.5' }, [undefined, undefined], ['1.5', '3']],
    ['without the price of the loan token', { ETH: '2000' }, ['1000', undefined], [undefined, '3']],
    ['with a loan token that is worth nothing', { ETH: '2000', PYUSD: '0' }, ['1000', undefined], ['0', '3']],
    ['with the price of the collateral', { sUSDe: '7', PYUSD: '0.5' }, [undefined, undefined], ['14', '3']],
  ])('behavior: are valued %s', (_, prices, ofNative, ofCollateral) => {
    expect(priced([fee, own], prices)).toEqual([ofNative, ofCollateral]);
  });

  test('behavior: have no share of an equity of nothing', () => {
    expect(priced([own], {}, 0)).toEqual([[undefined, undefined]]);
    expect(priced([own], {}, -1)).toEqual([[undefined, undefined]]);
  });

  test('behavior: fees of vaults are one cost, and none where they are free', () => {
    const reallocation = (feeWei: bigint) => ({ vault: USER, feeWei, withdrawals: [] });
    expect(reallocationFees([reallocation(0n)], eth)).toEqual([]);
    expect(reallocationFees([reallocation(1n), reallocation(2n)], eth)).toEqual([
      { kind: 'REALLOCATION_FEE', token: eth, amount: d('3e-18') },
    ]);
  });

  test('behavior: the loss of all swaps is unknown where one has no reference price', () => {
    const swap = (reference?: bigint) =>
      ({
        tokenIn: loan,
        tokenOut: loan,
        expectedOut: 90n,
        feeBps: 0,
        reference,
        quote: { amountIn: 100n },
        lossPct: reference === undefined ? undefined : d(10),
      }) as unknown as PlannedSwap;
    const total = (...swaps: readonly PlannedSwap[]) =>
      costBasis({
        swaps: swaps.map((one) => ({ kind: 'ENTRY_SWAP', swap: one })),
        loan,
        equity: 1_000n,
      }).totalSwapCostPctOfEquity?.toFixed();
    expect([total(), total(swap(100n)), total(swap(100n), swap(100n)), total(swap(80n))]).toEqual(['0', '1', '2', '0']);
    expect([total(swap()), total(swap(100n), swap()), total(swap(), swap(100n))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
