import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { depositFeeOf } from '../../src/domain/leverage/fees.ts';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { AppError, BadRequestError, UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { deleverageOptions } from '../../src/transactions/deleverage/options.ts';
import {
  affordabilityOf,
  compareOptions,
  lostToLenders,
  type RankedBy,
} from '../../src/transactions/deleverage/rank.ts';
import { targetOf } from '../../src/transactions/deleverage/target.ts';
import type {
  DeleverageOption,
  DeleverageOptions,
  DeleverageRequest,
} from '../../src/transactions/deleverage/types.ts';
import { NotEligibleError } from '../../src/transactions/errors.ts';
import { incentiveNote } from '../../src/transactions/messages.ts';
import { createPositionDirectory } from '../../src/transactions/read/position.ts';
import { underWaterOf } from '../../src/transactions/under-water.ts';
import { depsOf, loopMarket, type Scene, USER, whole } from './model/scene.ts';
import { before, d, loan, market, refusal } from './susde-position.ts';
import { RUNS } from './world.ts';

describe('targetOf', () => {
  const limits = limitsOf(market);

  test('behavior: the safe LTV, an LTV up to the max LTV, or a headroom', () => {
    expect(targetOf({}, limits).toFixed()).toBe(limits.safeLtvPct.toFixed());
    expect(targetOf({ targetLtvPct: limits.maxLtvPct }, limits).toFixed()).toBe(limits.maxLtvPct.toFixed());
    expect(targetOf({ targetHeadroomPct: d('11.5') }, limits).toFixed()).toBe('80');
  });

  test.each([
    [{ targetLtvPct: d('0') }, 'targetLtvPct', '0'],
    [{ targetLtvPct: d('91.26') }, 'targetLtvPct', '91.26'],
    [{ targetLtvPct: d('80.00000000000000001') }, 'targetLtvPct', '80.00000000000000001'],
    [{ targetHeadroomPct: d('0.2') }, 'targetHeadroomPct', '0.2'],
    [{ targetHeadroomPct: d('91.5') }, 'targetHeadroomPct', '91.5'],
    [{ targetLtvPct: d(80), targetHeadroomPct: d(5) }, 'targetHeadroomPct', '5'],
  ])('error: BadRequest for %o, with the value and the limits', (target, field, value) => {
    const error = (() => {
      try {
        return targetOf(target, limits);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ details: { field, value } });
  });
});

describe('compareOptions', () => {
  const ranked = (...list: RankedBy[]) => [...list].sort(compareOptions);
  const cheap: RankedBy = { isPossible: true, costUsd: d('0.5'), payment: 9n };
  const dear: RankedBy = { isPossible: true, costUsd: d(3), payment: 0n };
  const unknown: RankedBy = { isPossible: true, payment: 1n };
  const impossible: RankedBy = { isPossible: false, payment: 0n };

  test('behavior: the cheapest first, of equal costs the smaller payment; then unknown costs, at last impossible ones', () => {
    const smaller = { ...cheap, payment: 8n };
    expect(ranked(impossible, unknown, dear, cheap, smaller)).toEqual([smaller, cheap, dear, unknown, impossible]);
  });

  test('property: is a total order', () => {
    const any = fc.record({
      isPossible: fc.boolean(),
      costUsd: fc.option(
        fc.integer({ min: 0, max: 5 }).map((cents) => d(cents)),
        { nil: undefined },
      ),
      payment: fc.bigInt(0n, 3n),
    });
    fc.assert(
      fc.property(any, any, any, (a, b, c) => {
        expect(Math.sign(compareOptions(a, b))).toBe(-Math.sign(compareOptions(b, a)) || 0);
        if (compareOptions(a, b) <= 0 && compareOptions(b, c) <= 0) {
          expect(compareOptions(a, c)).toBeLessThanOrEqual(0);
        }
      }),
      RUNS,
    );
  });
});

describe('deleverageOptions', () => {
  const optionsIn = (at: Scene, request: Partial<DeleverageRequest> = {}) =>
    deleverageOptions(depsOf(at).deps, createPositionDirectory(), {
      chainId: at.market.chainId,
      user: USER,
      id: 0,
      ...request,
    });
  /** 8,000 sUSDe at 1.07 carry 6,848 of debt at 80 %; 7,000 are owed. */
  const stretched = { ...before, loop: { ...before.loop, debt: whole(7_000, loan) } };
  const to = { targetLtvPct: d(70) };
  const option = ({ options }: DeleverageOptions, action: string) => {
    const found = options.find((one) => one.action === action);
    if (!found) throw new Error(`no option ${action}`);
    return found;
  };
  const planOf = ({ outcome }: DeleverageOption) => {
    if (outcome instanceof AppError) throw outcome;
    return outcome;
  };

  test('behavior: each way ends at the target or a hundredth of a point below it', async () => {
    const found = await optionsIn({ market, before: stretched }, to);
    expect(found.options.map(({ action }) => action)).toEqual(['repay', 'add_collateral', 'close']);
    for (const { preview } of found.options.map(planOf)) {
      const ltv = preview?.effectiveLtvPct ?? d(100);
      expect(ltv.lte(70) && ltv.gte('69.99'), ltv.toFixed()).toBe(true);
    }
  });

  test('behavior: a sale of a part is followed by the repayment of its proceeds, with both costs', async () => {
    const found = await optionsIn({ market, before: stretched }, to);
    const close = option(found, 'close');
    const [sale, repayment] = close.steps;
    const paidOut = planOf(close).received?.find(({ token }) => token.address === loan.address)?.amount;
    expect(repayment).toMatchObject({ action: 'repay', amount: paidOut, fromProceeds: true });
    expect(sale).toMatchObject({ action: 'close', fromProceeds: false });
    expect(affordabilityOf(close, found.balances)).toBe('nothing_to_pay');
  });

  test('behavior: nothing is listed for a position at the target or below it', async () => {
    const found = await optionsIn({ market, before }, { targetLtvPct: d(80) });
    expect([found.options, found.excess <= 0n]).toEqual([[], true]);
  });

  test('behavior: the whole debt is repaid where the target is next to nothing', async () => {
    const found = await optionsIn({ market, before: stretched }, { targetLtvPct: d('0.0000000001') });
    const repay = option(found, 'repay');
    expect(repay.steps).toMatchObject([{ isFull: true }]);
    expect(planOf(repay).preview?.after.debt).toBe(0n);
  });

  test('behavior: without a venue only the sale is not possible, and says why', async () => {
    const dead = async () => {
      throw new UpstreamUnavailableError('swap venues', 'timeout');
    };
    const at: Scene = { market, before: stretched, deps: { quoter: { capped: false, rank: dead, quote: dead } } };
    const found = await optionsIn(at, to);
    expect(found.options.map(({ outcome }) => outcome instanceof AppError)).toEqual([false, false, true]);
  });

  test('behavior: of a paused contract every way is listed with its amounts and the reason', async () => {
    const found = await optionsIn({ market, before: stretched, answers: { paused: true } }, to);
    for (const { outcome, steps } of found.options) {
      expect(outcome).toMatchObject({ code: 'bad_request', details: { reason: 'market_closed', rule: 'paused' } });
      expect(steps).toHaveLength(1);
    }
  });

  test('behavior: of a position at its liquidation LTV a sale is listed with the reason', async () => {
    const full = { ...before, loop: { ...before.loop, debt: whole(7_833, loan) } };
    const close = option(await optionsIn({ market, before: full }), 'close');
    expect(close).toMatchObject({ steps: [], outcome: { details: { limit: { liquidationLtvPct: '91.5' } } } });
  });

  test('behavior: a payment into a position under water loses the debt above the collateral', async () => {
    // 8,000 sUSDe at 1.07 are worth 8,560.
    const owing = (debt: number) => ({ ...before, loop: { ...before.loop, debt: whole(debt, loan) } });
    const lost = async (debt: number) => {
      const found = await optionsIn({ market, before: owing(debt) });
      return found.options.map((one) => lostToLenders(one, found));
    };
    const [repay = 0n, add, close] = await lost(9_000);
    // With the interest until the block.
    expect(repay >= whole(440, loan) && repay < whole(441, loan), String(repay)).toBe(true);
    expect([add, close]).toEqual([repay, 0n]);
    expect(await lost(8_500)).toEqual([0n, 0n, 0n]);
    const under = underWaterOf(await optionsIn({ market, before: owing(9_000) }));
    expect(under).toMatchObject({ collateralValue: whole(8_560, loan), excess: repay });
    expect(underWaterOf(await optionsIn({ market, before: owing(8_500) }))).toBeUndefined();
  });

  test('behavior: a repayment speaks of no new debt where an incentive is paid', () => {
    expect(incentiveNote(true, false)).toEqual(['A borrow incentive is counted as it is paid now.']);
    expect(incentiveNote(true, true)[0]).toContain('dilution by the new debt');
    expect(incentiveNote(false, true)).toEqual([]);
  });

  test('behavior: without a node that simulates, paying in is previewed with an issue, a sale is not', async () => {
    const found = await optionsIn({ market, before: stretched, unsimulated: 'node' }, to);
    expect(planOf(option(found, 'repay')).issues).toMatchObject([{ kind: 'NOT_SIMULATED' }]);
    expect(option(found, 'close').outcome).toMatchObject({ details: { reason: 'not_simulated' } });
  });

  test('behavior: a balance that cannot be read is unknown, one that is too small is not enough', async () => {
    const found = await optionsIn({ market, before: stretched }, to);
    const repay = option(found, 'repay');
    const paid = repay.steps[0]?.amount ?? 0n;
    const at = (held: bigint | undefined) => affordabilityOf(repay, new Map([[loan.address, held]]));
    expect([at(undefined), at(paid - 1n), at(paid)]).toEqual(['unknown', 'not_affordable', 'affordable']);
  });

  test('behavior: on an uncorrelated market the amounts contain the deposit fee', async () => {
    const bitcoin = loopMarket(1, 'WBTC', 'USDC');
    const held = { collateral: whole(1, bitcoin.collateral), debt: whole(80_000, bitcoin.loan) };
    const at: Scene = {
      market: bitcoin,
      before: { loop: held, basis: whole(20_000, bitcoin.loan) },
      usd: { WBTC: '100000' },
      answers: { s_depositFee: 10n ** 16n, s_isCorrelated: false },
    };
    const repay = option(await optionsIn(at, { targetLtvPct: d(70) }), 'repay');
    // 10,000 more than 70 % carry, with a hundredth of the payment as the fee.
    expect(
      d(String(repay.steps[0]?.amount ?? 0))
        .shiftedBy(-6)
        .toNumber(),
    ).toBeCloseTo(10_101.01, 0);
  });

  test('behavior: a sale that pays out more than the debt repays the debt and its fee, and no more', async () => {
    const bitcoin = loopMarket(1, 'WBTC', 'USDC');
    const held = { collateral: whole(1, bitcoin.collateral), debt: whole(80_000, bitcoin.loan) };
    const at: Scene = {
      market: bitcoin,
      before: { loop: held, basis: whole(20_000, bitcoin.loan) },
      usd: { WBTC: '100000' },
      answers: { s_depositFee: 5n * 10n ** 15n, s_isCorrelated: false },
    };
    const close = option(await optionsIn(at, { targetLtvPct: d('0.0000001') }), 'close');
    const [, repayment] = close.steps;
    const { received = [], preview, fees = [], notes } = planOf(close);
    const paidOut = received.find(({ token }) => token.address === bitcoin.loan.address)?.amount ?? 0n;
    const repaid = repayment?.amount ?? 0n;
    expect([repayment?.isFull, preview?.after.debt, repaid < paidOut]).toEqual([true, 0n, true]);
    const fee = fees.find(({ kind }) => kind === 'DEPOSIT_FEE')?.amount;
    expect(fee?.toFixed()).toBe(
      d(String(depositFeeOf(repaid, 5n * 10n ** 15n)))
        .shiftedBy(-6)
        .toFixed(),
    );
    expect(notes.at(-1)).toMatch(/whole debt/);
  });

  test('behavior: a bound of minus zero is zero', async () => {
    const found = await optionsIn({ market, before: stretched }, { ...to, maxSwapLossPct: d('-0') });
    expect(option(found, 'close').outcome).toMatchObject({ details: { limit: { maxTotalLossPct: '0' } } });
  });

  test.each(['-1', '100.1'])('error: BadRequest for a loss of %s %%', async (loss) => {
    const error = await refusal(optionsIn({ market, before: stretched }, { maxSwapLossPct: d(loss) }));
    expect(error).toMatchObject({ code: 'bad_request', details: { field: 'maxSwapLossPct', value: loss } });
  });

  test('error: NotEligible for a position that has ended', async () => {
    const gone = { ...before, loop: { collateral: 0n, debt: 0n } };
    expect(await refusal(optionsIn({ market, before: gone }))).toBeInstanceOf(NotEligibleError);
  });
});
