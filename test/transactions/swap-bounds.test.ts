import { describe, expect, test } from 'vitest';
import { LimitExceededError, SimulationMismatchError, SimulationRevertedError } from '../../src/transactions/errors.ts';
import { withVenues } from '../../src/transactions/quote/attempts.ts';
import { referenceFor } from '../../src/transactions/quote/reference.ts';
import { requireLossWithin } from '../../src/transactions/quote/refuse-costly-swaps.ts';
import { heldSlippage } from '../../src/transactions/quote/slippage.ts';
import { positionShortfall, swapShortfall, toleranceOf } from '../../src/transactions/simulate/shortfall.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { depsOf, tokenOn, USER } from './model/scene.ts';
import { chain, collateral, d, loan, market, PRICE, refusal, refused } from './susde-position.ts';

describe('a swap', () => {
  const swap = (expectedOut: bigint, minOut: bigint, more: object = {}) =>
    ({
      tokenIn: collateral,
      tokenOut: loan,
      expectedOut,
      minOut,
      feeBps: 0,
      reference: expectedOut,
      quote: { source: 'AggregatorOne', amountIn: 1n, amountOut: expectedOut },
      ...more,
    }) as unknown as PlannedSwap;

  test.each([
    [1_000n, 995n, 1_000n, '0'],
    [1_000n, 995n, 999n, '0.001'],
    [1_000n, 995n, 996n, '0.004'],
    [1_000n, 995n, 1_001n, '0'],
    [1_000n, 990n, 995n, '0.005'],
  ])('behavior: of %s with a minimum raised from %s to %s a slippage of %s holds', (out, least, raised, held) => {
    const { value } = heldSlippage({ value: d('0.005') }, [{ before: swap(out, least), after: swap(out, raised) }]);
    expect(value.toFixed()).toBe(held);
  });

  test('behavior: the tightest of several counts, and the first request is named', () => {
    const requested = { value: d('0.005'), tightenedFrom: d('0.01') };
    const planned = [996n, 999n, 997n].map((raised) => ({ before: swap(1_000n, 995n), after: swap(1_000n, raised) }));
    expect(heldSlippage(requested, planned)).toEqual({ value: d('0.001'), tightenedFrom: d('0.01') });
    expect(heldSlippage({ value: d('0.005') }, planned)).toMatchObject({ tightenedFrom: d('0.005') });
    expect(heldSlippage(requested, [])).toBe(requested);
  });

  const loss = (lost: bigint, equity: bigint, more: object = {}) =>
    refused(() =>
      requireLossWithin({
        swaps: [{ swap: swap(10_000n - lost, 0n, { reference: 10_000n, lossPct: d(Number(lost)).div(100) }) }],
        equity,
        maxTotalPct: d(2),
        largestPct: d(10),
        requested: { field: 'amount', value: '1' },
        ...more,
      } as Parameters<typeof requireLossWithin>[0]),
    ) as LimitExceededError;

  test('behavior: names the loss that would have to be accepted, as far as it may be', () => {
    expect(loss(101n, 10_100n).details?.limit).toEqual({ maxPriceImpactPct: '1', maxSwapLossPct: '1' });
    expect(loss(101n, 1_010n).details?.limit).toEqual({ maxPriceImpactPct: '1', maxSwapLossPct: '10' });
    expect(loss(101n, 1_009n).details?.limit).toEqual({ maxPriceImpactPct: '1' });
    expect(loss(101n, 1_009n).message).toContain('not even the largest maxSwapLossPct, 10, would allow it');
    expect(loss(101n, 0n).message).toContain('more than the equity');
    expect(loss(101n, 1_010n).message).toContain('accept it with maxSwapLossPct 10.');
  });

  test('behavior: two percent of the equity are within the bound where risk is added, and no bound elsewhere', () => {
    expect([loss(100n, 5_000n), loss(100n, 4_999n) instanceof LimitExceededError]).toEqual(['accepted', true]);
    expect(loss(100n, 100n, { maxTotalPct: undefined })).toBe('accepted');
    expect(loss(50n, 5_000n, { fees: 50n })).toBe('accepted');
    expect(loss(50n, 5_000n, { fees: 51n }).details?.limit).toMatchObject({ maxTotalLossPct: '2' });
    expect(loss(500n, 10_000n, { maxSwapLossPct: d(5) })).toBe('accepted');
    expect(loss(501n, 10_000n, { maxSwapLossPct: d(5) }).details?.limit).toMatchObject({ maxTotalLossPct: '5' });
    expect(loss(0n, 0n, { maxSwapLossPct: d(0) })).toBe('accepted');
    expect(loss(2n, 0n, { maxSwapLossPct: d(5) })).toBe('accepted');
    expect(loss(3n, 0n, { maxSwapLossPct: d(5) })).toBeInstanceOf(LimitExceededError);
  });

  test('behavior: is valued at the oracle in both directions, else at USD prices of both tokens', () => {
    const usdc = tokenOn(1, 'USDC');
    const value = (tokenIn: typeof usdc, tokenOut: typeof usdc, prices: Readonly<Record<string, string>>) =>
      referenceFor({
        market,
        price: PRICE,
        tokenIn,
        tokenOut,
        amountIn: 10n ** BigInt(tokenIn.decimals),
        usdOf: (address) => {
          const symbol = chain.tokens.find((one) => one.address === address)?.symbol ?? '';
          return prices[symbol] === undefined ? undefined : d(prices[symbol]);
        },
      });
    expect(value(collateral, loan, {})).toEqual({ amountOut: 1_070_000n, basis: 'ORACLE' });
    expect(value(loan, collateral, {})?.amountOut).toBe((10n ** 18n * 100n) / 107n);
    expect(value(usdc, loan, { USDC: '1', PYUSD: '0.5' })).toEqual({ amountOut: 2_000_000n, basis: 'USD' });
    expect(value(usdc, collateral, { USDC: '1', PYUSD: '0.5' })?.amountOut).toBe(1_869_158_878_504_672_897n);
    expect([value(usdc, loan, { USDC: '1' }), value(usdc, loan, { PYUSD: '1' })]).toEqual([undefined, undefined]);
    expect(value(usdc, loan, { USDC: '1', PYUSD: '0' })).toBeUndefined();
    expect(value(usdc, collateral, { USDC: '1', sUSDe: '5' })).toBeUndefined();
  });

  test('behavior: may lack a thousandth in simulation, or a fifth of the slippage', () => {
    expect([toleranceOf(d('0.001')).toFixed(), toleranceOf(d('0.01')).toFixed()]).toEqual(['0.001', '0.002']);
    const short = (received: bigint, capped = false) =>
      swapShortfall(
        [{ swap: swap(100_000n, 0n, { quote: { source: 'AggregatorOne', amountOut: 101_000n } }), received }],
        d('0.005'),
        capped,
      );
    expect([short(100_899n), short(100_898n)?.expected, short(99_900n, true), short(99_899n, true)]).toEqual([
      undefined,
      '0.101',
      undefined,
      {
        of: 'swap_output',
        expected: '0.1',
        simulated: '0.099899',
        tolerancePct: '0.10',
        source: 'AggregatorOne',
        token: { address: loan.address, symbol: loan.symbol },
        swap: { tokenIn: collateral.address, tokenOut: loan.address },
      },
    ]);
    const net = (debt: bigint, swapped: bigint) =>
      positionShortfall({
        planned: { collateral: 0n, debt: -1_000_000n },
        simulated: { collateral: 0n, debt },
        price: PRICE,
        loan,
        swapped,
        slippage: d('0.005'),
      });
    expect([net(-999_998n, 0n), net(-999_997n, 0n)?.simulated, net(-999_000n, 1_000_000n)]).toEqual([
      undefined,
      '0.999997',
      undefined,
    ]);
    expect(net(-998_999n, 1_000_000n)).toMatchObject({ expected: '1', simulated: '0.998999', tolerancePct: '0.10' });
  });
});

describe('attempts', () => {
  /** A build that fails so many times. */
  async function attemptsOf(failures: readonly Error[]) {
    const { deps } = depsOf({ market });
    let runs = 0;
    const built = withVenues(deps, async (attempt) => {
      await attempt.quoter.quote({
        chain,
        tokenIn: loan.address,
        tokenOut: collateral.address,
        amountIn: 100n,
        sender: USER,
        recipient: USER,
        slippage: d('0.005'),
        feeBps: 0,
      });
      const failure = failures[runs];
      runs += 1;
      if (failure) throw failure;
      return 'built';
    });
    return [await refusal(built), runs];
  }
  const reverted = (reason: string, retryable: boolean) =>
    new SimulationRevertedError({ reason, args: [], callIndex: 0 }, retryable);
  const short = new SimulationMismatchError(
    {
      of: 'swap_output',
      expected: '2',
      simulated: '1',
      token: loan,
      tolerancePct: '0.1',
      source: 'AggregatorOne',
      swap: { tokenIn: loan.address, tokenOut: collateral.address },
    },
    1,
  );

  test('behavior: the third one may succeed', async () => {
    expect(await attemptsOf([reverted('Slippage', true), reverted('Slippage', true)])).toEqual(['built', 3]);
    expect(await attemptsOf([short, short])).toEqual(['built', 3]);
  });

  test('behavior: an unknown revert is tried again, one that no quote cures is not', async () => {
    expect(await attemptsOf([reverted('unknown', false)])).toEqual(['built', 2]);
    const final = reverted('paused', false);
    expect(await attemptsOf([final])).toEqual([final, 1]);
  });

  test('error: the latest failure of a swap, even if others follow; a defect at once', async () => {
    const [first, defect] = [reverted('Slippage', true), new TypeError('a defect')];
    const other = reverted('paused', false);
    expect(await attemptsOf([first, other, other])).toEqual([first, 3]);
    expect(await attemptsOf([first, short, other])).toEqual([short, 3]);
    expect(await attemptsOf([first, defect])).toEqual([defect, 2]);
  });
});
