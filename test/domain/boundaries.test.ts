import { describe, expect, test } from 'vitest';
import { emptyChainFacts } from '../../src/domain/facts.ts';
import { ofNow, withoutFuture } from '../../src/domain/freshness/future.ts';
import { gap, gapOfGroup } from '../../src/domain/freshness/gaps.ts';
import { groupHealth } from '../../src/domain/freshness/health.ts';
import { earliestStale } from '../../src/domain/freshness/stamp.ts';
import {
  beforeDepositFee,
  depositFeeOf,
  yieldFeeOnReturn,
  yieldFeeOnWithdrawal,
} from '../../src/domain/leverage/fees.ts';
import { increaseFlashLoan, returnedShare } from '../../src/domain/leverage/flash-loan.ts';
import { divergenceWarning, oracleDivergence, withJump } from '../../src/domain/market/oracle-divergence.ts';
import { believedUpdate, priceAgeGap } from '../../src/domain/market/price-age.ts';
import {
  agree,
  apart,
  isOffPeg,
  isSuspectPrice,
  isSuspectRate,
  nextReading,
} from '../../src/domain/plausibility/suspect.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { MAX_AHEAD_MS } from '../../src/shared/observed.ts';
import { BUDGETS, chainOf, completeFacts, DAY, marketOf, NOW_MS, withItem } from './world.ts';

/** Results exactly at a limit, and one unit beside it. */

const of = (value: number | string) => new Decimal(value);
const HOUR = 3_600_000;
const chain = chainOf(1);
const market = marketOf(chain, 'weETH', 'WETH');

describe('confirmation of values', () => {
  test.each([
    ['0.9', false],
    ['0.899999', true],
    ['1.1', false],
    ['1.100001', true],
  ])('isOffPeg: %s USD: %s', (usd, off) => {
    expect(isOffPeg(of(usd))).toBe(off);
  });

  test.each([
    [1, '1.02', true],
    [1, '1.0200001', false],
    [-1, '-1.02', true],
    [-1, '1', false],
    [0, 0, true],
    [0, '0.0001', false],
  ])('agree: %s and %s: %s', (a, b, expected) => {
    expect([agree(of(a), of(b)), agree(of(b), of(a))]).toEqual([expected, expected]);
  });

  test('apart: the larger over the smaller, less one; without end at zero', () => {
    expect([apart(of(4), of(5)).toFixed(), apart(of(5), of(4)).toFixed(), apart(of(3), of(3)).toFixed()]).toEqual([
      '0.25',
      '0.25',
      '0',
    ]);
    expect([apart(of(0), of(5)).isFinite(), apart(of(5), of(0)).isFinite()]).toEqual([false, false]);
  });

  test.each([
    ['120', { pegged: false, lastGood: of(100) }, false],
    ['120.01', { pegged: false, lastGood: of(100) }, true],
    ['120.01', { pegged: false, lastGood: of(110), oracle: of(10) }, false],
    ['0.9', { pegged: true, lastGood: of(1) }, false],
    ['0.899', { pegged: true, lastGood: of('0.9') }, false],
    ['0.88', { pegged: true, lastGood: of('0.9') }, true],
  ])('isSuspectPrice: %s USD beside %o: %s', (usd, references, expected) => {
    expect(isSuspectPrice(of(usd), references)).toBe(expected);
  });

  test.each([
    ['100', undefined, undefined, false],
    ['100.01', undefined, undefined, true],
    ['-100.01', undefined, undefined, true],
    ['100.01', '100', undefined, false],
    ['0', '-0.1', undefined, false],
    ['-1', '-3', undefined, false],
    ['-1', '-3.01', undefined, true],
    ['0', '0.11', undefined, true],
    ['0.11', '0', undefined, true],
  ])('isSuspectRate: %s %% after %s %%, with its own %s %%: %s', (pct, lastGood, own, expected) => {
    const known = (value: string | undefined) => (value === undefined ? undefined : of(value));
    expect(isSuspectRate(of(pct), known(lastGood), known(own))).toBe(expected);
  });

  test('nextReading: within a fifth of the one before, it counts', () => {
    const before = { value: of(1), readings: 2, atMs: 0 };
    const [near, far] = [
      { value: of('1.2'), atMs: 60_000 },
      { value: of('1.2001'), atMs: 60_000 },
    ];
    expect([nextReading(near, before, 60_000), nextReading(far, before, 60_000)]).toEqual([
      { ...near, readings: 3 },
      { ...far, readings: 1 },
    ]);
  });
});

describe('fees of the contract', () => {
  const FIVE_PERCENT = 5n * 10n ** 16n;

  test.each([
    [100n, 5n],
    [119n, 5n],
    [120n, 6n],
    [19n, 0n],
  ])('depositFeeOf: of %i units %i, rounded down', (amount, fee) => {
    expect(depositFeeOf(amount, FIVE_PERCENT)).toBe(fee);
  });

  test('beforeDepositFee: the smallest deposit that leaves at least as much', () => {
    for (const fee of [0n, 1n, FIVE_PERCENT, 10n ** 16n, 999n * 10n ** 15n]) {
      for (let net = 0n; net <= 60n; net += 1n) {
        const gross = beforeDepositFee(net, fee);
        expect(gross - depositFeeOf(gross, fee)).toBeGreaterThanOrEqual(net);
        if (gross > 0n) expect(gross - 1n - depositFeeOf(gross - 1n, fee)).toBeLessThan(net);
      }
    }
    expect(beforeDepositFee(-5n, FIVE_PERCENT)).toBe(-5n);
  });

  test.each([
    [1_000n, 1_000n, 0n],
    [999n, 1_000n, 0n],
    [1_019n, 1_000n, 0n],
    [1_020n, 1_000n, 1n],
  ])('yieldFeeOnReturn: %i returned on a basis of %i: %i', (returned, basis, fee) => {
    expect(yieldFeeOnReturn(returned, basis, FIVE_PERCENT)).toBe(fee);
  });

  test.each([
    // The yield that remains after the withdrawal counts, at most as much as is withdrawn.
    ['no yield', { amount: 50n, value: 100n, netValueAfter: 200n, basis: 200n }, 0n],
    ['a yield below the withdrawal', { amount: 500n, value: 1_000n, netValueAfter: 240n, basis: 200n }, 1n],
    ['a yield above the withdrawal', { amount: 50n, value: 100n, netValueAfter: 900n, basis: 200n }, 2n],
    ['a yield of exactly the withdrawal', { amount: 100n, value: 100n, netValueAfter: 300n, basis: 200n }, 5n],
    ['a fee below one unit', { amount: 50n, value: 19n, netValueAfter: 900n, basis: 200n }, 0n],
    ['nothing of value', { amount: 50n, value: 0n, netValueAfter: 900n, basis: 200n }, 0n],
  ])('yieldFeeOnWithdrawal: %s', (_name, withdrawal, fee) => {
    expect(yieldFeeOnWithdrawal(withdrawal, FIVE_PERCENT)).toBe(fee);
  });

  test('returnedShare: the value of the fill as a share, at most 1', () => {
    const price = 2n * 10n ** 36n;
    expect(returnedShare(100n, 49n, price)).toEqual({ numerator: 98n, denominator: 100n });
    expect(returnedShare(100n, 50n, price)).toEqual({ numerator: 1n, denominator: 1n });
    expect(returnedShare(100n, 60n, price)).toEqual({ numerator: 1n, denominator: 1n });
  });

  test('increaseFlashLoan: a swap that loses ends at the target as well, with decimals of the target', () => {
    const input = { collateralValue: 1_000_000n, debt: 100_000n, targetLtvPct: of('62.5') };
    const returned = { numerator: 98n, denominator: 100n };
    const loan = increaseFlashLoan({ ...input, returned });
    const ltvOver = (more: bigint) => {
      const debt = (input.debt + loan + more) * 1_000n * 100n;
      return debt - 625n * (input.collateralValue * 100n + (loan + more) * 98n);
    };
    expect([ltvOver(0n) <= 0n, ltvOver(1n) > 0n]).toEqual([true, true]);
    expect(increaseFlashLoan({ ...input, targetLtvPct: of(0) })).toBe(0n);
    expect(() => increaseFlashLoan({ ...input, targetLtvPct: of('-0.1') })).toThrow(RangeError);
  });
});

describe('times of facts', () => {
  const facts = completeFacts(chain);
  const state = facts.groups.price;
  const [key = ''] = state.items.keys();
  const priced = (asOfMs: number) => withItem(facts, 'price', key, { value: { usd: of(1) }, asOfMs }).groups.price;

  test('withoutFuture: only values further ahead than clocks may differ are removed', () => {
    expect(withoutFuture('price', state, NOW_MS)).toBe(state);
    const allowed = priced(NOW_MS + MAX_AHEAD_MS);
    expect(withoutFuture('price', allowed, NOW_MS)).toBe(allowed);
    const ahead = withoutFuture('price', priced(NOW_MS + MAX_AHEAD_MS + 1), NOW_MS);
    expect([ahead.items.has(key), ahead.items.size]).toEqual([false, state.items.size - 1]);
    const failure = (sinceMs: number) => new Map([[key, { reason: 'timeout', source: 's', sinceMs } as const]]);
    const failing = {
      ...state,
      failures: failure(NOW_MS + MAX_AHEAD_MS + 1),
      lastAttemptMs: NOW_MS,
      lastSuccessMs: NOW_MS + MAX_AHEAD_MS + 1,
    };
    expect(withoutFuture('price', failing, NOW_MS)).toEqual({
      ...state,
      failures: new Map(),
      lastAttemptMs: NOW_MS,
      lastSuccessMs: null,
    });
    const attempted = {
      ...state,
      failures: failure(NOW_MS),
      lastAttemptMs: NOW_MS + MAX_AHEAD_MS + 1,
      lastSuccessMs: null,
    };
    expect(withoutFuture('price', attempted, NOW_MS)).toEqual({ ...attempted, lastAttemptMs: null });
  });

  test('ofNow: histories end with the present', () => {
    const points = [NOW_MS - DAY, NOW_MS, NOW_MS + DAY].map((atMs) => ({ atMs, ratePct: of(1) }));
    const fact = { value: { points }, asOfMs: NOW_MS, source: 's' };
    expect(ofNow('borrowHistory', fact, NOW_MS)?.value.points).toEqual(points.slice(0, 2));
    const present = { ...fact, value: { points: points.slice(0, 2) } };
    expect(ofNow('borrowHistory', present, NOW_MS)).toBe(present);
    const steps = (ahead: boolean) => ({
      campaigns: [
        {
          id: 'a',
          side: 'borrow' as const,
          symbol: 'X',
          startsAtMs: 0,
          endsAtMs: NOW_MS + 9 * DAY,
          steps: ahead ? points : [],
        },
      ],
    });
    const past = { ...fact, value: steps(false) };
    expect(ofNow('incentiveHistory', past, NOW_MS)).toBe(past);
    expect(ofNow('incentiveHistory', { ...fact, value: steps(true) }, NOW_MS)?.value.campaigns[0]?.steps).toHaveLength(
      2,
    );
    const rate = { ...fact, value: { apyPct: of(1) } };
    expect(ofNow('collateralApy', rate, NOW_MS)).toBe(rate);
  });

  test('groupHealth: fresh up to its budget, and as old as its oldest item', () => {
    const rowAt = (nowMs: number, known = facts) =>
      groupHealth(chain, known, BUDGETS, nowMs).find(({ group }) => group === 'price');
    const measuredMs = NOW_MS - 60_000;
    expect(rowAt(measuredMs + 900_000)?.status).toBe('fresh');
    expect(rowAt(measuredMs + 900_001)).toMatchObject({ status: 'stale', ageSec: 900 });
    expect(rowAt(measuredMs - 5_000)?.ageSec).toBe(0);
    const older = withItem(facts, 'price', key, { value: { usd: of(1) }, asOfMs: measuredMs - 1_000 });
    expect(rowAt(NOW_MS, older)).toMatchObject({ asOfMs: measuredMs - 1_000, ageSec: 61 });
    const newer = withItem(facts, 'price', key, { value: { usd: of(1) }, asOfMs: measuredMs + 1_000 });
    expect(rowAt(NOW_MS, newer)?.asOfMs).toBe(measuredMs);
    const twice = (['a', 'b'] as const).reduce(
      (known, name) => withItem(known, 'price', name, { failure: { reason: 'timeout', source: 's', sinceMs: 1 } }),
      facts,
    );
    expect(rowAt(NOW_MS, twice)).toMatchObject({ status: 'failing', neverMeasured: { timeout: 2 } });
  });

  test('earliestStale: the first of those whose budget ends at one time', () => {
    const [a, b, c] = [
      { asOfMs: 1_000, staleAfterSec: 9 },
      { asOfMs: 5_000, staleAfterSec: 5 },
      { asOfMs: 6_000, staleAfterSec: 3 },
    ] as const;
    expect(earliestStale(a, b)).toBe(a);
    expect(earliestStale(b, a)).toBe(b);
    expect(earliestStale(a, b, c)).toBe(c);
  });

  test('believedUpdate: from the first block of Ethereum on, until two minutes after its block', () => {
    const first = 1_438_269_973n;
    const now = 1_780_000_000n;
    const allowed = BigInt(MAX_AHEAD_MS / 1_000);
    expect([believedUpdate(first, now), believedUpdate(first - 1n, now)]).toEqual([first, undefined]);
    expect([believedUpdate(now + allowed, now), believedUpdate(now + allowed + 1n, now)]).toEqual([
      now + allowed,
      undefined,
    ]);
  });

  test('gaps: each reason of a missing value', () => {
    const group = emptyChainFacts(1).groups.price;
    const missingAfter = (reason: 'timeout' | 'implausible' | 'not_configured') =>
      gapOfGroup('x', { ...group, failures: new Map([['k', { reason, source: 's', sinceMs: 7 }]]) }, 'k');
    expect(
      [missingAfter('timeout'), missingAfter('implausible'), missingAfter('not_configured')].map(
        ({ reason, sinceMs }) => [reason, sinceMs],
      ),
    ).toEqual([
      ['SOURCE_FAILED', 7],
      ['IMPLAUSIBLE', 7],
      ['NOT_MEASURED', 7],
    ]);
    expect(missingAfter('not_configured').message).not.toBe(gapOfGroup('x', group, 'k').message);
    expect(gapOfGroup('x', { ...group, lastAttemptMs: 9 }, 'k')).toMatchObject({ reason: 'NOT_MEASURED', sinceMs: 9 });
    expect([gap('x', 'TOO_SHORT', 'm'), gap('x', 'TOO_SHORT', 'm', null), gap('x', 'TOO_SHORT', 'm', 0)]).toEqual([
      { field: 'x', reason: 'TOO_SHORT', message: 'm' },
      { field: 'x', reason: 'TOO_SHORT', message: 'm' },
      { field: 'x', reason: 'TOO_SHORT', message: 'm', sinceMs: 0 },
    ]);
    expect([priceAgeGap(undefined)?.reason, priceAgeGap(null)?.reason, priceAgeGap(0)]).toEqual([
      'NOT_MEASURED',
      'NOT_APPLICABLE',
      undefined,
    ]);
  });
});

describe('an oracle beside its references', () => {
  const loanUsd = of(2_000);
  const at = (inLoan: string) => ({ price: BigInt(of(inLoan).shiftedBy(36).toFixed(0)), blockNumber: 1n });
  const compare = (inLoan: string, usd: number, source = 'coingecko') =>
    oracleDivergence({
      market,
      oracle: { value: at(inLoan), asOfMs: NOW_MS },
      loanUsd,
      price: { value: { usd: of(usd) }, source },
    });

  test.each([
    // Exactly a tenth apart is near, in both directions.
    ['1.1', 2_000, undefined],
    ['1.1000001', 2_000, 'price'],
    ['1', 2_200, undefined],
    ['0.9999999', 2_200, 'price'],
  ])('oracleDivergence: %s WETH beside %d USD: %s', (inLoan, usd, against) => {
    expect(compare(inLoan, usd)?.against).toBe(against);
  });

  test('behavior: nothing is compared without a price of the loan token, or with a reference of zero', () => {
    const oracle = { value: at('1.2'), asOfMs: NOW_MS };
    expect(oracleDivergence({ market, oracle, loanUsd: undefined, price: undefined })).toBeUndefined();
    expect(compare('1.2', 0)).toBeUndefined();
  });

  test('withJump: a fifth is no jump; the value before it is stored for exactly a day', () => {
    const known = at('1');
    expect(withJump(at('1.2'), known, NOW_MS).before).toBeUndefined();
    const jumped = withJump(at('1.2000001'), known, NOW_MS);
    expect(jumped.before).toEqual({ price: known.price, atMs: NOW_MS });
    expect(withJump(at('1.3'), jumped, NOW_MS + DAY).before).toEqual(jumped.before);
    expect(withJump(at('1.3'), jumped, NOW_MS + DAY + 1).before).toBeUndefined();
    expect(withJump(at('1.2'), jumped, NOW_MS + HOUR).before).toBeUndefined();
  });

  test('divergenceWarning: names the exceeded bound', () => {
    const bound = (inLoan: string) => {
      const found = oracleDivergence({
        market,
        oracle: { value: at(inLoan), asOfMs: NOW_MS },
        loanUsd,
        price: undefined,
      });
      return found && divergenceWarning(found).message;
    };
    expect(bound('2.1')).toMatch(/4200 USD, and 4000 USD is the highest/);
    expect(bound('0.8')).toMatch(/1600 USD, and 1800 USD is the lowest/);
  });
});
