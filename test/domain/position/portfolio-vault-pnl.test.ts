import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { marketRewards } from '../../../src/domain/portfolio/incentives.ts';
import { sumPnl, toPnl } from '../../../src/domain/portfolio/pnl.ts';
import type { Pnl, PortfolioVault } from '../../../src/domain/portfolio/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { completeFacts, DAY, NOW_MS, withItem } from '../world.ts';
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
  vault,
} from './portfolio-pnl-world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { BLOCK, held, robinhood } from './position-world.ts';

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
    const observed = { chain: robinhood, facts: paying, positions, stocks: [stock], rows: [second, first] };
    const [found] = portfolioOf(observed).equityPositions;
    const { debt } = sdkValue(vault.stockMarket, stock);
    const earned = debt.times(hourByHour(first.createdAtMs, Number(BLOCK.timestamp) * 1_000));
    expect(new Decimal(found?.pnl.incentivesUsd ?? Number.NaN).minus(earned).abs().lt('1e-15')).toBe(true);
    const [unregistered] = portfolioOf({ ...observed, rows: [] }).equityPositions;
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
    const observed = {
      chain: robinhood,
      facts,
      positions: [drowned],
      stocks: [stock],
      rows: [rowOf(market.id, tagged)],
    };
    const { debt, collateral } = sdkValue(market, under);
    expect(portfolioOf(observed).equityPositions[0]?.pnl.badDebtUsd).toBe(debt.minus(collateral).toFixed());
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
        kind: 'vault',
        status: 'closed',
        vaultId: vault.id,
        stockSymbol: vault.stock.displaySymbol,
        equity: null,
        loops: [{ drift: null }],
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
