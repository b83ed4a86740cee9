import { describe, expect, test } from 'vitest';
import { incentiveRecord } from '../../../src/domain/apy/campaigns.ts';
import type { Gap } from '../../../src/domain/freshness/types.ts';
import { accrueRewards, type MarketRewards, marketRewards } from '../../../src/domain/portfolio/incentives.ts';
import { addParts, loopParts, type PnlParts, sumPnl, toPnl } from '../../../src/domain/portfolio/pnl.ts';
import type { RegisteredPosition } from '../../../src/domain/portfolio/types.ts';
import { valueHolding } from '../../../src/domain/position/valuation.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { completeFacts, DAY, marketOf, withItem } from '../world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { BLOCK, composedMarket, composedOf, ethereum, held } from './position-world.ts';

/** Positions, vaults and their results exactly at a limit, and a unit beside it. */

const d = (value: number | string) => new Decimal(value);
const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const composed = composedMarket(composedOf(ethereum), market.id);
const open = held(market.id, {
  collateral: 1_000n * 10n ** 18n,
  borrowShares: 724n * 10n ** 12n,
  depositedAssets: 200_000_000n,
});
const fieldsOf = (gaps: readonly Gap[]) => gaps.map(({ field, reason }) => `${field} ${reason}`);

describe('results', () => {
  const rewardsOf = (
    borrow: readonly [number, string][],
    collateral: readonly [number, string][] = [],
    startsAtMs?: number,
  ): MarketRewards => {
    const campaign = (side: 'borrow' | 'collateral', steps: readonly [number, string][]) => ({
      id: side,
      side,
      symbol: 'X',
      endsAtMs: 10 * DAY,
      startsAtMs: startsAtMs ?? steps[0]?.[0] ?? 0,
      steps: steps.map(([atMs, ratePct]) => ({ atMs, ratePct: d(ratePct) })),
    });
    const campaigns = [
      ...(borrow.length > 0 ? [campaign('borrow', borrow)] : []),
      ...(collateral.length > 0 ? [campaign('collateral', collateral)] : []),
    ];
    const found = marketRewards(
      withItem(completeFacts(ethereum), 'incentiveHistory', market.id, { value: { campaigns } }),
      market.id,
    );
    if ('field' in found) throw new Error('rewards expected');
    expect(incentiveRecord({ campaigns }, 'borrow').steps.length).toBe(borrow.length === 0 ? 0 : borrow.length + 1);
    return found;
  };
  const earned = (rewards: MarketRewards, fromDay: number, toDay: number) => {
    const sum = accrueRewards(
      rewards,
      { debt: d(1_000), collateral: d(2_000) },
      { fromMs: fromDay * DAY, toMs: toDay * DAY },
    );
    return 'field' in sum ? sum.reason : sum.times(365).toFixed(6);
  };

  test('accrueRewards: each step holds until the next, on debt and on collateral', () => {
    // A day at 10 % of 1,000 is 100 / 365.
    const rewards = rewardsOf([
      [2 * DAY, '10'],
      [4 * DAY, '20'],
    ]);
    expect([earned(rewards, 0, 2), earned(rewards, 2, 3), earned(rewards, 3, 4), earned(rewards, 3, 5)]).toEqual([
      ...['0.000000', '100.000000', '100.000000', '300.000000'],
    ]);
    expect([earned(rewards, 4, 10), earned(rewards, 9, 12), earned(rewards, 5, 5), earned(rewards, 6, 5)]).toEqual([
      ...['1200.000000', '200.000000', '0.000000', '0.000000'],
    ]);
    expect(earned(rewardsOf([], [[0, '10']]), 1, 2)).toBe('200.000000');
  });

  test('accrueRewards: unknown while a campaign ran without a record', () => {
    const late = rewardsOf([[4 * DAY, '10']], [], DAY);
    expect([earned(late, 0, 1), earned(late, 0, 1.5), earned(late, 4, 5), earned(late, 3.9, 5)]).toEqual([
      ...['0.000000', 'NOT_MEASURED', '100.000000', 'NOT_MEASURED'],
    ]);
  });

  const row = (over: Partial<RegisteredPosition> = {}): RegisteredPosition => ({
    ...rowOf(market.id, { createdAtMs: 2 * DAY, closedAtMs: 3 * DAY }),
    openedAtMs: 2 * DAY,
    desiredLtvPct: d(75),
    ...over,
  });
  const parts = (over: Partial<Parameters<typeof loopParts>[0]> = {}) =>
    loopParts({
      held: { ...open, open: false, depositedAssets: 100_000_000n },
      row: row(),
      market,
      composed,
      timestamp: BLOCK.timestamp,
      rewards: rewardsOf([[2 * DAY, '36.5']]),
      ...over,
    });
  const price = composed.loanPrice?.value.usd ?? d(0);

  test.each([
    // A debt of 300 on a deposit of 100, for a day at 0.1 %.
    ['75', '0.3'],
    ['0', '0'],
    ['50', '0.1'],
    ['-0.01', undefined],
    ['100', undefined],
  ])('behavior: an ended loop opened at %s %% earned %s', (ltvPct, incentives) => {
    const found = parts({ row: row({ desiredLtvPct: d(ltvPct) }) }).incentivesUsd;
    if (incentives === undefined)
      expect(found).toMatchObject({ reason: 'NOT_MEASURED', message: expect.stringContaining('LTV') });
    else expect((found as Decimal).minus(price.times(incentives)).abs().lt('1e-15')).toBe(true);
  });

  test('behavior: values that the register lacks are unknown, each with a reason', () => {
    const reason = (of: PnlParts) => (of.incentivesUsd as Gap).message;
    expect(reason(parts({ row: null }))).toContain('not registered');
    expect(reason(parts({ row: row({ openedAtMs: null }) }))).toContain('future opening time');
    expect(reason(parts({ row: row({ closedAtMs: null }) }))).toContain('the time of its end');
    expect(reason(parts({ row: row({ desiredLtvPct: null }) }))).toContain('LTV at its opening');
    expect(parts({ rewards: rewardsOf([]), row: null }).incentivesUsd).toEqual(d(0));
    const known = { field: 'loanPrice', reason: 'IMPLAUSIBLE', message: 'm' } as const;
    const unpriced = (gaps: readonly Gap[]) =>
      (parts({ composed: { ...composed, loanPrice: undefined, gaps } }).netValueUsd as Gap).reason;
    expect([unpriced([known]), unpriced([])]).toEqual(['IMPLAUSIBLE', 'NOT_MEASURED']);
    expect((parts({ market: undefined }).netValueUsd as Gap).message).toContain('not in the catalog');
    expect((parts({ composed: undefined }).netValueUsd as Gap).message).toContain('not been measured');
  });

  test('behavior: an open loop has its value, its fee and its bad debt; a divergent oracle is named', () => {
    const living = { ...open, depositedAssets: 200_000_000n };
    const value = valueHolding(living, composed, BLOCK.timestamp);
    const usd = (assets: bigint) => price.times(assets.toString()).shiftedBy(-6).toFixed();
    const own = parts({ held: living });
    const fee = (value.collateralValue - value.debt - 200_000_000n) / 20n;
    expect([own.netValueUsd, own.yieldFeeUsd, own.badDebtUsd, own.divergentUsd].map(String)).toEqual([
      ...[usd(value.collateralValue - value.debt), usd(fee), '0', '0'],
    ]);
    expect(String(parts({ held: { ...living, manualMode: true } }).yieldFeeUsd)).toBe('0');
    const divergent = parts({ held: living, composed: { ...composed, oracleDivergence: {} as never } });
    expect(divergent.divergentUsd).toBe(divergent.netValueUsd);
    const under = parts({ held: { ...living, borrowShares: living.borrowShares * 2n } });
    expect([String(under.netValueUsd), (under.badDebtUsd as Decimal).gt(0)]).toEqual(['0', true]);
    expect(
      [parts({ held: { ...living, returnedAssets: 1n } }).unresolved, own.unresolved].map((one) => one !== undefined),
    ).toEqual([true, false]);
    const closed = { ...living, open: false, returnedAssets: 1n };
    expect(parts({ held: closed }).unresolved).toBeUndefined();
    expect(parts({ held: closed, soldInPart: true }).unresolved).toBeDefined();
  });

  test('toPnl: adds up the known parts', () => {
    const known: PnlParts = {
      depositedUsd: d(100),
      returnedUsd: d(20),
      netValueUsd: d(90),
      incentivesUsd: d(3),
      yieldFeeUsd: d(2),
    };
    expect(toPnl(known)).toEqual({
      depositedUsd: '100',
      returnedUsd: '20',
      netValueUsd: '90',
      badDebtUsd: '0',
      divergentUsd: '0',
      incentivesUsd: '3',
      baseResultUsd: '10',
      totalUsd: '13',
      returnOnEquityPct: '13',
      yieldFeeUsd: '2',
      baseResultAfterFeeUsd: '8',
      totalAfterFeeUsd: '11',
      gaps: [],
    });
    const nothing = toPnl({ ...known, depositedUsd: d(0) });
    expect([nothing.returnOnEquityPct, fieldsOf(nothing.gaps)]).toEqual([null, ['returnOnEquityPct NOT_APPLICABLE']]);
    const why = { field: '', reason: 'NOT_MEASURED', message: 'm' } as const;
    expect(fieldsOf(toPnl({ ...known, netValueUsd: why }).gaps)).toEqual(
      [
        ...['netValueUsd', 'badDebtUsd', 'divergentUsd', 'baseResultUsd', 'totalUsd', 'returnOnEquityPct'],
        ...['baseResultAfterFeeUsd', 'totalAfterFeeUsd'],
      ].map((field) => `${field} NOT_MEASURED`),
    );
    expect([addParts(d(1), d(2)), addParts(why, { ...why, message: 'n' }), addParts(d(1), why)]).toEqual([
      d(3),
      why,
      why,
    ]);
  });

  test('sumPnl: adds up the bad debt and the values at a divergent price of all', () => {
    const of = (badDebtUsd: number, divergentUsd: number) =>
      toPnl({
        depositedUsd: d(1),
        returnedUsd: d(0),
        netValueUsd: d(1),
        incentivesUsd: d(0),
        yieldFeeUsd: d(0),
        badDebtUsd: d(badDebtUsd),
        divergentUsd: d(divergentUsd),
      });
    expect(sumPnl([of(1, 10), of(2, 20)])).toMatchObject({
      depositedUsd: '2',
      returnedUsd: '0',
      netValueUsd: '2',
      totalUsd: '0',
      badDebtUsd: '3',
      divergentUsd: '30',
    });
    expect(sumPnl([])).toMatchObject({ badDebtUsd: '0', divergentUsd: '0' });
  });

  test('behavior: the header adds up the deposits of open positions', () => {
    const positions = [0, 1].map((id) => ({ ...open, id, depositedAssets: 100_000_000n }));
    const { header } = portfolioOf({ chain: ethereum, positions });
    expect(header).toEqual({ openCount: 2, totalDepositedUsd: price.times(200).toFixed() });
  });
});
