import { describe, expect, test } from 'vitest';
import type { Pnl, PortfolioLoop } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { DAY, NOW_MS, withItem } from '../world.ts';
import {
  expectPnl,
  facts,
  holding,
  hourByHour,
  market,
  open,
  PRICE,
  paid,
  sdkValue,
  units,
} from './portfolio-pnl-world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { BLOCK, held, robinhood } from './position-world.ts';

const onlyItem = (observed: Parameters<typeof portfolioOf>[0]) => {
  const { positions, closed } = portfolioOf(observed);
  const [item] = [...positions, ...closed];
  if (item?.kind !== 'loop') throw new Error('a loop expected');
  return item as PortfolioLoop;
};

describe('P&L of a loop', () => {
  test('default: an open one equals the SDK and an hourly sum', () => {
    const row = rowOf(market.id);
    const { pnl } = onlyItem({ chain: robinhood, facts, positions: [open], rows: [row] });
    const value = sdkValue(market, holding);
    const earned = hourByHour(row.createdAtMs, Number(BLOCK.timestamp) * 1_000);
    expect(earned.gt(0)).toBe(true);
    expectPnl(pnl, {
      deposited: new Decimal(120).times(PRICE),
      returned: new Decimal(0),
      net: value.collateral.minus(value.debt),
      incentives: value.debt.times(earned),
    });
  });

  test.each([
    ['closed', { open: false }, '117.5'],
    ['liquidated', { open: true }, '0'],
  ] as const)(
    'behavior: a %s one has no value left, and accrued incentives by its LTV until its end',
    (status, flag, back) => {
      const closedAtMs = NOW_MS - 3 * DAY;
      const row = rowOf(market.id, { isOpen: false, closedAtMs });
      const ended = held(market.id, { ...flag, depositedAssets: units('120'), returnedAssets: units(back) });
      const item = onlyItem({ chain: robinhood, facts, positions: [ended], rows: [row] });
      expect(item.position.status).toBe(status);
      const deposited = new Decimal(120).times(PRICE);
      expectPnl(item.pnl, {
        deposited,
        returned: new Decimal(back).times(PRICE),
        net: new Decimal(0),
        incentives: deposited.times(4).times(hourByHour(row.createdAtMs, closedAtMs)), // 80 % LTV: four parts of debt
      });
    },
  );

  test('behavior: shows a gain before and after the yield fee; a loss has no fee', () => {
    const { collateral, debt } = sdkValue(market, holding);
    const net = collateral.minus(debt);
    const loan = (usd: Decimal) => usd.div(PRICE).shiftedBy(market.loan.decimals);
    const gains = held(market.id, { ...holding, depositedAssets: units('60') });
    const { pnl } = onlyItem({ chain: robinhood, facts, positions: [gains], rows: [rowOf(market.id)] });
    const fee = loan(net).minus(units('60').toString()).times('0.05').integerValue(Decimal.ROUND_DOWN);
    expect(fee.gt(0)).toBe(true);
    expect(pnl.yieldFeeUsd).toBe(fee.shiftedBy(-market.loan.decimals).times(PRICE).toFixed());
    const base = new Decimal(pnl.baseResultUsd ?? '').minus(pnl.yieldFeeUsd ?? '');
    expect(pnl.baseResultAfterFeeUsd).toBe(base.toFixed());
    expect(pnl.totalAfterFeeUsd).toBe(base.plus(pnl.incentivesUsd ?? '').toFixed());
    const lost = onlyItem({ chain: robinhood, facts, positions: [open], rows: [rowOf(market.id)] }).pnl;
    expect(lost).toMatchObject({ yieldFeeUsd: '0', totalAfterFeeUsd: lost.totalUsd });
  });

  test('behavior: a partly sold position and its wallet have no result, because the chain does not keep the basis of the part', () => {
    const parted = held(market.id, { ...holding, depositedAssets: units('60'), returnedAssets: units('40') });
    const portfolio = portfolioOf({ chain: robinhood, facts, positions: [parted], rows: [rowOf(market.id)] });
    for (const pnl of [portfolio.positions[0]?.pnl, portfolio.pnl]) {
      expect(pnl?.netValueUsd).toBeDefined();
      expect(pnl?.yieldFeeUsd).toBeDefined();
      expect(pnl?.gaps.map(({ field }) => field)).toEqual([
        'baseResultUsd',
        'totalUsd',
        'returnOnEquityPct',
        'baseResultAfterFeeUsd',
        'totalAfterFeeUsd',
      ]);
      expect(pnl?.gaps[0]?.message).toContain('A part was sold before');
      expect(pnl?.baseResultUsd).toBeUndefined();
    }
    expect(portfolio.positions[0]?.position.closeNow).toMatchObject({ pnlBeforeFee: expect.any(String) });
  });

  test('behavior: collateral-side incentives accrue on the collateral', () => {
    const paying = withItem(facts, 'incentiveHistory', market.id, { value: paid('collateral') });
    const row = rowOf(market.id);
    const { pnl } = onlyItem({ chain: robinhood, facts: paying, positions: [open], rows: [row] });
    const { collateral } = sdkValue(market, holding, paying);
    const earned = collateral.times(hourByHour(row.createdAtMs, Number(BLOCK.timestamp) * 1_000));
    expect(new Decimal(pnl.incentivesUsd ?? '').minus(earned).abs().lt('1e-15')).toBe(true);
  });

  test('behavior: before the first campaign nothing accrues', () => {
    const row = rowOf(market.id, { createdAtMs: NOW_MS - 30 * DAY });
    const { pnl } = onlyItem({ chain: robinhood, facts, positions: [open], rows: [row] });
    const earned = sdkValue(market, holding).debt.times(hourByHour(row.createdAtMs, Number(BLOCK.timestamp) * 1_000));
    expect(new Decimal(pnl.incentivesUsd ?? '').minus(earned).abs().lt('1e-15')).toBe(true);
  });

  test('behavior: a campaign with late records leaves a gap', () => {
    const [known] = paid('borrow').campaigns;
    const late = { campaigns: [{ ...known, startsAtMs: NOW_MS - 40 * DAY }] } as ReturnType<typeof paid>;
    const lacking = withItem(facts, 'incentiveHistory', market.id, { value: late });
    const row = rowOf(market.id, { createdAtMs: NOW_MS - 30 * DAY });
    const { pnl } = onlyItem({ chain: robinhood, facts: lacking, positions: [open], rows: [row] });
    expect(pnl.incentivesUsd).toBeUndefined();
    expect(pnl.gaps[0]).toMatchObject({ field: 'incentivesUsd', reason: 'NOT_MEASURED' });
  });

  test('behavior: a row with future times accrues nothing, and shows no future time', () => {
    const ahead = NOW_MS + 40 * DAY;
    const times = { createdAtMs: ahead, updatedAtMs: ahead };
    const opened = onlyItem({ chain: robinhood, facts, positions: [open], rows: [rowOf(market.id, times)] });
    expect(opened.row).toMatchObject({ openedAtMs: null, createdAtMs: NOW_MS, updatedAtMs: NOW_MS });
    expect(opened.pnl.incentivesUsd).toBeUndefined();
    expect(opened.pnl.gaps[0]).toMatchObject({ field: 'incentivesUsd', reason: 'IMPLAUSIBLE' });
    const over = held(market.id, { open: false, depositedAssets: units('120'), returnedAssets: units('117') });
    const row = rowOf(market.id, { isOpen: false, closedAtMs: ahead });
    const closed = onlyItem({ chain: robinhood, facts, positions: [over], rows: [row] });
    expect(closed.row?.closedAtMs).toBeNull();
    expect(closed.pnl.incentivesUsd).toBeUndefined();
    const soon = rowOf(market.id, { isOpen: false, closedAtMs: NOW_MS + 60_000 });
    const justClosed = onlyItem({ chain: robinhood, facts, positions: [over], rows: [soon] });
    expect(justClosed.row?.closedAtMs).toBe(NOW_MS);
    expect(justClosed.pnl.incentivesUsd).toBeDefined();
  });

  test('behavior: the loss of an underwater position is at most its deposit, and the bad debt is shown', () => {
    const under = { collateral: units('300'), borrowShares: units('400') * 10n ** 6n };
    const drowned = held(market.id, { ...under, depositedAssets: units('120') });
    const { pnl } = onlyItem({ chain: robinhood, facts, positions: [drowned], rows: [rowOf(market.id)] });
    const { debt, collateral } = sdkValue(market, under);
    expect(debt.gt(collateral)).toBe(true);
    expect(pnl).toMatchObject({ netValueUsd: '0', badDebtUsd: debt.minus(collateral).toFixed() });
    expect(pnl.baseResultUsd).toBe(new Decimal(pnl.depositedUsd ?? '').negated().toFixed());
    expect(Number(pnl.returnOnEquityPct)).toBeGreaterThanOrEqual(-100);
    expect(onlyItem({ chain: robinhood, facts, positions: [open], rows: [rowOf(market.id)] }).pnl.badDebtUsd).toBe('0');
  });

  test('behavior: an unknown value is absent with a gap, never zero', () => {
    const fieldsOf = (pnl: Pnl) => pnl.gaps.map(({ field, reason }) => `${field} ${reason}`);
    const unregistered = onlyItem({ chain: robinhood, facts, positions: [open] }).pnl;
    expect(unregistered.baseResultUsd).toBeDefined();
    expect(unregistered.totalUsd).toBeUndefined();
    expect(fieldsOf(unregistered)).toEqual([
      'incentivesUsd NOT_MEASURED',
      'totalUsd NOT_MEASURED',
      'returnOnEquityPct NOT_MEASURED',
      'totalAfterFeeUsd NOT_MEASURED',
    ]);
    const endless = rowOf(market.id, { isOpen: true });
    const ended = held(market.id, { open: false, depositedAssets: units('120') });
    expect(
      onlyItem({ chain: robinhood, facts, positions: [ended], rows: [endless] }).pnl.incentivesUsd,
    ).toBeUndefined();
    const priceless = withItem(facts, 'price', market.loan.address, {});
    const unpriced = onlyItem({ chain: robinhood, facts: priceless, positions: [open], rows: [rowOf(market.id)] }).pnl;
    expect({ ...unpriced, gaps: [] }).toEqual({ gaps: [] });
    const unmeasured = withItem(withItem(facts, 'incentives', market.id, {}), 'incentiveHistory', market.id, {});
    expect(
      onlyItem({ chain: robinhood, facts: unmeasured, positions: [open], rows: [rowOf(market.id)] }).pnl.incentivesUsd,
    ).toBeUndefined();
  });

  test('behavior: a market without incentives needs no row', () => {
    const { pnl } = onlyItem({ chain: robinhood, positions: [open] });
    expect(pnl).toMatchObject({ incentivesUsd: '0', gaps: [] });
    expect(pnl.totalUsd).toBe(pnl.baseResultUsd);
  });
});
