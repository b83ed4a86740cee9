import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { Decimal, formatUnitsPlain, fromUnits } from '../../src/shared/decimal.ts';
import { type BatchOutcome, depositShortfall } from '../../src/transactions/equity/outcome.ts';
import type { DepositTerms } from '../../src/transactions/equity/types.ts';
import { InsufficientLiquidityError, LimitExceededError } from '../../src/transactions/errors.ts';
import { borrowMore } from '../../src/transactions/manage/borrow.ts';
import { removeCollateral } from '../../src/transactions/manage/remove-collateral.ts';
import type { ManageContext, Verb } from '../../src/transactions/manage/types.ts';
import { type PlanDraft, shortfallOf } from '../../src/transactions/plan.ts';
import { foldDeployment } from '../../src/transactions/read/deployment.ts';
import { debtOf, foldMarket, interestOf } from '../../src/transactions/read/market-state.ts';
import type { Outcome } from '../../src/transactions/simulate/outcome.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { place, priceFor, RUNS } from './world.ts';

const YEAR_AGO = 1_750_000_000n;

/** A position below its safe LTV on a live market, without anything around it that these verbs do not use. */
const held = place.chain(({ chain, market }) =>
  fc
    .record({
      price: priceFor(market),
      collateral: fc.bigInt(10n ** 6n, 10n ** 26n),
      ltvE6: fc.integer({ min: 0, max: 1_000_000 }),
      supply: fc.bigInt(10n ** 12n, 10n ** 27n),
      basis: fc.bigInt(1n, 10n ** 27n),
      fees: fc.boolean(),
    })
    .map(({ price, collateral, ltvE6, supply, basis, fees }) => {
      const limits = limitsOf(market);
      const value = (collateral * price) / 10n ** 36n;
      const safe = BigInt(limits.safeLtvPct.shiftedBy(16).toFixed(0));
      const wanted = (value * safe * BigInt(ltvE6)) / 10n ** 24n;
      const totals = [
        supply * 4n,
        supply * 4n * 10n ** 6n,
        supply * 3n,
        supply * 3n * 10n ** 6n,
        YEAR_AGO,
        0n,
      ] as const;
      const live = foldMarket(market, [totals, 1_000_000_000n, price, supply, undefined], { timestamp: YEAR_AGO });
      const borrowShares = live.sdk.toBorrowShares(wanted, 'Down');
      const position = { id: 0, collateral, borrowShares, debt: debtOf(live, borrowShares), basis };
      const rate = fees ? 10n ** 16n : 0n;
      const answers = [false, true, 25n * 10n ** 14n, rate, rate, market.correlated] as const;
      const deployment = foldDeployment(market, answers);
      return { chain, market, limits, live, position, deployment, rates: undefined } as Omit<
        ManageContext,
        'input'
      > as ManageContext;
    }),
);

function check(
  verb: Verb,
  token: 'collateral' | 'loan',
  after: (context: ManageContext, amount: bigint) => { collateral: bigint; debt: bigint },
): void {
  fc.assert(
    fc.property(held, fc.integer({ min: 1, max: 1_200_000 }), (context, shareE6) => {
      const { market, live, position, limits } = context;
      const base = token === 'collateral' ? position.collateral : (position.collateral * live.price) / 10n ** 36n;
      const amount = (base * BigInt(shareE6)) / 1_000_000n;
      if (amount === 0n || amount >= 2n ** 127n) return;
      const requested = (units: bigint): ManageContext => ({
        ...context,
        input: { amount: fromUnits(units, market[token].decimals) } as ManageContext['input'],
      });
      const safe = BigInt(limits.safeLtvPct.shiftedBy(16).toFixed(0));
      try {
        verb(requested(amount));
      } catch (error) {
        if (error instanceof InsufficientLiquidityError) return;
        if (!(error instanceof LimitExceededError)) throw error;
        const largest = error.details?.limit.maxAmount ?? '';
        expect(largest).toMatch(/^\d+(\.\d+)?$/);
        const units = BigInt(new Decimal(largest).shiftedBy(market[token].decimals).toFixed(0));
        expect(formatUnitsPlain(units, market[token].decimals)).toBe(largest);
        // The offered value of the refusal is accepted.
        if (units > 0n && (token === 'collateral' || units <= live.liquidity)) verb(requested(units));
        return;
      }
      const { collateral, debt } = after(context, amount);
      const value = (collateral * live.price) / 10n ** 36n;
      expect(debt * 10n ** 18n <= safe * value).toBe(true);
    }),
    RUNS,
  );
}

describe('removeCollateral', () => {
  it('behavior: the safe LTV holds afterwards, and the largest safe amount of a refusal is accepted', () => {
    check(removeCollateral, 'collateral', ({ position }, amount) => ({
      collateral: position.collateral - amount,
      debt: position.debt,
    }));
  });
});

describe('borrowMore', () => {
  it('behavior: the safe LTV holds afterwards, and the largest safe amount of a refusal is accepted', () => {
    check(borrowMore, 'loan', ({ position }, amount) => ({
      collateral: position.collateral,
      debt: position.debt + amount,
    }));
  });
});

describe('shortfallOf', () => {
  it('behavior: interest until the simulated block is not a shortfall, for any swap size', () => {
    fc.assert(
      fc.property(held, fc.bigInt(1n, 60n), ({ market, live, position }, seconds) => {
        const { collateral, debt, borrowShares } = position;
        const swap = {
          tokenOut: market.collateral,
          expectedOut: 1n,
          quote: { amountOut: 1n },
        } as unknown as PlannedSwap;
        const draft = {
          market,
          live,
          before: { collateral, debt },
          swaps: [swap],
          slippage: { value: new Decimal('0.005') },
          preview: { after: { collateral: collateral + 1n, debt } },
        } as unknown as PlanDraft;
        const later = { ...live, sdk: live.sdk.accrueInterest(live.sdk.lastUpdate + seconds) };
        const ended = (owed: bigint) =>
          ({
            fills: [{ swap, received: 1n }],
            live: later,
            position: { id: 0, collateral: collateral + 1n, debt: owed },
          }) as unknown as Outcome;
        const owed = debtOf(later, borrowShares);
        expect(shortfallOf(draft, ended(owed), false)).toBeUndefined();
        expect(shortfallOf(draft, ended(owed + 10n ** 30n), false)).toMatchObject({ of: 'net_value' });
      }),
      RUNS,
    );
  });

  it('behavior: a debt that is repaid in whole grows no interest until the simulated block', () => {
    fc.assert(
      fc.property(held, ({ market, live, position }) => {
        const { collateral, debt } = position;
        const later = { ...live, sdk: live.sdk.accrueInterest(live.sdk.lastUpdate + 31_536_000n) };
        fc.pre(interestOf(debt, live, later) > 10n);
        const swap = { tokenOut: market.loan, expectedOut: 1n, quote: { amountOut: 1n } } as unknown as PlannedSwap;
        const draft = {
          market,
          live,
          before: { collateral, debt },
          swaps: [swap],
          slippage: { value: new Decimal('0.005') },
          preview: { after: { collateral, debt: 0n } },
        } as unknown as PlanDraft;
        const leaving = (left: bigint) =>
          ({
            fills: [{ swap, received: 1n }],
            live: later,
            position: { id: 0, collateral, debt: left },
          }) as unknown as Outcome;
        expect(shortfallOf(draft, leaving(0n), false)).toBeUndefined();
        expect(shortfallOf(draft, leaving(5n), false)).toMatchObject({ of: 'net_value' });
        // A debt of one unit is a debt: it may have grown.
        const most = { ...draft, preview: { after: { collateral, debt: 1n } } } as unknown as PlanDraft;
        expect(shortfallOf(most, leaving(1n + interestOf(debt, live, later)), false)).toBeUndefined();
      }),
      RUNS,
    );
  });
});

describe('depositShortfall', () => {
  it('behavior: interest of the stock leg until the simulated block is not a shortfall', () => {
    fc.assert(
      fc.property(held, fc.bigInt(1n, 60n), ({ market, live, position }, seconds) => {
        const { collateral, debt, borrowShares } = position;
        const bought = { expectedOut: 1n, quote: { amountIn: 1n, amountOut: 1n } };
        const terms = {
          vault: { depositToken: market.loan },
          swaps: { stock: bought, zap: bought, leverage: bought },
          stockBorrow: 0n,
          amountFlashLoan: 0n,
          depositFee: 0n,
          slippage: new Decimal('0.005'),
        } as unknown as DepositTerms;
        const read = {
          stockBefore: { collateral, debt },
          stockMarket: live,
          prices: { stock: live.price, yield: live.price },
        };
        const later = { ...live, sdk: live.sdk.accrueInterest(live.sdk.lastUpdate + seconds) };
        const ended = (owed: bigint): BatchOutcome => ({
          fills: [],
          received: [],
          repaid: [],
          stockMarket: later,
          stock: { collateral: collateral + 1n, debt: owed },
        });
        const owed = debtOf(later, borrowShares);
        expect(depositShortfall(terms, read, ended(owed), false)).toBeUndefined();
        expect(depositShortfall(terms, read, ended(owed + 10n ** 30n), false)).toMatchObject({ of: 'net_value' });
      }),
      RUNS,
    );
  });
});
