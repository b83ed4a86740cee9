import { AdaptiveCurveIrmLib, MarketUtils } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import {
  BLOCK,
  composedMarket,
  composedOf,
  ethereum,
  held,
} from '../../../../../test/domain/position/position-world.ts';
import { completeFacts, marketOf, NOW_MS } from '../../../../../test/domain/world.ts';
import type { ChainFacts } from '../../../../domain/facts.ts';
import { collateralValueInLoan } from '../../../../domain/leverage/flash-loan.ts';
import { Decimal } from '../../../../shared/decimal.ts';
import { heldHolding, openedHolding } from '../../domain/holding.ts';
import { stressRows } from '../../domain/rows.ts';
import type { StressHolding } from '../../domain/types.ts';

export const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
/** Every market on its adaptive curve, at the utilization that it has. */
export const chain = composedOf(ethereum, curvedFacts());
export const composed = composedMarket(chain, market.id);

function curvedFacts(): ChainFacts {
  const facts = completeFacts(ethereum);
  const items = new Map(facts.groups.lendingState.items);
  for (const [id, fact] of items) {
    const { value } = fact;
    const elapsed = value.blockTimestamp - value.lastUpdate;
    const utilization = MarketUtils.getUtilization(value);
    const { avgBorrowRate } = AdaptiveCurveIrmLib.getBorrowRate(utilization, value.rateAtTarget, elapsed);
    items.set(id, { ...fact, value: { ...value, borrowRate: avgBorrowRate } });
  }
  return { ...facts, groups: { ...facts.groups, lendingState: { ...facts.groups.lendingState, items } } };
}

/** 1,000 sUSDe at 1.07 PYUSD against about 770 PYUSD. */
export const position = held(market.id, { collateral: 1_000n * 10n ** 18n, borrowShares: 724n * 10n ** 12n });
export const holding = heldHolding(position, composed, BLOCK.timestamp);
export const opened = (leverage: string, equity = '10000') =>
  openedHolding(composed, { leverage: new Decimal(leverage), equity: new Decimal(equity), nowMs: NOW_MS });
export const rowsOf = (of: StressHolding, scenario: string) =>
  stressRows(of).filter((row) => row.scenario === scenario);
export const withRates = (over: Partial<NonNullable<StressHolding['rates']>>): StressHolding =>
  holding.rates ? { ...holding, rates: { ...holding.rates, ...over } } : holding;

/** Any holding of any size on any market of the catalog, up to an LTV of 130 %. */
export const anyHolding = fc
  .record({
    index: fc.nat(ethereum.markets.length - 1),
    price: fc.bigInt(10n ** 20n, 10n ** 44n),
    collateral: fc.bigInt(1n, 10n ** 27n),
    ltvBps: fc.integer({ min: 0, max: 13_000 }),
    dust: fc.bigInt(0n, 3n),
  })
  .map(({ index, price, collateral, ltvBps, dust }): StressHolding => {
    const of = chain.markets[index] ?? composed;
    const value = collateralValueInLoan(collateral, price);
    const debt = (value * BigInt(ltvBps)) / 10_000n + dust;
    return { ...heldHolding(held(of.market.id), of, BLOCK.timestamp), price, collateral, debt };
  });
