import { describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import type { OracleDivergence } from '../../../src/domain/plausibility/types.ts';
import { portfolioContext } from '../../../src/domain/portfolio/context.ts';
import { accrueRewards, type MarketRewards, marketRewards } from '../../../src/domain/portfolio/incentives.ts';
import { stockIncentives, sumPnl } from '../../../src/domain/portfolio/pnl.ts';
import { type PortfolioOrder, queryPortfolios } from '../../../src/domain/portfolio/query.ts';
import { countsOf } from '../../../src/domain/portfolio/report.ts';
import type { Pnl, PortfolioVault } from '../../../src/domain/portfolio/types.ts';
import { openVaultParts } from '../../../src/domain/portfolio/vault-pnl.ts';
import { valueHolding } from '../../../src/domain/position/valuation.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { completeFacts, DAY, NOW_MS, withItem } from '../world.ts';
import { amounts, loop, openedAt, page, reportOf, vaultOf, walletOf, wallets } from './portfolio-lists-world.ts';
import { facts, market, open, paid, sdkValue, units, vault } from './portfolio-pnl-world.ts';
import { portfolioOf, rowOf } from './portfolio-world.ts';
import { BLOCK, composedMarket, composedOf, ethereum, held, holdings, robinhood } from './position-world.ts';

const catalog = createCatalog(curatedChains);
const sightings = { known: new Map(), nowMs: NOW_MS };
const stock = {
  marketId: vault.stockMarket.id,
  collateral: 20n * 10n ** BigInt(vault.stock.decimals),
  borrowShares: 10n * 10n ** 12n,
};
const tagged = { equityVaultId: vault.id };

describe('lists of wallets', () => {
  const inOrder = (order: PortfolioOrder, direction: 'asc' | 'desc') =>
    queryPortfolios([rivals], { ...page, filter: {}, order, direction }).edges.map(({ node }) => Number(node.wallet));
  // Of each wallet the item that counts is the second one, and the first one would change the order.
  const rivals = reportOf([
    walletOf(1, {
      positions: [
        loop(1, 1, {
          position: { ltvHeadroomPct: '9', ltvPct: '8' },
          pnl: { returnOnEquityPct: '7' },
          row: openedAt(9),
        }),
        loop(2, 1, {
          position: { ltvHeadroomPct: '1', ltvPct: '1' },
          pnl: { returnOnEquityPct: '1' },
          row: openedAt(1),
        }),
      ],
    }),
    walletOf(2, {
      positions: [
        loop(3, 2, {
          position: { ltvHeadroomPct: '6', ltvPct: '6' },
          pnl: { returnOnEquityPct: '6' },
          row: openedAt(6),
        }),
        loop(4, 2, {
          position: { ltvHeadroomPct: '2', ltvPct: '2' },
          pnl: { returnOnEquityPct: '2' },
          row: openedAt(2),
        }),
      ],
    }),
  ]);

  test.each(['headroom', 'ltv', 'return', 'age'] as const)(
    'behavior: a wallet has the place of its smallest %s, whichever item it is of',
    (order) => {
      expect([inOrder(order, 'asc'), inOrder(order, 'desc')]).toEqual([
        [1, 2],
        [2, 1],
      ]);
    },
  );

  test('behavior: numbers are compared as numbers', () => {
    const two = reportOf([
      walletOf(1, { positions: [loop(1, 1, { pnl: amounts('100') }), loop(2, 1, { pnl: amounts('-95') })] }),
      walletOf(2, { positions: [loop(3, 2, { pnl: amounts('9') })] }),
    ]);
    const query = { ...page, filter: {}, order: 'value', direction: 'asc' } as const;
    expect(queryPortfolios([two], query).edges.map(({ node }) => Number(node.wallet))).toEqual([1, 2]);
  });

  test('countsOf: each kind by itself', () => {
    const none = { users: 0, open: 0, equity: 0, closed: 0, unresolved: 0, drift: 0, failed: 0 };
    expect(countsOf([])).toEqual(none);
    expect(wallets.map((entry) => countsOf([entry]))).toEqual([
      { ...none, users: 1, open: 2, unresolved: 1, drift: 1 },
      { ...none, users: 1, closed: 1, unresolved: 2 },
      { ...none, users: 1, equity: 1, drift: 1 },
      { ...none, users: 1, failed: 1 },
    ]);
    const two = [vaultOf(5, []), vaultOf(5, [])];
    expect(countsOf([walletOf(5, { equityPositions: two })])).toEqual({ ...none, users: 1, equity: 2 });
  });
});

describe('markets elsewhere', () => {
  const elsewhereOn = (chains: typeof curatedChains, chain = robinhood) =>
    portfolioContext(createCatalog(chains), chain, composedOf(chain), completeFacts(chain), sightings).isElsewhere;
  const [own, foreign] = [robinhood.markets[0]?.id, ethereum.markets[0]?.id];
  if (!own || !foreign) throw new Error('markets expected');

  test('behavior: a market is elsewhere when another served chain has it', () => {
    expect([elsewhereOn(curatedChains)(foreign), elsewhereOn(curatedChains)(own)]).toEqual([true, false]);
  });

  test('behavior: with one chain there is no elsewhere', () => {
    const only = curatedChains.filter(({ chainId }) => chainId === 4663);
    expect(only).toHaveLength(1);
    expect([elsewhereOn(only)(foreign), elsewhereOn(only)(own)]).toEqual([false, false]);
  });
});

describe('sums of P&L', () => {
  const known: Pnl = {
    depositedUsd: '10',
    returnedUsd: '2',
    netValueUsd: '9',
    incentivesUsd: '0.5',
    yieldFeeUsd: '0.25',
    baseResultUsd: '1',
    gaps: [],
  };

  test('behavior: bad debt and diverging values that an item does not have count as none', () => {
    expect(sumPnl([known, { ...known, badDebtUsd: '3', divergentUsd: '4' }])).toMatchObject({
      depositedUsd: '20',
      returnedUsd: '4',
      netValueUsd: '18',
      incentivesUsd: '1',
      yieldFeeUsd: '0.5',
      badDebtUsd: '3',
      divergentUsd: '4',
      baseResultUsd: '2',
      totalUsd: '3',
      returnOnEquityPct: '15',
      baseResultAfterFeeUsd: '1.5',
      totalAfterFeeUsd: '2.5',
      gaps: [],
    });
    expect(sumPnl([known])).toMatchObject({ badDebtUsd: '0', divergentUsd: '0' });
    expect(sumPnl([])).toMatchObject({ depositedUsd: '0', badDebtUsd: '0', returnOnEquityPct: null });
  });
});

describe('a vault', () => {
  const value = (given = facts) => sdkValue(vault.stockMarket, stock, given);
  const vaultIn = (given: typeof facts, change: object = {}) =>
    portfolioOf({
      chain: robinhood,
      facts: given,
      positions: [open],
      stocks: [stock],
      rows: [rowOf(market.id, tagged)],
      ...change,
    }).equityPositions[0] as PortfolioVault;

  test('behavior: nothing of it diverges while its oracles agree with the prices', () => {
    expect(vaultIn(facts).pnl).toMatchObject({ divergentUsd: '0', badDebtUsd: '0' });
  });

  test('behavior: where the stock has diverged, the stock leg is the part that does', () => {
    const { address } = vault.stock;
    const diverged = withItem(facts, 'price', address, { value: { usd: new Decimal('2') } });
    const divergence = composedMarket(composedOf(robinhood, diverged), vault.stockMarket.id).oracleDivergence;
    expect(divergence satisfies OracleDivergence | undefined).toMatchObject({ against: 'price' });
    const { collateral, debt } = value(diverged);
    expect(vaultIn(diverged).pnl.divergentUsd).toBe(collateral.minus(debt).toFixed());
  });

  test('behavior: a stock leg under water is bad debt, and its value is nothing', () => {
    const drowned = { ...stock, borrowShares: 10n ** 9n * 10n ** 12n };
    const leg = sdkValue(vault.stockMarket, drowned);
    const { pnl } = vaultIn(facts, { stocks: [drowned] });
    expect(pnl.badDebtUsd).toBe(leg.debt.minus(leg.collateral).toFixed());
    const alone = sdkValue(market, open);
    expect(pnl.netValueUsd).toBe(alone.collateral.minus(alone.debt).toFixed());
  });

  test('behavior: without a value of the stock leg its net value is unknown, and no amount is made up', () => {
    const context = portfolioContext(catalog, robinhood, composedOf(robinhood, facts), facts, sightings);
    const { equity } = vaultIn(facts);
    if (!equity) throw new Error('an open vault expected');
    const parts = openVaultParts(context, holdings(4663, [open], []), equity, []);
    expect(parts).toMatchObject({
      netValueUsd: { reason: 'NOT_MEASURED', message: 'The stock leg cannot be valued.' },
      incentivesUsd: { reason: 'NOT_MEASURED', message: 'The stock leg is unknown.' },
      depositedUsd: { message: 'Not every loop of the vault is registered.' },
    });
    expect([parts.badDebtUsd?.toFixed(), parts.divergentUsd?.toFixed()]).toEqual(['0', '0']);
  });

  test('behavior: with an opening time ahead of the clock its incentives are unknown', () => {
    const paying = withItem(completeFacts(robinhood), 'incentiveHistory', vault.stockMarket.id, {
      value: paid('borrow'),
    });
    const rows = [
      rowOf(market.id, { ...tagged, createdAtMs: NOW_MS + DAY }),
      rowOf(market.id, { ...tagged, positionIndex: 1 }),
    ];
    const { pnl } = vaultIn(paying, { positions: [open, { ...open, id: 1 }], rows });
    expect(pnl.incentivesUsd).toBeUndefined();
    expect(pnl.gaps.find(({ field }) => field === 'incentivesUsd')).toMatchObject({
      reason: 'IMPLAUSIBLE',
      message: 'The register has a future opening time.',
    });
  });

  test('behavior: without a record of the incentives of the stock market those of the vault are unknown', () => {
    const failure = { reason: 'timeout', source: 'test', sinceMs: 5 } as const;
    const { pnl } = vaultIn(withItem(facts, 'incentiveHistory', vault.stockMarket.id, { failure }));
    expect(pnl.incentivesUsd).toBeUndefined();
    expect(pnl.gaps.find(({ field }) => field === 'incentivesUsd')).toMatchObject({
      reason: 'SOURCE_FAILED',
      sinceMs: 5,
    });
  });

  test('behavior: an ended one was liquidated if any of its loops was', () => {
    const row = rowOf(market.id, { ...tagged, isOpen: false, closedAtMs: NOW_MS - DAY });
    const ended = (id: number, isOpen: boolean) => held(market.id, { id, open: isOpen, depositedAssets: units('4') });
    const statusOf = (...flags: readonly boolean[]) =>
      portfolioOf({
        chain: robinhood,
        facts,
        positions: flags.map((flag, id) => ended(id, flag)),
        rows: flags.map((_, positionIndex) => ({ ...row, positionIndex })),
      }).closed.map((item) => [item.kind, item.kind === 'vault' && item.status]);
    expect(statusOf(false, true)).toEqual([['vault', 'liquidated']]);
    expect(statusOf(true, false)).toEqual([['vault', 'liquidated']]);
    expect(statusOf(false, false)).toEqual([['vault', 'closed']]);
  });
});

describe('stockIncentives', () => {
  const composed = composedMarket(composedOf(robinhood, facts), vault.stockMarket.id);
  const rewards = marketRewards(
    withItem(facts, 'incentiveHistory', vault.stockMarket.id, { value: paid('borrow') }),
    vault.stockMarket.id,
  ) as MarketRewards;
  const life = { fromMs: NOW_MS - 20 * DAY, toMs: NOW_MS + 400 * DAY };

  test('behavior: they are of the debt at the end, with its interest until then', () => {
    const end = valueHolding(stock, composed, BigInt(life.toMs / 1_000)).usd;
    const early = valueHolding(stock, composed, BLOCK.timestamp).usd;
    if (!end || !early) throw new Error('a value expected');
    const earned = stockIncentives(stock, composed, rewards, life);
    expect(end.debt.gt(early.debt)).toBe(true);
    expect(earned).toEqual((accrueRewards(rewards, end, life) as Decimal).decimalPlaces(18));
  });

  test('behavior: a market that pays nothing, that is unknown, or whose rewards are unknown', () => {
    const gap = { field: '', reason: 'NOT_MEASURED', message: 'why' } as const;
    expect(stockIncentives(stock, composed, gap, life)).toBe(gap);
    expect(stockIncentives(stock, undefined, { ...rewards, pays: false }, life)).toEqual(new Decimal(0));
    expect(stockIncentives(stock, undefined, rewards, life)).toMatchObject({
      message: 'The stock leg cannot be valued.',
    });
  });
});

test('composePosition: a closed position has no ratio, price or result of its own', () => {
  const ended = held(market.id, { open: false, depositedAssets: units('4'), returnedAssets: units('5') });
  const { closed } = portfolioOf({ chain: robinhood, facts, positions: [ended] });
  const [item] = closed;
  if (item?.kind !== 'loop') throw new Error('a loop expected');
  expect(item.position).toMatchObject({
    status: 'closed',
    open: false,
    liquidated: false,
    netCollateral: '0',
    amountLoan: '0',
    ltvPct: null,
    ltvHeadroomPct: null,
    currentLeverage: null,
    currentLeverageApyPct: null,
    liquidationPrice: null,
    priceDropToLiquidationPct: null,
    closeNow: null,
    manualMode: null,
    collateralUsd: '0.00',
    debtUsd: '0.00',
    netValueUsd: '0.00',
    exitLiquidity: null,
    amountDepositedInLoanToken: '4',
    amountReturnedInLoanToken: '5',
  });
  expect(item.position.gaps.map(({ field, message }) => `${field}: ${message}`)).toEqual(
    [
      ...['ltvPct', 'ltvHeadroomPct', 'healthFactor', 'leverage', 'leverageApyPct', 'liquidationPrice'],
      ...['priceDropToLiquidationPct', 'closeNow', 'manualMode', 'exitLiquidity'],
    ].map((field) => `${field}: The position is closed.`),
  );
});
