import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  collateralValueInLoan,
  increaseFlashLoan,
  openFlashLoan,
  type Returned,
  returnedShare,
} from '../../src/domain/leverage/flash-loan.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { LimitExceededError, UnsteadyQuotesError } from '../../src/transactions/errors.ts';
import { ltvPctOf } from '../../src/transactions/preview/ltv.ts';
import { expectedOutput, minimumOutput } from '../../src/transactions/quote/loss.ts';
import { planSwap } from '../../src/transactions/quote/planned.ts';
import { requireLossWithin } from '../../src/transactions/quote/refuse-costly-swaps.ts';
import { sizeLoan } from '../../src/transactions/quote/size.ts';
import { heldSlippage } from '../../src/transactions/quote/slippage.ts';
import { catalog, RUNS } from './world.ts';

const chain = catalog.chain(1);
const [tokenIn, tokenOut] = chain?.tokens ?? [];
if (!tokenIn || !tokenOut) throw new Error('chain 1 is curated');
const SCALE = 10n ** 36n;
const MILLION = 1_000_000n;
const amount = fc.bigInt(10n ** 6n, 10n ** 26n);
const slippage = fc.integer({ min: 1, max: 10_000 }).map((e6) => new Decimal(e6).shiftedBy(-6));

function swapOf(reference: bigint, quoted: bigint, allowed?: Decimal) {
  const quote = {
    source: 'AggregatorOne' as const,
    amountIn: reference,
    amountOut: quoted,
    feeBps: 0,
    router: '0x6131B5fae19EA4f9D964eAc0408E4408b66337b5' as const,
    calldata: '0x12345678' as const,
    value: 0n,
    expiresAtMs: 0,
  };
  const rest = { slippage: new Decimal('0.005'), capped: true, maxSwapLossPct: allowed };
  return planSwap({ tokenIn: tokenIn as never, tokenOut: tokenOut as never, quote, reference, ...rest });
}

const judge = (swap: ReturnType<typeof swapOf>, equity: bigint, maxSwapLossPct?: Decimal, boundsTotal = true) =>
  requireLossWithin({
    swaps: [{ swap }],
    equity,
    maxTotalPct: boundsTotal ? new Decimal(2) : undefined,
    maxSwapLossPct,
    largestPct: new Decimal(10),
    requested: { field: 'leverage', value: '5' },
  });

describe('minimumOutput', () => {
  it('property: never below reference × (1 − allowed loss − slippage), never above an honest fill when capped', () => {
    fc.assert(
      fc.property(amount, fc.bigInt(0n, 3_000_000n), slippage, (reference, shareE6, slip) => {
        const quoted = (reference * shareE6) / MILLION;
        const input = { quoted, reference, slippage: slip, allowedLossPct: new Decimal(1) };
        const least = minimumOutput({ ...input, capped: true });
        const floor = new Decimal(reference.toString()).times(new Decimal('0.99').minus(slip));
        expect(new Decimal(least.toString()).gte(floor.integerValue(Decimal.ROUND_DOWN).minus(2))).toBe(true);
        expect(least >= 0n && least <= reference).toBe(true);
        expect(minimumOutput({ ...input, capped: false }) >= least).toBe(true);
        expect(expectedOutput(quoted, reference) <= reference).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('requireLossWithin', () => {
  it('behavior: accepts a quote exactly at the limit, refuses one unit below it', () => {
    const reference = 10n ** 20n;
    const atBound = (reference * 99n) / 100n;
    expect(() => judge(swapOf(reference, atBound), reference)).not.toThrow();
    expect(() => judge(swapOf(reference, atBound - 1n), reference)).toThrow(LimitExceededError);
    const half = reference / 2n;
    expect(() => judge(swapOf(reference, atBound), half)).not.toThrow();
    expect(() => judge(swapOf(reference, atBound), half - 1n)).toThrow(LimitExceededError);
    expect(() => judge(swapOf(reference, atBound), half - 1n, undefined, false)).not.toThrow();
  });

  it('property: the number in a refusal passes, and slightly less does not', () => {
    fc.assert(
      fc.property(amount, fc.bigInt(1n, 200_000n), fc.bigInt(100_000n, 3_000_000n), (reference, lossE6, equityE6) => {
        const swap = swapOf(reference, (reference * (MILLION - lossE6)) / MILLION, new Decimal(10));
        const equity = (reference * equityE6) / MILLION;
        try {
          judge(swap, equity);
        } catch (error) {
          if (!(error instanceof LimitExceededError)) throw error;
          const passes = error.details?.limit.maxSwapLossPct;
          if (passes === undefined) return;
          expect(new Decimal(passes).lte(10)).toBe(true);
          judge(swap, equity, new Decimal(passes));
          expect(() => judge(swap, equity, new Decimal(passes).minus('0.02'))).toThrow(LimitExceededError);
        }
      }),
      RUNS,
    );
  });
});

/** A swap of a loan, as far as sizing goes by it. */
const quotedAs = (expectedOut: bigint) => ({ ...swapOf(1n, 1n), expectedOut });

describe('sizeLoan', () => {
  it('property: the LTV at the expected fill is never above the target, with three quotes at most', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(10n ** 12n, 10n ** 26n),
        fc.bigInt(10n ** 34n, 10n ** 38n),
        fc.integer({ min: 1_000, max: 96_000 }),
        fc.array(fc.bigInt(0n, 10_000n), { minLength: 3, maxLength: 3 }),
        async (collateral, price, ltvMilli, lossesE6) => {
          const targetLtvPct = new Decimal(ltvMilli).shiftedBy(-3);
          const value = collateralValueInLoan(collateral, price);
          fc.pre(value > 10n ** 9n);
          let quotes = 0;
          const sized = await sizeLoan({
            chainId: 1,
            collateral,
            debt: 0n,
            price,
            targetLtvPct,
            feeBps: 5,
            sizeAt: (returned) => openFlashLoan(value, targetLtvPct, returned),
            async quoteAt(loan) {
              const lossE6 = lossesE6[quotes] ?? 0n;
              quotes += 1;
              const expectedOut = (loan * SCALE * (MILLION - lossE6)) / MILLION / price;
              return quotedAs(expectedOut);
            },
          });
          expect(quotes).toBeLessThanOrEqual(3);
          const after = { collateral: collateral + sized.swap.expectedOut, debt: sized.amount };
          expect(ltvPctOf(after, price)?.lte(targetLtvPct)).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it('property: for any sequence of quotes the LTV is at most the target, or no loan is sized', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(10n ** 3n, 10n ** 26n),
        fc.bigInt(10n ** 30n, 10n ** 40n),
        fc.integer({ min: 0, max: 90 }),
        fc.integer({ min: 1, max: 96_000 }),
        // The share of its value that each quote returns: none, all, far too much, or less for smaller inputs.
        fc.array(fc.oneof(fc.bigInt(0n, 2_000_000n), fc.constantFrom(0n, 1n, 999_000n, 10n ** 12n)), {
          minLength: 3,
          maxLength: 3,
        }),
        async (collateral, price, debtPct, ltvMilli, sharesE6) => {
          const targetLtvPct = new Decimal(ltvMilli).shiftedBy(-3);
          const collateralValue = collateralValueInLoan(collateral, price);
          const debt = (collateralValue * BigInt(debtPct)) / 100n;
          const sizeAt = (returned: Returned) => increaseFlashLoan({ collateralValue, debt, targetLtvPct, returned });
          fc.pre(sizeAt({ numerator: 1n, denominator: 1n }) > 0n);
          let quotes = 0;
          try {
            const sized = await sizeLoan({
              chainId: 1,
              collateral,
              debt,
              price,
              targetLtvPct,
              feeBps: 5,
              sizeAt,
              async quoteAt(loan) {
                const share = sharesE6[quotes] ?? 0n;
                quotes += 1;
                const expectedOut = (loan * SCALE * share) / MILLION / price;
                return quotedAs(expectedOut);
              },
            });
            const after = { collateral: collateral + sized.swap.expectedOut, debt: debt + sized.amount };
            expect(ltvPctOf(after, price)?.lte(targetLtvPct)).toBe(true);
          } catch (error) {
            if (!(error instanceof UnsteadyQuotesError)) throw error;
            refused += 1;
            expect(error.message).toContain(`above the requested ${targetLtvPct.toFixed()} %`);
          }
          expect(quotes).toBeLessThanOrEqual(3);
        },
      ),
      RUNS,
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('behavior: a usual swap takes one quote, an expensive one two', async () => {
    const price = SCALE;
    const quotesOf = async (lossE6: bigint) => {
      let quotes = 0;
      await sizeLoan({
        chainId: 1,
        collateral: 10n ** 20n,
        debt: 0n,
        price,
        targetLtvPct: new Decimal('90.5'),
        feeBps: 0,
        sizeAt: (returned) => openFlashLoan(10n ** 20n, new Decimal('90.5'), returned),
        async quoteAt(loan) {
          quotes += 1;
          return quotedAs((loan * (MILLION - lossE6)) / MILLION);
        },
      });
      return quotes;
    };
    expect(await quotesOf(300n)).toBe(1);
    expect(await quotesOf(4_000n)).toBe(2);
  });

  it('property: a swap never returns more than its input value', () => {
    fc.assert(
      fc.property(amount, amount, (loan, out) => {
        const { numerator, denominator } = returnedShare(loan, out, SCALE);
        expect(numerator <= denominator).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('heldSlippage', () => {
  it('behavior: the requested slippage without a raised minimum, otherwise the tightest', () => {
    const request = { value: new Decimal('0.005') };
    const before = swapOf(1_000_000n, 1_000_000n);
    expect(heldSlippage(request, [{ before, after: before }])).toBe(request);
    const after = { ...before, minOut: 999_949n };
    const held = heldSlippage(request, [{ before, after }]);
    expect([held.value.toFixed(), held.tightenedFrom?.toFixed()]).toEqual(['0.000051', '0.005']);
    const none = heldSlippage(request, [{ before, after: { ...before, minOut: 1_000_000n } }]);
    expect(none.value.toFixed()).toBe('0');
  });
});
