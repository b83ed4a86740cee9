import { describe, expect, test } from 'vitest';
import { marketsAt, marketsAtReadings } from '../../src/domain/market/at-block.ts';
import { isOldPrice, priceAge, priceAsOfMs } from '../../src/domain/market/price-age.ts';
import { ORACLE_SOURCE } from '../../src/domain/market/prices.ts';
import type { OracleDivergence } from '../../src/domain/plausibility/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { composedMarket, composedOf, ethereum } from './position/position-world.ts';
import { marketOf } from './world.ts';

const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const composed = composedOf(ethereum);
const last = composedMarket(composed, market.id);
const state = last.facts.lendingState.value;
const price = last.facts.oracle.value;
const raised = (price.price * 5n) / 4n;
const at = {
  timestamp: state.blockTimestamp + 600n,
  lending: new Map([
    [market.id, { ...state, borrowRate: state.borrowRate * 2n, rateAtTarget: state.rateAtTarget * 2n }],
  ]),
  oracle: new Map([[market.oracle, { ...price, price: raised }]]),
};

describe('marketsAt', () => {
  test('default: state, price and rate are of the block, with its time; the rest is unchanged', () => {
    const values = marketsAt(composed, at).get(market.id);
    expect(values?.facts.oracle).toEqual({
      value: { ...price, price: raised, before: { price: price.price, atMs: Number(at.timestamp) * 1_000 } },
      asOfMs: Number(at.timestamp) * 1_000,
      source: last.facts.oracle.source,
    });
    expect(values?.borrowApyPct.gt(last.borrowApyPct)).toBe(true);
    const incentive = last.borrowApyPct.minus(last.netBorrowApyPct);
    expect(values?.borrowApyPct.minus(values.netBorrowApyPct).eq(incentive)).toBe(true);
    expect(values?.stamps.oracle).toEqual({
      asOfMs: Number(at.timestamp) * 1_000,
      staleAfterSec: last.stamps.oracle.staleAfterSec,
    });
    expect(values?.stamps.collateralApy).toEqual(last.stamps.collateralApy);
    expect(values?.effectiveCollateralApyPct).toBe(last.effectiveCollateralApyPct);
    expect(last.warnings).toEqual([]);
    expect(values?.warnings.map(({ code }) => code)).toEqual(['oracle_jump']);
  });

  test('behavior: the value at the block is compared with a price of another origin, not with that of this oracle', () => {
    const usd = new Decimal(1);
    const found = (source: string, known?: OracleDivergence) => {
      const collateralPrice = { value: { usd }, asOfMs: last.stamps.oracle.asOfMs, source };
      const changed = { ...last, collateralPrice, oracleDivergence: known };
      const markets = new Map([[market.id, changed]]);
      return marketsAt({ ...composed, lookup: { ...composed.lookup, markets } }, at).get(market.id)?.oracleDivergence
        ?.against;
    };
    const known = (against: 'price' | 'before') => ({
      against,
      oracleUsd: usd,
      referenceUsd: usd,
      divergencePct: new Decimal(20),
    });
    expect([found('coingecko'), found(ORACLE_SOURCE)]).toEqual(['price', 'before']);
    expect([found(ORACLE_SOURCE, known('price')), found(ORACLE_SOURCE, known('before'))]).toEqual(['price', 'before']);
  });

  test('behavior: an unreadable market or price uses the last good one, with its age', () => {
    const blank = { ...at, lending: new Map(), oracle: new Map() };
    expect(marketsAt(composed, blank).get(market.id)).toBe(last);
    const priced = marketsAt(composed, { ...at, lending: new Map() }).get(market.id);
    expect(priced?.facts.lendingState).toBe(last.facts.lendingState);
    expect(priced?.stamps.borrow).toEqual(last.stamps.borrow);
    expect(priced?.facts.oracle.value.price).toBe(raised);
  });

  test('behavior: callers of one reading share its values; another composition computes new ones', () => {
    const valuesAt = marketsAtReadings(composed);
    expect(valuesAt(at).get(market.id)).toBe(valuesAt(at).get(market.id));
    expect(valuesAt({ ...at }).get(market.id)).not.toBe(valuesAt(at).get(market.id));
    const again = composedOf(ethereum);
    expect(marketsAt(again, at).get(market.id)).not.toBe(marketsAt(composed, at).get(market.id));
    expect(marketsAt(composed, undefined).get(market.id)).toBe(last);
  });
});

describe('priceAge', () => {
  const [first, second]: [Address, Address] = [
    '0x00000000000000000000000000000000000000F1',
    '0x00000000000000000000000000000000000000F2',
  ];
  const budgets = { heartbeatsSec: new Map([[first, 3_600]]), budgetSec: 90_000 };
  const T = 1_780_000_000n;
  const ms = (at: bigint) => Number(at) * 1_000;

  test('default: age of the oldest feed; old if any feed is past its own heartbeat', () => {
    const age = priceAge(
      [
        { address: first, updatedAt: T },
        { address: second, updatedAt: T - 20_000n },
      ],
      budgets,
    );
    // The hourly one runs out first, though the other one is older.
    expect(age).toMatchObject({ state: 'known', asOfMs: ms(T - 20_000n), feed: first });
    expect(isOldPrice(age, ms(T + 4_200n))).toBe(false);
    expect(isOldPrice(age, ms(T + 4_200n) + 1)).toBe(true);
  });

  test('behavior: a feed without a curated heartbeat has the general budget', () => {
    const age = priceAge([{ address: second, updatedAt: T }], budgets);
    expect(isOldPrice(age, ms(T + 90_000n))).toBe(false);
    expect(isOldPrice(age, ms(T + 90_000n) + 1)).toBe(true);
  });

  test('behavior: distinguishes no feed, no date and no names', () => {
    expect(priceAge([], budgets)).toEqual({ state: 'not_applicable' });
    expect(priceAge(undefined, budgets)).toEqual({ state: 'unknown' });
    expect(priceAge([{ address: first, updatedAt: T }, { address: second }], budgets)).toEqual({ state: 'unknown' });
    const dated = [
      { address: first, updatedAt: T + 5n },
      { address: second, updatedAt: T },
      { address: first, updatedAt: T + 9n },
    ];
    expect(priceAsOfMs(dated)).toBe(Number(T) * 1_000);
    expect([priceAsOfMs([]), priceAsOfMs(undefined), priceAsOfMs([{ address: first }])]).toEqual([
      null,
      undefined,
      undefined,
    ]);
  });
});
