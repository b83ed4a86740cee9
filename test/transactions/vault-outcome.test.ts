import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import type { EquityCall } from '../../src/transactions/equity/batch.ts';
import { depositCosts } from '../../src/transactions/equity/costs.ts';
import { requireVaultMarkets } from '../../src/transactions/equity/eligibility.ts';
import { type ExitLegs, exitCosts } from '../../src/transactions/equity/exit-costs.ts';
import {
  type BatchOutcome,
  depositShortfall,
  exitPlaces,
  observeBatch,
} from '../../src/transactions/equity/outcome.ts';
import { previewDeposit } from '../../src/transactions/equity/preview.ts';
import { selectLoops } from '../../src/transactions/equity/select-loops.ts';
import type { DepositTerms, ExitTerms } from '../../src/transactions/equity/types.ts';
import { foldMarket } from '../../src/transactions/read/market-state.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { chain, loopOf, planned, pricesOf, router, swapOf, user, vaultOf } from './equity-world.ts';
import { depsOf, whole } from './model/scene.ts';

/* Deposits and exits of vaults by hand: one stock is worth 500, one token of the loop 1.07. */

const vault = vaultOf('TSLA');
const { depositToken, stock, stockMarket, yieldMarket } = vault;
const loopToken = yieldMarket.collateral;
const found = { chain, router, vault };
const prices = pricesOf(vault, '500', '1.07');
const d = (value: string | number) => new Decimal(value);
const usdg = (amount: number | string) => whole(amount, depositToken);
const SLIPPAGE = d('0.01');

const market = (of: typeof stockMarket, timestamp: bigint) =>
  foldMarket(
    of,
    [
      [usdg(1_000), usdg(1_000) * 1_000_000n, usdg(600), usdg(600) * 1_000_000n, 1_780_000_000n, 0n],
      1_268_391_679n,
      of === stockMarket ? prices.stock : prices.yield,
      usdg(400),
      undefined,
    ],
    { timestamp, number: 1n },
  );
const at = 1_780_000_000n;

const terms: DepositTerms = planned({
  vault,
  amountIn: usdg(3_000),
  stockLtvPct: d(30),
  slippage: SLIPPAGE,
  prices,
  lossBps: 0n,
});

describe('loops to close', () => {
  test('error: names the candidates by ascending id, for any order of the wallet', () => {
    const own = [9, 2, 10].map((id) => loopOf(id, vault));
    const choice = { vault, match: { match: 'none', loopIds: [], candidateIds: [] }, own, requested: [5] } as const;
    expect(() => selectLoops(choice)).toThrow(
      expect.objectContaining({
        details: { field: 'yieldPositionIds', value: '5', limit: { oneOf: [2, 9, 10] } },
      }),
    );
    expect(() => selectLoops({ ...choice, own: [loopOf(1, vault, 0n)] })).toThrow('Leave the field out');
    expect(selectLoops({ ...choice, own: [loopOf(1, vault, 1n)], requested: [1] })).toHaveLength(1);
  });
});

describe('markets of a vault', () => {
  test('error: NotReady while the rates of one of them have not been measured', () => {
    const { deps } = depsOf({ market: yieldMarket, vault });
    expect(requireVaultMarkets(deps, vault).stock.market.id).toBe(stockMarket.id);
    const composed = deps.composed(4663);
    const markets = new Map([...composed.lookup.markets].filter(([id]) => id !== yieldMarket.id));
    const left = { ...deps, composed: () => ({ ...composed, lookup: { ...composed.lookup, markets } }) };
    expect(() => requireVaultMarkets(left, vault)).toThrow(
      expect.objectContaining({ code: 'not_ready', message: expect.stringContaining('has not been measured yet') }),
    );
  });
});

describe('a deposit with a fee of the contract', () => {
  // One percent of the loop's collateral, of the output of the second swap.
  const depositFee = 10n ** 16n;
  const withFee = { ...terms, depositFee };
  const { zap, leverage } = terms.swaps;
  const fee = (amount: bigint) => amount / 100n;

  test('behavior: is in its costs and in its worst case', () => {
    const costs = depositCosts({ ...withFee, prices }, d('0.5'));
    const taken = d(fee(zap.expectedOut).toString()).shiftedBy(-loopToken.decimals);
    expect(costs.costs.find(({ kind }) => kind === 'DEPOSIT_FEE')).toMatchObject({
      token: loopToken.address,
      amount: taken.toFixed(),
      usd: taken.times('1.07').times('0.5').toFixed(2),
    });
    const worth = (amount: bigint, price: bigint) => (amount * price) / 10n ** 36n;
    const looped = zap.minOut - fee(zap.minOut) + leverage.minOut;
    const least =
      worth(terms.swaps.stock.minOut, prices.stock) -
      terms.stockBorrow +
      worth(looped, prices.yield) -
      terms.amountFlashLoan;
    expect(whole(costs.worstCase.equity, depositToken)).toBe(least);
    const yieldLtv = d(terms.amountFlashLoan.toString()).times(100).div(worth(looped, prices.yield).toString());
    expect(costs.worstCase.yieldLtv).toBe(yieldLtv.toFixed(2));
    expect(costs.worstCase.ltv).toBe('30.00');
    expect(depositCosts({ ...withFee, prices }, undefined).costs.map(({ usd }) => usd)).toEqual(
      costs.costs.map(() => undefined),
    );
  });

  test('behavior: is missing in the previewed loop', () => {
    const { deps } = depsOf({ market: yieldMarket, vault });
    const markets = requireVaultMarkets(deps, vault);
    const rate = { before: d(4), after: d(5) };
    const input = { ...withFee, ...markets, prices, borrowApyPct: { stock: rate, yield: rate } };
    const dated = { stock: {}, yield: { oraclePriceAsOfMs: 77 } };
    const { yieldLeg, netApyPct, netApyBeforePct } = previewDeposit({ ...input, priced: dated });
    const net = zap.expectedOut - fee(zap.expectedOut);
    expect(whole(yieldLeg.depositBasis, depositToken)).toBe((net * prices.yield) / 10n ** 36n);
    const ltv = d(terms.amountFlashLoan.toString())
      .times(100)
      .div((((net + leverage.expectedOut) * prices.yield) / 10n ** 36n).toString());
    expect([yieldLeg.ltvPct, yieldLeg.oraclePriceAsOfMs]).toEqual([ltv.toFixed(2), 77]);
    expect(d(netApyPct).lt(netApyBeforePct)).toBe(true);
    expect(previewDeposit({ ...input, priced: { stock: {}, yield: {} } }).yieldLeg).not.toHaveProperty(
      'oraclePriceAsOfMs',
    );
  });

  test('behavior: an incentive lowers the borrow costs of both legs', () => {
    const { deps } = depsOf({ market: yieldMarket, vault });
    const plain = requireVaultMarkets(deps, vault);
    const rate = { before: d(4), after: d(4) };
    const apys = (more: Partial<typeof plain>) => {
      const preview = previewDeposit({
        ...withFee,
        ...plain,
        ...more,
        prices,
        borrowApyPct: { stock: rate, yield: rate },
        priced: { stock: {}, yield: {} },
      });
      return [preview.yieldLeg.leverageApyPct, preview.netApyPct].map(Number) as [number, number];
    };
    const paid = (of: (typeof plain)['stock']) => ({ ...of, netBorrowApyPct: of.borrowApyPct.minus(1) });
    const [leg, net] = apys({});
    const [paidLeg, paidNet] = apys({ yieldMarket: paid(plain.yieldMarket) });
    expect(paidLeg).toBeGreaterThan(leg);
    expect(paidNet).toBeGreaterThan(net);
    const [sameLeg, stockNet] = apys({ stock: paid(plain.stock) });
    expect([sameLeg, stockNet > net]).toEqual([leg, true]);
  });

  describe('depositShortfall', () => {
    const stockMarketAt = market(stockMarket, at);
    const met = zap.expectedOut - fee(zap.expectedOut) + leverage.expectedOut;
    const swaps = [terms.swaps.stock, zap, leverage];
    const outcome = (more: Partial<BatchOutcome> = {}): BatchOutcome => ({
      fills: swaps.map((swap) => ({ swap, received: swap.expectedOut })),
      received: [],
      repaid: [],
      stock: { collateral: terms.swaps.stock.expectedOut, debt: terms.stockBorrow },
      stockMarket: stockMarketAt,
      loop: { collateral: met, debt: terms.amountFlashLoan },
      ...more,
    });
    const read = { stockBefore: undefined, stockMarket: stockMarketAt, prices };
    const short = (more: Partial<BatchOutcome>, before: Partial<typeof read> | object = {}) =>
      depositShortfall(withFee, { ...read, ...before }, outcome(more), true)?.of;
    // A fifth of the slippage of one percent: 2 ‰ of the swapped amount.
    const tolerance = (swapped: bigint) => (swapped * 2n) / 1_000n;

    test('default: nothing is missing where every swap fills at its quote', () => {
      expect(short({})).toBeUndefined();
      expect(short({ loop: undefined })).toBeUndefined();
    });

    test('behavior: a fill comes first, then the stock leg, then the loop', () => {
      const fills = swaps.map((swap, i) => ({ swap, received: i === 1 ? swap.expectedOut / 2n : swap.expectedOut }));
      expect(short({ fills, stock: { collateral: 0n, debt: 0n } })).toBe('swap_output');
      expect(short({ stock: { collateral: 0n, debt: 0n } })).toBe('net_value');
      expect(short({ loop: { collateral: 0n, debt: 0n } })).toBe('net_value');
    });

    test('behavior: to the unit, of the debt of the stock leg and of the loop', () => {
      const { collateral, debt } = outcome().stock;
      const ofStock = tolerance(terms.swaps.stock.quote.amountIn);
      expect(short({ stock: { collateral, debt: debt + ofStock } })).toBeUndefined();
      expect(short({ stock: { collateral, debt: debt + ofStock + 1n } })).toBe('net_value');
      const ofLoop = tolerance(terms.stockBorrow + terms.amountFlashLoan);
      const loop = { collateral: met, debt: terms.amountFlashLoan };
      expect(short({ loop: { ...loop, debt: loop.debt + ofLoop } })).toBeUndefined();
      expect(short({ loop: { ...loop, debt: loop.debt + ofLoop + 1n } })).toBe('net_value');
    });

    test('behavior: a stock leg before it, and the interest of its debt until the simulated block, are no shortfall', () => {
      const before = { collateral: 7n * 10n ** 18n, debt: usdg(200) };
      const later = market(stockMarket, at + 86_400n);
      const grown = later.sdk.toBorrowAssets(stockMarketAt.sdk.toBorrowShares(before.debt, 'Down'), 'Up');
      const { collateral, debt } = outcome().stock;
      const ended = (more: bigint) => ({
        stock: { collateral: before.collateral + collateral, debt: grown + debt + tolerance(usdg(3_000)) + more },
        stockMarket: later,
      });
      expect(short(ended(0n), { stockBefore: before })).toBeUndefined();
      expect(short(ended(1n), { stockBefore: before })).toBe('net_value');
      expect(grown > before.debt).toBe(true);
    });
  });
});

describe('an exit', () => {
  const sale = (out: bigint, token = loopToken): PlannedSwap => ({
    ...swapOf(token, depositToken, 10n ** 18n, out, SLIPPAGE),
    reference: out,
    lossPct: d(0),
  });
  const leg = (out: bigint, debt: bigint, token = loopToken) => ({
    market: token === loopToken ? vault.yieldMarket : vault.stockMarket,
    collateral: 1n,
    value: out,
    debt,
    debtLater: debt + 1n,
    swap: sale(out, token),
    requested: { field: '', value: '' },
  });
  const loops = [
    { ...leg(usdg(1_000), usdg(900)), id: 4, proxy: user, basis: usdg(60) },
    { ...leg(usdg(500), usdg(400)), id: 7, proxy: router, basis: usdg(20) },
  ];
  // A tenth of the yield.
  const legs: ExitLegs = {
    vault,
    loops,
    stock: leg(usdg(2_000), usdg(700), stock),
    equity: usdg(1_500),
    yieldFee: 10n ** 17n,
    usdOf: (token) => (token === depositToken.address ? d(1) : undefined),
  };

  test('behavior: pays the fee on the yield of each loop, and at least the minimums less debts and fees', () => {
    const { costs, worstCase } = exitCosts(legs);
    // (100 − 60) / 10 + (100 − 20) / 10.
    expect(costs.find(({ kind }) => kind === 'YIELD_FEE')?.amount.toFixed()).toBe('12');
    expect(costs.map(({ kind }) => kind)).toEqual(['EXIT_SWAP', 'EXIT_SWAP', 'STOCK_SWAP', 'YIELD_FEE']);
    // 990 − 900, 495 − 400 and 1,980 − 700, each a unit less; fees of 2.999999 and 7.499999.
    expect(worstCase.paidOut.toFixed()).toBe('1454.499999');
    expect(worstCase.equity).toBe(worstCase.paidOut);
    expect(
      exitCosts(legs, usdg(3))
        .costs.find(({ kind }) => kind === 'YIELD_FEE')
        ?.amount.toFixed(),
    ).toBe('3');
    expect(exitCosts({ ...legs, yieldFee: 0n }).worstCase.paidOut.toFixed()).toBe('1464.999997');
  });

  const calls = ['deleverage', 'deleverage', 'setAuthorization', 'equityExit', 'setAuthorization'].map(
    (type) => ({ to: user, data: '0x', value: 0n, action: { type, args: {} } }) as unknown as EquityCall,
  );
  const exit: ExitTerms = {
    vault,
    router,
    stockSwap: legs.stock.swap,
    slippage: SLIPPAGE,
    loops: loops.map(({ id, proxy, swap }) => ({ positionId: id, proxy, swap })),
  };

  test('behavior: each loop is sold in a call of its own, the stock in that of the router', () => {
    const places = exitPlaces(found, exit, calls.toReversed().concat(calls));
    expect(places.map(({ executor, callIndex }) => [executor, callIndex])).toEqual([
      [chain.contracts.flashLeverage, 3],
      [chain.contracts.flashLeverage, 4],
      [router, 1],
    ]);
  });

  test('behavior: the payout of a call is the difference of the balances around it', () => {
    const places = exitPlaces(found, exit, calls);
    const { observations, watched, fold } = observeBatch({
      found,
      user,
      calls,
      swaps: places,
      opens: false,
      proxies: [user, router],
    });
    expect(observations.map(({ afterCalls }) => afterCalls)).toEqual([0, 1, 2, 3, 4, 5, ...Array(6).fill(5)]);
    expect(watched.opens).toBeUndefined();
    expect(watched.repays.map(({ proxy, callIndex }) => [proxy, callIndex])).toEqual([
      [user, 0],
      [router, 1],
    ]);
    const rows = [usdg(1_000), usdg(1_000) * 1_000_000n, usdg(600), usdg(600) * 1_000_000n, at, 0n];
    const outcome = fold({
      simulated: true,
      way: 'simulate_v1',
      gasUsed: 1n,
      timestamp: at,
      answers: [10n, 15n, 12n, 12n, 40n, 41n, [0n, 5_000_000n, 9n], rows, 1n, prices.stock, 1n, undefined],
      movements: { fills: [], repaid: [3n, 4n] },
    });
    expect(outcome).toMatchObject({
      received: [5n, -3n, 0n, 28n, 1n],
      repaid: [3n, 4n],
      stock: { collateral: 9n, debt: 5n },
      loop: undefined,
    });
  });
});
