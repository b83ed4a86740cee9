import { maxUint256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { REST_NAMES, spell } from '../../src/shared/names.ts';
import { buildReallocateSwapAndLeverage } from '../../src/transactions/build/flash-leverage-router.ts';
import { UnsteadyQuotesError } from '../../src/transactions/errors.ts';
import { intentOf } from '../../src/transactions/intent.ts';
import { countsIncentive, formatPercent, instructionsOf } from '../../src/transactions/messages.ts';
import { requireCoversDebt } from '../../src/transactions/quote/covers-debt.ts';
import { lossPct, minimumOutput } from '../../src/transactions/quote/loss.ts';
import { planSwap, withMinimum, worstOutput } from '../../src/transactions/quote/planned.ts';
import { type LoanSizeInput, sizeLoan } from '../../src/transactions/quote/size.ts';
import { cappedIssues } from '../../src/transactions/quote/slippage.ts';
import { paramsOf } from '../../src/transactions/read/market-state.ts';
import type { PlannedSwap, PositionPreview } from '../../src/transactions/types.ts';
import { loopMarket, servedChain, USER } from './model/scene.ts';

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const chain = servedChain(1);
const SCALE = 10n ** 36n;
const d = (value: string | number) => new Decimal(value);
const thrown = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return 'accepted';
};

describe('the size of a loan', () => {
  /** A loan for 5,000 of collateral at one for one, with the outputs of its quotes. */
  async function sized(amounts: readonly bigint[], outs: readonly bigint[], more: Partial<LoanSizeInput> = {}) {
    const returned: string[] = [];
    let quotes = 0;
    const result = await sizeLoan({
      chainId: 1,
      collateral: 5_000n,
      price: SCALE,
      targetLtvPct: d(50),
      feeBps: 5,
      sizeAt: ({ numerator, denominator }) => {
        returned.push(`${numerator}/${denominator}`);
        return amounts[returned.length - 1] ?? 0n;
      },
      quoteAt: async () => {
        quotes += 1;
        return {
          expectedOut: outs[quotes - 1],
          tokenIn: market.loan,
          tokenOut: market.collateral,
          quote: { source: 'X' },
        } as never;
      },
      ...more,
    }).catch((error: unknown) => error);
    return { result: result as { readonly amount: bigint; readonly message: string }, returned, quotes };
  }

  test.each([
    ['at the target', 5_000n, 1],
    ['a twentieth of a point below it', 4_995n, 1],
    ['slightly further below it', 4_994n, 2],
    ['above it', 5_001n, 2],
  ])('behavior: a loan that ends %s takes so many quotes', async (_, amount, quotes) => {
    const first = await sized([amount, 4_999n], [5_000n, 5_000n]);
    expect([first.quotes, first.result.amount]).toEqual([quotes, quotes === 1 ? amount : 4_999n]);
  });

  test('behavior: each size follows from the output of the quote before, with a growing margin', async () => {
    const { returned, result } = await sized([5_010n, 5_008n, 4_000n], [5_000n, 5_006n, 3_990n]);
    expect(returned).toEqual([
      `${9_995n * 999_400n}/${10_000n * 1_000_000n}`,
      `${5_000n * 999_999n}/${5_010n * 1_000_000n}`,
      `${5_006n * 990_000n}/${5_008n * 1_000_000n}`,
    ]);
    expect(result.amount).toBe(4_000n);
  });

  test('behavior: the loan nearest to the target is taken, from any of the quotes', async () => {
    expect((await sized([4_990n, 4_000n], [5_000n, 4_000n])).result.amount).toBe(4_990n);
    expect((await sized([4_000n, 4_990n], [4_000n, 5_000n])).result.amount).toBe(4_990n);
    expect((await sized([4_000n, 5_002n], [4_000n, 5_000n])).quotes).toBe(2);
  });

  test('error: UnsteadyQuotes names the last loan, and the LTV that it would end at', async () => {
    const { result, quotes } = await sized([5_010n, 5_010n, 5_020n], [5_000n, 5_000n, 5_000n]);
    expect([result, quotes]).toEqual([expect.any(UnsteadyQuotesError), 3]);
    expect(result).toMatchObject({ details: { amountIn: '5020', chainId: 1 } });
    expect(result.message).toContain('at an LTV of 50.2000 %, above the requested 50 %');
    const worthless = await sized([5n, 5n, 5n], [0n, 0n, 0n], { collateral: 0n });
    expect(worthless.result.message).toContain('end without a value');
    const indebted = await sized([10n], [0n], { debt: 2_490n });
    expect(indebted.result.amount).toBe(10n);
  });
});

describe('a quote', () => {
  const quote = { source: 'AggregatorOne', amountIn: 1n, amountOut: 980n, feeBps: 5 } as never;
  const planned = (more: object = {}) =>
    planSwap({
      tokenIn: market.loan,
      tokenOut: market.collateral,
      quote,
      reference: 1_000n,
      slippage: d('0.01'),
      capped: true,
      ...more,
    });

  test('behavior: its minimum is that of the slippage, at least that of the reference', () => {
    // 980 × 0.99 = 970.2; 1,000 × (1 − 0.01 − 0.01) = 980, less two units that a venue may round.
    expect(planned().minOut).toBe(978n);
    expect(planned({ maxSwapLossPct: d(0) }).minOut).toBe(970n);
    expect(planned({ reference: undefined })).toMatchObject({ minOut: 970n, lossPct: undefined, expectedOut: 980n });
    expect(planned({ reference: 900n })).toMatchObject({ minOut: 891n, expectedOut: 900n, lossPct: d(0) });
    expect(planned({ reference: 900n, capped: false }).minOut).toBe(970n);
    expect(planned().lossPct?.toFixed()).toBe('2');
    const half = { quoted: 5n, reference: 10n, slippage: d('0.5'), allowedLossPct: d(100), capped: true };
    expect(minimumOutput(half)).toBe(2n);
    expect([lossPct(0n, 5n), lossPct(4n, 5n), lossPct(4n, 1n)].map((pct) => pct.toFixed())).toEqual(['0', '-25', '75']);
  });

  test('behavior: a minimum is only ever raised, and the worst output is never above the expected one', () => {
    const swap = planned();
    expect([withMinimum(swap, 978n), withMinimum(swap, 977n)]).toEqual([swap, swap]);
    expect(withMinimum(swap, 978n)).toBe(swap);
    expect(withMinimum(swap, 981n).minOut).toBe(981n);
    expect([worstOutput(withMinimum(swap, 981n)), worstOutput({ ...swap, minOut: 5n })]).toEqual([980n, 5n]);
  });

  test('error: LimitExceeded below the debt, which the quote itself may equal', () => {
    const requested = { field: 'action', value: 'close' };
    expect(thrown(() => requireCoversDebt(planned(), { debt: 980n, value: 990n }, 'Selling', requested))).toBe(
      'accepted',
    );
    const refused = (value: bigint) =>
      thrown(() => requireCoversDebt(planned(), { debt: 981n, value, isRepayable: true }, 'Selling', requested));
    expect(refused(981n)).toMatchObject({ message: expect.stringContaining('repay at least') });
    expect(refused(980n)).toMatchObject({ message: expect.stringContaining('does not have to pay') });
    expect(refused(990n)).toMatchObject({
      details: { ...requested, limit: { proceeds: '0.00000000000000098', debt: '0.000000000000000981' } },
    });
  });
});

describe('sentences', () => {
  const input = {
    what: 'transaction' as const,
    user: USER,
    approvals: 0,
    calls: 1,
    swaps: [],
    notes: [],
    issues: [],
    slippage: { value: d('0.01') },
    expiresAtMs: 0,
  };
  const text = (more: object) => spell(instructionsOf({ ...input, ...more }), REST_NAMES);

  test('behavior: count approvals, calls and swaps', () => {
    expect(text({})).toBe(`Sign and send "tx" from ${USER}; no approval is needed.`);
    expect(text({ approvals: 1 })).toContain('the one entry of "approvals"');
    expect(text({ approvals: 2 })).toContain('the 2 entries of "approvals"');
    expect(text({ what: 'batch', calls: 3 })).toContain('send all 3 calls');
    const swap = {
      quote: { source: 'AggregatorOne', amountIn: 1n },
      tokenIn: market.loan,
      tokenOut: market.loan,
      expectedOut: 5n,
      minOut: 4n,
    } as unknown as PlannedSwap;
    expect(text({ swaps: [swap] })).toContain('The swap price holds until 1970-01-01T00:00:00.000Z');
    expect(text({ swaps: [swap, swap] })).toContain('The swap prices hold until');
    const capped = cappedIssues({ value: d('0.004'), tightenedFrom: d('0.01'), cappedFrom: d('0.2') });
    expect(capped).toMatchObject([{ kind: 'SLIPPAGE_CAPPED', requested: '0.2', effective: '0.01' }]);
    expect(text({ issues: [...capped] })).toContain('Of the slippage 0.2 only 0.01 counts: that is the cap');
    expect(
      text({
        issues: [
          { kind: 'APPROVAL_NEEDED', message: 'A.' },
          { kind: 'NOT_SIMULATED', message: 'B.' },
        ],
      }),
    ).toBe(`B. Sign and send "tx" from ${USER}; no approval is needed.`);
    expect(formatPercent(d('1.005'))).toBe('1.01 %');
  });

  test('behavior: an incentive is named where one is paid and counted', () => {
    const preview = (apy: Decimal | undefined, incentive?: string) =>
      ({
        expectedLeverageApyPct: apy,
        rates: incentive === undefined ? undefined : { incentiveAprPct: d(incentive) },
      }) as unknown as PositionPreview;
    expect([
      countsIncentive(undefined),
      countsIncentive(preview(undefined, '1')),
      countsIncentive(preview(d(5), '0')),
      countsIncentive(preview(d(5))),
      countsIncentive(preview(d(5), '0.5')),
    ]).toEqual([false, false, false, false, true]);
  });

  test('behavior: an intent shows up to 32 bytes whole, and the minimum of its last swap', () => {
    const call = (extCalldata: `0x${string}`) =>
      buildReallocateSwapAndLeverage(chain.contracts, {
        reallocations: [],
        supplyMarket: paramsOf(market),
        tokenIn: market.loan.address,
        amountIn: maxUint256,
        swapData: { extRouter: USER, extCalldata },
        minTokenOut: 3n,
        leverageParams: {
          marketId: market.id,
          amountCollateral: 0n,
          amountFlashLoan: 1n,
          minTokenOut: 4n,
          swapData: { extRouter: USER, extCalldata: '0x' },
        },
      });
    const shown = (bytes: number) =>
      intentOf(call(`0x${'ab'.repeat(bytes)}`), USER).arguments.find(({ value }) => value.startsWith('0xab'))?.value;
    expect(shown(32)).toBe(`0x${'ab'.repeat(32)}`);
    expect(shown(33)).toBe(`0x${'ab'.repeat(32)}… (33 bytes)`);
    const { minimumOut, spender, recipient } = intentOf(call('0x'), USER);
    expect([minimumOut, spender, recipient]).toEqual([4n, undefined, USER]);
  });
});
