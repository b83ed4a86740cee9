import { AccrualPosition, Market as SdkMarket } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Market } from '../../../src/catalog/types.ts';
import type { CampaignSide, ChainFacts } from '../../../src/domain/facts.ts';
import { marketRewards } from '../../../src/domain/portfolio/incentives.ts';
import { sumPnl, toPnl } from '../../../src/domain/portfolio/pnl.ts';
import type { Pnl, PortfolioLoop, PortfolioVault } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { completeFacts, DAY, NOW_MS, withItem } from '../world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { BLOCK, composedMarket, composedOf, held, robinhood, WALLET } from './position-world.ts';

const [vault] = robinhood.equityVaults;
if (!vault) throw new Error('a vault expected');
const market = vault.yieldMarket;
const HOUR = 3_600_000;
const PRICE = '0.9998';
const units = (whole: string) => BigInt(new Decimal(whole).shiftedBy(market.loan.decimals).toFixed(0));

/** APR steps of the debt side, on whole hours so that hours can be summed up one by one. */
const STEPS = [
  { atMs: NOW_MS - 25 * DAY, aprPct: new Decimal('1.5') },
  { atMs: NOW_MS - 12 * DAY, aprPct: new Decimal('3') },
  { atMs: NOW_MS - 5 * DAY, aprPct: new Decimal('0') },
  { atMs: NOW_MS - 2 * DAY, aprPct: new Decimal('0.8') },
];
const paid = (side: CampaignSide) => ({
  campaigns: [
    {
      id: '1',
      side,
      symbol: 'X',
      startsAtMs: NOW_MS - 25 * DAY,
      endsAtMs: NOW_MS + DAY,
      steps: STEPS.map(({ atMs, aprPct }) => ({ atMs, ratePct: aprPct })),
    },
  ],
});
const facts = withItem(completeFacts(robinhood), 'incentiveHistory', market.id, { value: paid('borrow') });

/** The interest on one unit of debt, summed hour by hour. */
function hourByHour(fromMs: number, toMs: number): Decimal {
  let sum = new Decimal(0);
  for (let atMs = fromMs; atMs < toMs; atMs += HOUR) {
    const apr = STEPS.findLast((step) => step.atMs <= atMs)?.aprPct ?? new Decimal(0);
    const part = Math.min(HOUR, toMs - atMs);
    sum = sum.plus(apr.times(part).div(100 * 365 * DAY));
  }
  return sum;
}

function sdkValue(of: Market, holding: { collateral: bigint; borrowShares: bigint }, known: ChainFacts = facts) {
  const composed = composedMarket(composedOf(robinhood, known), of.id);
  const { value: state } = composed.facts.lendingState;
  const params = {
    loanToken: of.loan.address,
    collateralToken: of.collateral.address,
    oracle: of.oracle,
    irm: of.irm,
    lltv: of.lltv,
  };
  const accrued = new SdkMarket({
    ...state,
    params,
    price: composed.facts.oracle.value.price,
    totalBorrowAssets: composed.totalBorrowAssets,
    totalSupplyAssets: composed.totalSupplyAssets,
    lastUpdate: state.blockTimestamp,
  });
  const position = new AccrualPosition({ ...holding, user: WALLET, supplyShares: 0n }, accrued);
  const usd = (assets: bigint) => new Decimal(assets.toString()).shiftedBy(-of.loan.decimals).times(PRICE);
  return { debt: usd(position.borrowAssets), collateral: usd(position.collateralValue ?? 0n) };
}

/** Compare with numbers computed elsewhere; quotients are rounded to 18 places here. */
function expectPnl(pnl: Pnl, expected: { deposited: Decimal; returned: Decimal; net: Decimal; incentives: Decimal }) {
  const { deposited, returned, net, incentives } = expected;
  expect(pnl.gaps).toEqual([]);
  expect(pnl.depositedUsd).toBe(deposited.toFixed());
  expect(pnl.returnedUsd).toBe(returned.toFixed());
  expect(pnl.netValueUsd).toBe(net.toFixed());
  expect(pnl.baseResultUsd).toBe(net.plus(returned).minus(deposited).toFixed());
  expect(new Decimal(pnl.incentivesUsd ?? Number.NaN).minus(incentives).abs().lt('1e-15')).toBe(true);
  expect(pnl.totalUsd).toBe(new Decimal(pnl.baseResultUsd ?? '').plus(pnl.incentivesUsd ?? '').toFixed());
  const rate = net.plus(returned).minus(deposited).plus(incentives).times(100).div(deposited);
  expect(new Decimal(pnl.returnOnEquityPct ?? Number.NaN).minus(rate).abs().lt('1e-13')).toBe(true);
}

const holding = { collateral: units('500'), borrowShares: units('400') * 10n ** 6n };
const open = held(market.id, { ...holding, depositedAssets: units('120') });
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

describe('P&L of a vault', () => {
  const stock = {
    marketId: vault.stockMarket.id,
    collateral: 20n * 10n ** BigInt(vault.stock.decimals),
    borrowShares: 10n * 10n ** 12n,
  };
  const tagged = { equityVaultId: vault.id, addedUsd: new Decimal('5'), removedUsd: new Decimal('1.5') };

  test('default: the value of an open one is that of both legs, and its deposits are the registered ones', () => {
    const row = rowOf(market.id, tagged);
    const { equityPositions, positions } = portfolioOf({
      chain: robinhood,
      facts,
      positions: [open],
      stocks: [stock],
      rows: [row],
    });
    expect(positions).toEqual([]);
    const [found] = equityPositions;
    expect(found).toMatchObject({ status: 'open', vaultId: vault.id, equity: { yieldLoopMatch: 'tagged' } });
    const [leg, loop] = [sdkValue(vault.stockMarket, stock), sdkValue(market, holding)];
    expectPnl((found as PortfolioVault).pnl, {
      deposited: new Decimal(105),
      returned: new Decimal('1.5'),
      net: leg.collateral.minus(leg.debt).plus(loop.collateral).minus(loop.debt),
      incentives: loop.debt.times(hourByHour(row.createdAtMs, Number(BLOCK.timestamp) * 1_000)),
    });
  });

  test('behavior: incentives of the stock leg accrue since the first deposit', () => {
    const paying = withItem(completeFacts(robinhood), 'incentiveHistory', vault.stockMarket.id, {
      value: paid('borrow'),
    });
    const first = rowOf(market.id, tagged);
    const second = rowOf(market.id, { ...tagged, positionIndex: 1, createdAtMs: NOW_MS - 5 * DAY });
    const positions = [open, { ...open, id: 1 }];
    const seen = { chain: robinhood, facts: paying, positions, stocks: [stock], rows: [second, first] };
    const [found] = portfolioOf(seen).equityPositions;
    const { debt } = sdkValue(vault.stockMarket, stock);
    const earned = debt.times(hourByHour(first.createdAtMs, Number(BLOCK.timestamp) * 1_000));
    expect(new Decimal(found?.pnl.incentivesUsd ?? Number.NaN).minus(earned).abs().lt('1e-15')).toBe(true);
    const [unregistered] = portfolioOf({ ...seen, rows: [] }).equityPositions;
    expect(unregistered?.pnl.incentivesUsd).toBeUndefined();
  });

  test.each([
    ['0', false],
    ['0.01', true],
    ['1', true],
  ])('behavior: a market whose recorded APR is %s %% pays incentives: %s', (apr, pays) => {
    const steps = [{ atMs: NOW_MS - DAY, ratePct: new Decimal(apr) }];
    const campaign = { ...paid('borrow').campaigns[0], startsAtMs: NOW_MS - DAY, steps };
    const value = { campaigns: [campaign] } as ReturnType<typeof paid>;
    const rewards = marketRewards(withItem(facts, 'incentiveHistory', market.id, { value }), market.id);
    expect('pays' in rewards && rewards.pays).toBe(pays);
  });

  test('behavior: the bad debt of its loops is that of the vault', () => {
    const under = { collateral: units('300'), borrowShares: units('400') * 10n ** 6n };
    const drowned = held(market.id, { ...under, depositedAssets: units('120') });
    const seen = { chain: robinhood, facts, positions: [drowned], stocks: [stock], rows: [rowOf(market.id, tagged)] };
    const { debt, collateral } = sdkValue(market, under);
    expect(portfolioOf(seen).equityPositions[0]?.pnl.badDebtUsd).toBe(debt.minus(collateral).toFixed());
  });

  test('behavior: the ended loops of one vault are one item, those of no vault one each', () => {
    const row = rowOf(market.id, { ...tagged, isOpen: false, closedAtMs: NOW_MS - 3 * DAY });
    const positions = [0, 1, 2, 3].map((id) => held(market.id, { id, open: false, depositedAssets: units('40') }));
    const rows = [row, { ...row, positionIndex: 2 }];
    const { closed } = portfolioOf({ chain: robinhood, facts, positions, rows });
    const shown = closed.map((item) =>
      item.kind === 'vault' ? item.loops.map(({ position }) => position.id) : item.position.id,
    );
    expect(shown).toHaveLength(3);
    expect(shown).toContainEqual(expect.arrayContaining([0, 2]));
    expect(shown).toEqual(expect.arrayContaining([1, 3]));
  });

  test('behavior: a closed one is listed as the vault', () => {
    const closedAtMs = NOW_MS - 3 * DAY;
    const row = rowOf(market.id, { ...tagged, isOpen: false, closedAtMs, returnedUsd: new Decimal('108') });
    const ended = held(market.id, { open: false, depositedAssets: units('40') });
    const { closed, header } = portfolioOf({ chain: robinhood, facts, positions: [ended], rows: [row] });
    expect(header).toEqual({ totalDepositedUsd: '0', openCount: 0 });
    expect(closed).toMatchObject([
      {
        ...{ kind: 'vault', status: 'closed', vaultId: vault.id, stockSymbol: vault.stock.displaySymbol },
        ...{ equity: null, loops: [{ drift: null }] },
      },
    ]);
    expectPnl((closed[0] as PortfolioVault).pnl, {
      deposited: new Decimal(105),
      returned: new Decimal('109.5'),
      net: new Decimal(0),
      incentives: new Decimal(40).times(PRICE).times(4).times(hourByHour(row.createdAtMs, closedAtMs)),
    });
  });

  test('behavior: without a row the deposits are unknown', () => {
    const loop = held(market.id, { ...holding, depositedAssets: sdkDebt() });
    const { equityPositions, header } = portfolioOf({ chain: robinhood, facts, positions: [loop], stocks: [stock] });
    expect(equityPositions[0]?.pnl.netValueUsd).toBeDefined();
    expect(equityPositions[0]?.pnl.depositedUsd).toBeUndefined();
    expect(header).toEqual({ openCount: 1 });
  });

  function sdkDebt(): bigint {
    const { debt } = sdkValue((vault as NonNullable<typeof vault>).stockMarket, stock);
    return BigInt(debt.div(PRICE).shiftedBy(market.loan.decimals).toFixed(0));
  }
});

describe('sumPnl', () => {
  const amount = fc
    .bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
    .map((n) => new Decimal(n.toString()).shiftedBy(-18));
  const parts = fc.record({
    depositedUsd: amount,
    returnedUsd: amount,
    netValueUsd: amount,
    incentivesUsd: amount,
    yieldFeeUsd: amount,
  });

  test('default: parts sum to the totals of each position and overall, without exponents', () => {
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (all) => {
        const pnls = all.map(toPnl);
        const sum = sumPnl(pnls);
        for (const pnl of [...pnls, sum]) {
          const value = (name: keyof Omit<Pnl, 'gaps'>) => new Decimal(pnl[name] ?? Number.NaN);
          const base = value('netValueUsd').plus(value('returnedUsd')).minus(value('depositedUsd'));
          expect(base.eq(value('baseResultUsd'))).toBe(true);
          expect(base.plus(value('incentivesUsd')).eq(value('totalUsd'))).toBe(true);
          const fee = value('yieldFeeUsd');
          expect(base.minus(fee).eq(value('baseResultAfterFeeUsd'))).toBe(true);
          expect(value('totalUsd').minus(fee).eq(value('totalAfterFeeUsd'))).toBe(true);
          expect(JSON.stringify(pnl)).not.toMatch(/\de[+-]?\d/);
        }
        const total = pnls.reduce((one, pnl) => one.plus(pnl.totalUsd ?? Number.NaN), new Decimal(0));
        expect(sum.totalUsd).toBe(total.toFixed());
      }),
    );
  });
});
