import { describe, expect, test } from 'vitest';
import type { Market } from '../../src/catalog/types.ts';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { buildReallocateSwapAndLeverage } from '../../src/transactions/build/flash-leverage-router.ts';
import {
  allowedLoss,
  baseUnits,
  effectiveSlippage,
  LARGEST_LOSS_PCT,
  requestedOf,
  safeLeverage,
  targetLtvPct,
} from '../../src/transactions/input.ts';
import {
  type Flow,
  largestSwapped,
  liquidityNeeds,
  liquidityOf,
  requireCovered,
} from '../../src/transactions/liquidity.ts';
import { planLiquidity } from '../../src/transactions/open/terms.ts';
import type { AllocatorSource } from '../../src/transactions/read/allocator.ts';
import { paramsOf } from '../../src/transactions/read/market-state.ts';
import { planReallocation, reallocatable } from '../../src/transactions/reallocation.ts';
import { loopMarket, servedChain, USER } from './model/scene.ts';

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const chain = servedChain(1);
const d = (value: string | number) => new Decimal(value);
const thrown = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return 'accepted';
};

describe('inputs', () => {
  test('behavior: a slippage of exactly the cap is not lowered', () => {
    expect(effectiveSlippage(d('0.01'))).toEqual({ value: d('0.01') });
    expect(effectiveSlippage(d('0.0100001'))).toEqual({ value: d('0.01'), cappedFrom: d('0.0100001') });
    expect(effectiveSlippage(d('0.0000001'))).toEqual({ value: d('0.0000001') });
    expect(thrown(() => effectiveSlippage(d(0)))).toMatchObject({
      details: { field: 'slippage', value: '0', limit: { above: '0', max: '0.01' } },
    });
  });

  test('behavior: an allowed loss is between nothing and the largest one, both included', () => {
    const { adding, repaying, leaving } = LARGEST_LOSS_PCT;
    expect(allowedLoss(undefined, adding)).toBeUndefined();
    expect([d(0), d('10')].map((pct) => allowedLoss(pct, adding)?.toFixed())).toEqual(['0', '10']);
    expect(allowedLoss(d(50), repaying)?.toFixed()).toBe('50');
    expect(allowedLoss(d(100), leaving)?.toFixed()).toBe('100');
    expect(thrown(() => allowedLoss(d('-0.01'), adding))).toMatchObject({
      details: { field: 'maxSwapLossPct', value: '-0.01', limit: { min: '0', max: '10' } },
    });
    expect(thrown(() => allowedLoss(d('10.01'), adding))).toMatchObject({
      details: { field: 'maxSwapLossPct', value: '10.01', limit: { maxSwapLossPct: '10' } },
    });
    expect(thrown(() => allowedLoss(d('100.01'), leaving))).toMatchObject({
      details: { limit: { maxSwapLossPct: '100' } },
    });
  });

  test('behavior: an amount has fewer than 2^128 base units, and no more decimals than its token', () => {
    const most = 2n ** 128n - 1n;
    const token = { symbol: 'T', decimals: 0 };
    expect(baseUnits(d(most.toString()), token)).toBe(most);
    expect(thrown(() => baseUnits(d((most + 1n).toString()), token))).toMatchObject({
      details: { field: 'amount', value: '340282366920938463463374607431768211456', limit: { max: most.toString() } },
    });
    const long = thrown(() => baseUnits(d(`1${'0'.repeat(99)}`), token, 'minAmountOut'));
    expect(long).toMatchObject({ details: { field: 'minAmountOut', value: `1${'0'.repeat(59)}` } });
    expect([baseUnits(d('0.01'), { symbol: 'T', decimals: 2 }), baseUnits(d(7), token)]).toEqual([1n, 7n]);
    expect(thrown(() => baseUnits(d('0.001'), { symbol: 'T', decimals: 2 }))).toMatchObject({
      details: { limit: { maxDecimals: 2 } },
    });
  });

  test('behavior: a target is above nothing and at most the safe LTV, which its rounded leverage stands for', () => {
    const limits = limitsOf(market);
    const safe = limits.safeLtvPct;
    // 100 / (100 − 90.5) = 10.526…
    expect([safe.toFixed(), safeLeverage(limits)]).toEqual(['90.5', '10.5']);
    const of = (desiredLtvPct: string) => targetLtvPct({ desiredLtvPct: d(desiredLtvPct) }, limits).toFixed();
    expect([of('90.5'), of('0.000001')]).toEqual(['90.5', '0.000001']);
    expect(thrown(() => of('90.50001'))).toMatchObject({
      details: { field: 'desiredLtv', value: '90.50001', limit: { maxLeverage: '10.5', maxLtvPct: '90.50' } },
    });
    expect(thrown(() => of('0'))).toMatchObject({
      details: { field: 'desiredLtv', value: '0', limit: { above: '0' } },
    });
    const by = (leverage: string) => targetLtvPct({ leverage: d(leverage) }, limits);
    expect(by('1.25').toFixed()).toBe('20');
    expect(by('1.0001').gt(0)).toBe(true);
    expect(thrown(() => by('1'))).toMatchObject({ details: { field: 'leverage', value: '1', limit: { above: '1' } } });
    expect(thrown(() => by('10.6'))).toMatchObject({ details: { field: 'leverage', value: '10.6' } });
    // 5.26 is shown as 5.3, which is above the safe LTV itself.
    const rounded = { ...limits, safeLtvPct: d('81') };
    expect(safeLeverage(rounded)).toBe('5.3');
    expect(targetLtvPct({ leverage: d('5.3') }, rounded).toFixed()).toBe('81');
    expect(thrown(() => targetLtvPct({ leverage: d('5.31') }, rounded))).toMatchObject({ details: { value: '5.31' } });
    expect(requestedOf({ desiredLtvPct: d(70) })).toEqual({ field: 'desiredLtv', value: '70' });
    expect(requestedOf({ leverage: d(3) })).toEqual({ field: 'leverage', value: '3' });
  });
});

describe('liquidity', () => {
  const other: Market = { ...market, id: `0x${'12'.repeat(32)}` as MarketId };
  const [borrow, repay] = (['borrow', 'repay'] as const).map(
    (kind) =>
      (of: Market, amount: bigint): Flow => ({ kind, market: of, amount }),
  ) as [(of: Market, amount: bigint) => Flow, (of: Market, amount: bigint) => Flow];

  test('behavior: a repayment of a market that was not read is available to the next call', () => {
    expect(liquidityNeeds([[repay(market, 5n)], [borrow(market, 9n)]], [])).toEqual([
      { place: 'market', market, needed: 9n, available: 5n },
      { place: 'protocol', market, needed: 9n, available: 5n },
    ]);
  });

  test('behavior: the first of equal peaks is named, and nothing that is out needs nothing', () => {
    const peaks = liquidityNeeds([[borrow(market, 5n), repay(market, 5n), borrow(other, 5n)]], []);
    expect(peaks.filter(({ place }) => place === 'protocol')).toEqual([
      { place: 'protocol', market, needed: 5n, available: 0n },
    ]);
    expect(liquidityNeeds([[{ kind: 'flash_loan', market, amount: 0n }]], [])).toEqual([]);
    // One market is borrowed from twice.
    expect(liquidityNeeds([[borrow(market, 5n), borrow(market, 6n)]], [])[0]).toMatchObject({ needed: 11n });
    expect(liquidityOf(market, { liquidity: 5n, idle: 9n })).toEqual({ market, lendable: 5n, idle: 9n });
    expect(liquidityOf(market, { liquidity: 5n, idle: 9n }, 3n)).toEqual({ market, lendable: 8n, idle: 9n });
  });

  test.each([
    [0n, 0n],
    [1n, 0n],
    [1_000n, 999n],
    [1_001n, 999n],
    [2_001n, 1_998n],
  ])('behavior: of %s that are swapped first, %s are named: a thousandth less, rounded up', (amount, largest) => {
    expect(largestSwapped(amount, [])).toBe(largest);
  });

  test('error: InsufficientLiquidity names the first of equally short needs, without an amount by default', () => {
    const need = (place: 'market' | 'protocol', available: bigint) => ({ place, market, needed: 10n, available });
    const details = (...needs: ReturnType<typeof need>[]) =>
      (thrown(() => requireCovered(needs)) as { readonly details: object }).details;
    expect(details(need('market', 5n), need('protocol', 5n))).toMatchObject({ place: 'market', marketId: market.id });
    expect(details(need('market', 5n), need('protocol', 4n))).toMatchObject({ place: 'protocol', marketId: undefined });
    expect(details(need('market', 9n))).not.toHaveProperty('maxAmount');
  });

  const source = (
    vault: number,
    of: number,
    movable: bigint,
    more: Partial<AllocatorSource> = {},
  ): AllocatorSource => ({
    vault: `0x${String(vault).repeat(40)}` as Address,
    feeWei: 0n,
    maxIn: 10n ** 9n,
    marketId: `0x${String(of).repeat(64)}` as MarketId,
    market: paramsOf(market),
    liquidity: 10n ** 9n,
    movable,
    ...more,
  });
  const moves = (plan: ReturnType<typeof planReallocation>) =>
    plan?.reallocations.map(({ vault, withdrawals }) => [vault[2], ...withdrawals.map(({ amount }) => amount)]);

  test('behavior: exactly a hundredth of the loan is moved beyond the gap', () => {
    const plenty = [source(1, 1, 10n ** 6n)];
    expect(planReallocation(plenty, 400n, 1_000n)?.moved).toBe(610n);
    expect(planReallocation(plenty, 1_000n, 1_000n)?.moved).toBe(11n);
    expect(planReallocation(plenty, 0n, 10_100n)?.moved).toBe(10_201n);
    expect(planReallocation([], 0n, 1n)).toBeUndefined();
  });

  test('behavior: a vault moves the last unit that is missing, and one with nothing to move is left out', () => {
    expect(moves(planReallocation([source(1, 1, 49n, { maxIn: 50n }), source(2, 2, 9n)], 0n, 50n))).toEqual([
      ['1', 49n],
      ['2', 1n],
    ]);
    expect(moves(planReallocation([source(1, 1, 0n), source(2, 2, 9n)], 0n, 9n))).toEqual([['2', 9n]]);
    expect(moves(planReallocation([source(1, 1, 7n, { liquidity: 0n }), source(2, 2, 9n)], 0n, 9n))).toEqual([
      ['2', 9n],
    ]);
  });

  test('behavior: of equal fees the vault that can move more comes first, as its own limit has it', () => {
    const limited = [source(1, 1, 30n, { maxIn: 40n }), source(1, 2, 30n, { maxIn: 40n }), source(2, 3, 41n)];
    expect(moves(planReallocation(limited, 0n, 60n))).toEqual([
      ['2', 41n],
      ['1', 19n],
    ]);
    const wider = [source(1, 1, 30n, { maxIn: 42n }), source(1, 2, 30n, { maxIn: 42n }), source(2, 3, 41n)];
    expect(moves(planReallocation(wider, 0n, 60n))).toEqual([
      ['1', 30n, 12n],
      ['2', 18n],
    ]);
    // Fees decide before sizes.
    expect(moves(planReallocation([source(1, 1, 90n, { feeWei: 1n }), source(2, 2, 9n)], 0n, 20n))?.[0]?.[0]).toBe('2');
    expect(reallocatable(limited)).toBe(81n);
  });

  test('behavior: liquidity of vaults does not count where the market itself suffices, or the chain has no allocator', () => {
    const request = {
      market,
      amountIn: 50n,
      payToken: { ...market.collateral, symbol: 'C', isNative: false },
    };
    const shared = [source(1, 1, 50n)];
    const live = { liquidity: 101n, idle: 10n ** 6n };
    expect(planLiquidity({ ...request, chain }, 100n, live, shared)).toEqual({ reallocations: [], moved: 0n });
    const short = { ...live, liquidity: 99n };
    expect(planLiquidity({ ...request, chain }, 100n, short, shared).moved).toBe(2n);
    const refused = thrown(() => planLiquidity({ ...request, chain: servedChain(4663) }, 100n, short, shared));
    expect(refused).toMatchObject({ details: { place: 'market', available: '0.000099', needed: '0.0001' } });
    // Where not even all vaults suffice, all of them count for the largest amount.
    const far = thrown(() => planLiquidity({ ...request, chain }, 200n, { ...live, liquidity: 100n }, shared));
    expect(far).toMatchObject({
      details: { available: '0.00015', needed: '0.0002', maxAmount: '0.000000000000000036' },
    });
  });

  test('behavior: an open with native tokens carries them and the fees of the vaults', () => {
    const words = {
      reallocations: [{ vault: USER, feeWei: 7n, withdrawals: [] }],
      supplyMarket: paramsOf(market),
      leverageParams: {
        marketId: market.id,
        amountCollateral: 0n,
        amountFlashLoan: 1n,
        minTokenOut: 1n,
        swapData: { extRouter: USER, extCalldata: '0x' as const },
      },
      amountIn: 30n,
      swapData: { extRouter: USER, extCalldata: '0x' as const },
      minTokenOut: 1n,
    };
    const zero = `0x${'0'.repeat(40)}` as Address;
    const sent = (tokenIn: Address) => buildReallocateSwapAndLeverage(chain.contracts, { ...words, tokenIn }).value;
    expect([sent(zero), sent(market.loan.address)]).toEqual([37n, 7n]);
  });
});
