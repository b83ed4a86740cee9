import { describe, expect, test } from 'vitest';
import type { Market } from '../../../src/catalog/types.ts';
import { composeEquityPosition, type VaultLoop } from '../../../src/domain/equity/position.ts';
import type { OracleBasis } from '../../../src/domain/facts.ts';
import type { Gap } from '../../../src/domain/freshness/types.ts';
import type { PositionMarketValues } from '../../../src/domain/market/at-block.ts';
import { marketsAt } from '../../../src/domain/market/at-block.ts';
import { closingOf, formatClosing } from '../../../src/domain/position/closing.ts';
import { composePosition, headroomPct } from '../../../src/domain/position/compose.ts';
import { formatPrice, valueHolding } from '../../../src/domain/position/valuation.ts';
import { composeWallet } from '../../../src/domain/position/wallet.ts';
import { staticsOf } from '../../../src/domain/strategy/statics.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { marketOf, NOW_MS } from '../world.ts';
import { BLOCK, composedMarket, composedOf, ethereum, held, holdings, robinhood } from './position-world.ts';

/** Positions, vaults and their results exactly at a limit, and a unit beside it. */

const d = (value: number | string) => new Decimal(value);
const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const composed = composedMarket(composedOf(ethereum), market.id);
const owner = holdings(1, []);
const open = held(market.id, {
  collateral: 1_000n * 10n ** 18n,
  borrowShares: 724n * 10n ** 12n,
  depositedAssets: 200_000_000n,
});
const show = (over: Partial<typeof open> = {}, values: PositionMarketValues = composed) =>
  composePosition({ ...open, ...over }, owner, { market, composed: values });
/** A market that owes exactly one base unit for a million shares, and is not accrued. */
const plain = (over: object = {}): PositionMarketValues => {
  const { value } = composed.facts.lendingState;
  const assets = 10n ** 13n;
  const state = {
    ...value,
    totalBorrowAssets: assets,
    totalBorrowShares: assets * 1_000_000n,
    borrowRate: 0n,
    lastUpdate: value.blockTimestamp,
    totalSupplyAssets: assets * 2n,
  };
  return {
    ...composed,
    facts: { ...composed.facts, lendingState: { ...composed.facts.lendingState, value: state } },
    ...over,
  };
};
const shares = (units: bigint) => units * 1_000_000n;
const fieldsOf = (gaps: readonly Gap[]) => gaps.map(({ field, reason }) => `${field} ${reason}`);

describe('closing', () => {
  const TENTH = 10n ** 17n;

  test.each([
    // Value, debt, basis: fee, payout, result before and after the fee.
    [100n, 100n, 0n, 0n, 0n, 0n, 0n],
    [100n, 101n, 7n, 0n, 0n, -7n, -7n],
    [110n, 100n, 10n, 0n, 10n, 0n, 0n],
    [130n, 100n, 10n, 2n, 28n, 20n, 18n],
  ])(
    'closingOf: a value of %s with a debt of %s on a basis of %s',
    (collateralValue, debt, basis, yieldFee, paysOut, before, after) => {
      expect(closingOf({ collateralValue, debt }, basis, TENTH)).toEqual({
        yieldFee,
        paysOut,
        pnlBeforeFee: before,
        pnlAfterFee: after,
      });
    },
  );

  test('formatClosing: in loan tokens, and in USD where they have a price', () => {
    const closing = closingOf({ collateralValue: 1_300_000n, debt: 1_000_000n }, 100_000n, TENTH);
    expect(formatClosing(closing, market, d(2))).toEqual({
      yieldFee: '0.02',
      paysOut: '0.28',
      pnlBeforeFee: '0.2',
      pnlAfterFee: '0.18',
      yieldFeeUsd: '0.04',
      paysOutUsd: '0.56',
      pnlBeforeFeeUsd: '0.40',
      pnlAfterFeeUsd: '0.36',
    });
    expect(Object.keys(formatClosing(closing, market, undefined))).toEqual([
      'yieldFee',
      'paysOut',
      'pnlBeforeFee',
      'pnlAfterFee',
    ]);
  });

  test('behavior: costs the fee of the contract, and in manual mode none', () => {
    const value = valueHolding(open, composed, BLOCK.timestamp);
    const gain = value.collateralValue - value.debt - open.depositedAssets;
    expect(show().closeNow?.yieldFee).toBe(
      d((gain / 20n).toString())
        .shiftedBy(-6)
        .toFixed(),
    );
    const manual = show({ manualMode: true });
    expect([manual.closeNow?.yieldFee, manual.manualMode]).toEqual(['0', true]);
    const later = valueHolding(open, composed, BLOCK.timestamp + 1_800n).debt;
    expect(manual.manual).toEqual({ collateral: open.collateral, borrowShares: open.borrowShares, debtLater: later });
    expect([later > value.debt, show().manual, show({ manualMode: undefined }).manual]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    const assumed = { field: 'fees.yieldFeePct', reason: 'NOT_MEASURED', message: 'm' } as const;
    const unsure = { ...composed, fees: { ...composed.fees, gaps: [assumed] } };
    expect(fieldsOf(show({}, unsure).gaps)).toEqual(['closeNow.yieldFee NOT_MEASURED']);
    expect(fieldsOf(show({ manualMode: true }, unsure).gaps)).toEqual([]);
    expect(fieldsOf(show({ manualMode: undefined }).gaps)).toEqual(['manualMode NOT_MEASURED']);
  });
});

describe('a position', () => {
  test.each([
    // 1,070 of value.
    [1_070_000_000n, null, '100.00'],
    [1_069_999_999n, '1070000000.0', '100.00'],
    [535_000_000n, '2.0', '50.00'],
  ])('behavior: with a debt of %s has a leverage of %s', (debt, currentLeverage, ltvPct) => {
    const shown = show({ borrowShares: shares(debt) }, plain());
    expect([shown.currentLeverage, shown.ltvPct]).toEqual([currentLeverage, ltvPct]);
    const none = ['leverage NOT_APPLICABLE', 'leverageApyPct NOT_APPLICABLE'];
    expect(fieldsOf(shown.gaps)).toEqual(currentLeverage === null ? none : []);
  });

  test('behavior: its APY is computed with the displayed leverage, and its gaps name the rates that are missing from it', () => {
    const rates = { effectiveCollateralApyPct: d(6), netBorrowApyPct: d(4) };
    const missing = { field: 'netBorrowApyPct', reason: 'SOURCE_FAILED', message: 'm' } as const;
    // 6 × 2 − 4 × 1.
    const shown = show({ borrowShares: shares(535_000_000n) }, plain({ ...rates, gaps: [missing] }));
    expect([shown.currentLeverageApyPct, fieldsOf(shown.gaps)]).toEqual(['8.00', ['leverageApyPct SOURCE_FAILED']]);
    expect(headroomPct('50.00', '91.50')).toBe('41.50');
  });

  test('behavior: without a price of its loan the reason is that of the market, or a general one', () => {
    const reasonOf = (gaps: readonly Gap[]) =>
      show({}, { ...composed, loanPrice: undefined, gaps }).gaps.find(({ field }) => field === 'debtUsd')?.reason;
    expect([reasonOf([{ field: 'loanPrice', reason: 'IMPLAUSIBLE', message: '' }]), reasonOf([])]).toEqual([
      'IMPLAUSIBLE',
      'NOT_MEASURED',
    ]);
  });

  test('behavior: has a liquidation price with a debt and collateral only', () => {
    const price = (over: object) =>
      valueHolding({ collateral: 10n ** 18n, borrowShares: shares(1n), ...over }, plain(), BLOCK.timestamp)
        .liquidationPrice;
    expect([price({ collateral: 0n }), price({ borrowShares: 0n })]).toEqual([null, null]);
    expect([price({})?.gt(0), formatPrice(d(0)), formatPrice(d('1.23456789012345'))]).toEqual([
      true,
      '0',
      '1.23456789012',
    ]);
  });
});

describe('a vault', () => {
  const [vault, rival] = robinhood.equityVaults;
  if (!vault || !rival) throw new Error('two vaults expected');
  const all = composedOf(robinhood);
  const [stock, leg] = [composedMarket(all, vault.stockMarket.id), composedMarket(all, vault.yieldMarket.id)];
  const stockHeld = {
    marketId: vault.stockMarket.id,
    collateral: 20n * 10n ** BigInt(vault.stock.decimals),
    borrowShares: 10n ** 13n,
  };
  const loopOf = (id: number, collateral: bigint, borrowShares: bigint, over: Partial<VaultLoop> = {}): VaultLoop => {
    const own = held(vault.yieldMarket.id, { id, collateral, borrowShares });
    return {
      held: own,
      position: composePosition(own, owner, { market: vault.yieldMarket, composed: leg }),
      composed: leg,
      ...over,
    };
  };
  const compose = (loops: readonly VaultLoop[], values: PositionMarketValues | null = stock) =>
    composeEquityPosition(
      {
        vault,
        held: stockHeld,
        match: { match: 'tagged', loopIds: [], candidateIds: [] },
        loops,
        stock: values ?? undefined,
      },
      { ...owner, chainId: 4663 },
    );
  const net = (text: string | null | undefined) => Number(text);

  test('behavior: the net APY weighs its loops by their equity', () => {
    const rates = { ...leg, effectiveCollateralApyPct: d(6), netBorrowApyPct: d(4) };
    const flat = { ...stock, netBorrowApyPct: d(3) };
    const [small, large] = [
      loopOf(0, 100_000_000n, 0n, { composed: rates }),
      loopOf(1, 300_000_000n, 0n, { composed: rates }),
    ];
    const ltv = valueHolding(stockHeld, stock, BLOCK.timestamp).ltvPct as Decimal;
    const apyOf = (legPct: Decimal) => ltv.times(legPct.minus(3)).div(100).toFixed(2);
    expect(compose([small], flat).currentNetApyPct).toBe(apyOf(d(6)));
    const richer = { ...large, composed: { ...rates, effectiveCollateralApyPct: d(10) } };
    expect(compose([small, richer], flat).currentNetApyPct).toBe(apyOf(d(9)));
    expect(compose([], flat).currentNetApyPct).toBe(apyOf(d(0)));
    // A loop without equity earns nothing, and one that has ended is none.
    const drowned = loopOf(2, 100_000_000n, 10n ** 15n, { composed: rates });
    expect(compose([small, drowned], flat).currentNetApyPct).toBe(apyOf(d(6)));
    const ended = { ...large, position: { ...large.position, open: false }, composed: undefined };
    expect(compose([small, ended], flat).currentNetApyPct).toBe(apyOf(d(6)));
  });

  test('behavior: its net value is that of the stock leg and of every open loop', () => {
    const alone = net(compose([]).netValueUsd);
    const loop = loopOf(0, 100_000_000n, 0n);
    expect(net(compose([loop]).netValueUsd) - alone).toBeCloseTo(net(loop.position.netValueUsd), 2);
    // The debt of a loop is not owed beyond its collateral, so one under water takes nothing from the others.
    const drowned = loopOf(1, 100_000_000n, 10n ** 15n);
    expect(Number(drowned.position.netValueUsd)).toBeLessThan(0);
    expect(net(compose([drowned]).netValueUsd)).toBe(alone);
    expect(compose([drowned, loop]).netValueUsd).toBe(compose([loop]).netValueUsd);
    const unpriced = { ...loop, composed: { ...leg, loanPrice: undefined } };
    const unknown = compose([unpriced]);
    expect([unknown.netValueUsd, fieldsOf(unknown.gaps)]).toEqual([undefined, ['netValueUsd NOT_MEASURED']]);
    const unmeasured = compose([{ ...loop, composed: undefined }]);
    expect(fieldsOf(unmeasured.gaps)).toEqual(['netValueUsd NOT_MEASURED', 'netApyPct NOT_MEASURED']);
    expect(compose([], null).freshness).toBeUndefined();
    expect(compose([], null).warnings).toEqual([]);
  });

  test('behavior: only stock with a debt or collateral is a vault, and only open loops belong to one', () => {
    const debt = valueHolding(stockHeld, stock, BLOCK.timestamp).debt;
    const loop = held(vault.yieldMarket.id, { id: 0, depositedAssets: debt, collateral: 10n ** 18n });
    const of = (over: object, stocks = [stockHeld]) => {
      const { equityPositions, positions } = composeWallet(
        robinhood,
        all.lookup.markets,
        holdings(4663, [{ ...loop, ...over }], stocks),
        new Map(),
      );
      return [equityPositions.map(({ yieldLoopMatch }) => yieldLoopMatch), positions.length];
    };
    expect([of({}), of({ collateral: 0n }), of({ open: false })]).toEqual([
      [['basis'], 0],
      [['none'], 1],
      [['none'], 1],
    ]);
    expect(of({}, [{ ...stockHeld, collateral: 0n, borrowShares: 0n }])).toEqual([[], 1]);
    expect(of({}, [{ ...stockHeld, marketId: rival.stockMarket.id }])[0]).toHaveLength(1);
    const left = composeWallet(robinhood, all.lookup.markets, { ...holdings(4663, []), authorized: [] }, new Map());
    expect(left.leftAuthorizations).toEqual([]);
  });
});

describe('a market at a block', () => {
  test('behavior: keeps the difference of its net rate, and a reading of state or price alone', () => {
    const { value } = composed.facts.lendingState;
    const all = composedOf(ethereum);
    const paid = { ...composed, netBorrowApyPct: composed.borrowApyPct.minus(2) };
    const lookup = { ...all.lookup, markets: new Map([[market.id, paid]]) };
    const timestamp = value.blockTimestamp + 60n;
    const read = (lending: object) =>
      marketsAt(
        { ...all, lookup } as never,
        { timestamp, lending: new Map(Object.entries(lending)), oracle: new Map() } as never,
      ).get(market.id);
    const at = read({ [market.id]: { ...value, borrowRate: value.borrowRate * 3n, blockTimestamp: timestamp } });
    expect(at?.netBorrowApyPct.toFixed()).toBe(at?.borrowApyPct.minus(2).toFixed());
    expect([at?.facts.lendingState.asOfMs, at?.facts.oracle]).toEqual([
      Number(timestamp) * 1_000,
      composed.facts.oracle,
    ]);
    expect(read({})).toBe(paid);
    expect(NOW_MS - Number(value.blockTimestamp) * 1_000).toBe(60_000);
  });
});

describe('facts missing in the catalog', () => {
  const gapsOf = (change: Partial<Market['collateral']>, more: Partial<Market> = {}, basis: OracleBasis = 'nav') => {
    const full = { project: 'p', yieldSource: 'y', description: 'd', maturity: 1, underlying: {}, points: {} };
    const of = {
      ...market,
      curator: 'c',
      ...more,
      collateral: { ...market.collateral, ...full, ...change },
    };
    return fieldsOf(staticsOf({ market: of, limits: {}, facts: { oracle: { value: { basis } } } } as never).gaps);
  };

  test.each<[Partial<Market['collateral']>, readonly string[]]>([
    [{}, []],
    [{ project: undefined }, ['collateral.project NOT_MEASURED']],
    [{ yieldSource: undefined, apySource: 'none' }, ['collateral.yieldSource NOT_APPLICABLE']],
    [{ yieldSource: undefined, apySource: 'onchain' }, ['collateral.yieldSource NOT_MEASURED']],
    [{ description: undefined }, ['collateral.description NOT_MEASURED']],
    [{ maturity: undefined }, ['maturesAt', 'maturityDaysLeft'].map((name) => `collateral.${name} NOT_APPLICABLE`)],
    [{ underlying: undefined, isPt: true }, ['collateral.underlying NOT_MEASURED']],
    [{ underlying: undefined, isPt: false }, ['collateral.underlying NOT_APPLICABLE']],
    [{ points: undefined }, ['pointsIncentive NOT_MEASURED']],
    [{ points: { program: null, sourceUrl: '', checkedAtMs: 0 } }, ['pointsIncentive NONE']],
  ])('behavior: %o has the gaps %o', (change, gaps) => {
    expect(gapsOf(change)).toEqual(gaps);
  });

  test('behavior: of its market', () => {
    expect(gapsOf({}, { curator: undefined })).toEqual(['curator NOT_APPLICABLE']);
  });

  test.each(['mixed', 'fixed', 'unstated'] as const)('behavior: an oracle whose price is %s has no type', (basis) => {
    expect(gapsOf({}, {}, basis)).toEqual(['oracle.type NOT_MEASURED']);
  });
});
