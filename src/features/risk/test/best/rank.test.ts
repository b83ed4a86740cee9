import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NOW_MS } from '../../../../../test/domain/world.ts';
import { DAY_MS } from '../../../../domain/apy/series.ts';
import { EXIT_SIZES_USD } from '../../../../domain/facts.ts';
import type { ComposedMarket } from '../../../../domain/market/types.ts';
import { Decimal } from '../../../../shared/decimal.ts';
import { projectReach } from '../../domain/drift.ts';
import { openedHolding } from '../../domain/holding.ts';
import { canBeLiquidated } from '../../domain/liquidation.ts';
import { type BestRequest, rankMarket } from '../../domain/rank.ts';
import type { StressHolding } from '../../domain/types.ts';
import { chain, composed } from '../domain/stress-world.ts';
import { openedAt, request } from './best-world.ts';

const termsOf = (of: ComposedMarket, over: Partial<BestRequest> = {}) => {
  const found = rankMarket(of, request(over));
  if ('reason' in found) throw new Error(`fell out: ${found.reason}`);
  return found;
};
const withMarket = (over: Partial<ComposedMarket['market']['collateral']>): ComposedMarket => ({
  ...composed,
  market: { ...composed.market, collateral: { ...composed.market.collateral, ...over } },
});

describe('rankMarket', () => {
  test('property: the position survives the drawdown until the exit, and a tenth more leverage would not, or is not allowed', () => {
    const endsWithin = (holding: StressHolding, drawdown: Decimal, days: number) => {
      const price = holding.price - BigInt(drawdown.times(holding.price.toString()).div(100).toFixed(0, 2));
      if (canBeLiquidated(holding, price)) return true;
      const reach = projectReach({ ...holding, price }, 'TODAYS_RATE')?.liquidation;
      return reach?.state === 'IN_DAYS' && (reach.days ?? 0) <= days;
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 7_000 }),
        fc.integer({ min: 1, max: 3_650 }),
        fc.nat(chain.markets.length - 1),
        (bps, holdingDays, index) => {
          const of = chain.markets[index] ?? composed;
          const maxDrawdownPct = new Decimal(bps).div(100);
          const over = { maxDrawdownPct, holdingDays, minExitUsd: new Decimal(0), paysCollateral: true };
          const found = rankMarket(of, request(over));
          if ('reason' in found) return true;
          const { largestLeverage, holding, ltvPct } = found;
          const largest = openedAt(of, request(over), largestLeverage);
          const more = largestLeverage.plus('0.1');
          // The tenth above has its own swap of the loan: its equity is a little less, and its debt a little more.
          const equity = new Decimal(10_000).div(of.loanPrice?.value.usd ?? 1);
          const next = openedHolding(of, { leverage: more.plus('0.1'), equity, nowMs: NOW_MS });
          const nextLtvPct = new Decimal(100).minus(new Decimal(100).div(more.plus('0.1')));
          return (
            ltvPct.lte(of.safeLtvPct.plus('0.01')) &&
            !endsWithin(holding, maxDrawdownPct, holdingDays) &&
            !!largest &&
            !endsWithin(largest.holding, maxDrawdownPct, holdingDays) &&
            (nextLtvPct.gt(of.safeLtvPct) || endsWithin(next, maxDrawdownPct, holdingDays))
          );
        },
      ),
    );
  });

  test('a debt that outgrows the collateral lowers the leverage until the position lives to its exit, or leaves none', () => {
    const costly = rankMarket(
      { ...composed, collateralApyPct: new Decimal(1), effectiveCollateralApyPct: new Decimal(30) },
      request({ paysCollateral: true, maxDrawdownPct: new Decimal(2), holdingDays: 1_000 }),
    );
    const short = termsOf(composed, { paysCollateral: true, maxDrawdownPct: new Decimal(2), holdingDays: 30 });
    if ('reason' in costly) throw new Error(costly.reason);
    expect(costly.leverage.lt(short.leverage)).toBe(true);
    const fallen = { ...costly.holding, price: (costly.holding.price * 98n) / 100n };
    expect(projectReach(fallen, 'TODAYS_RATE')?.liquidation.days).toBeGreaterThan(1_000);
    const hopeless = { ...composed, collateralApyPct: new Decimal(-90), effectiveCollateralApyPct: new Decimal(30) };
    expect(rankMarket(hopeless, request({ holdingDays: 3_650 }))).toEqual({
      reason: 'DRAWDOWN',
      value: '1.0',
      limit: '1.1',
    });
  });

  test('property: costs weigh less the longer it is held, and a larger drawdown never allows more leverage', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 60 }), (days, drawdown) => {
        const short = termsOf(composed, { holdingDays: days });
        const long = termsOf(composed, { holdingDays: days + 10 });
        const careful = termsOf(composed, { maxDrawdownPct: new Decimal(drawdown + 1) });
        const bold = termsOf(composed, { maxDrawdownPct: new Decimal(drawdown) });
        return long.netApyPct.gte(short.netApyPct) && careful.largestLeverage.lte(bold.largestLeverage);
      }),
      { numRuns: 30 },
    );
  });

  test('property: where more safety allows less leverage only, no size that was not measured makes it fall out', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 4_000_000 }),
        fc.integer({ min: 0, max: 60 }),
        fc.nat(chain.markets.length - 1),
        (usd, drawdown, index) => {
          const of = chain.markets[index] ?? composed;
          const over = { amountUsd: new Decimal(usd), minExitUsd: new Decimal(0), paysCollateral: true };
          const bold = rankMarket(of, request({ ...over, maxDrawdownPct: new Decimal(drawdown + 10) }));
          const careful = rankMarket(of, request({ ...over, maxDrawdownPct: new Decimal(drawdown) }));
          // Only another reason may exclude a strategy that is ranked with less leverage.
          return 'reason' in bold || !('reason' in careful);
        },
      ),
    );
  });

  test('the leverage is lowered until its swap and its sale are of measured sizes', () => {
    const { value, ...rest } = composed.facts.lendingState;
    const { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares } = value;
    const grown = {
      ...value,
      totalSupplyAssets: totalSupplyAssets * 1_000n,
      totalSupplyShares: totalSupplyShares * 1_000n,
      totalBorrowAssets: totalBorrowAssets * 1_000n,
      totalBorrowShares: totalBorrowShares * 1_000n,
    };
    const facts = { ...composed.facts, lendingState: { ...rest, value: grown } };
    const deep: ComposedMarket = { ...composed, liquidityUsd: new Decimal('1e12'), facts };
    const large = termsOf(deep, { amountUsd: new Decimal(2_000_000), paysCollateral: true });
    const small = termsOf(composed, { amountUsd: new Decimal(10_000), paysCollateral: true });
    // 2.5 times two millions are sold at the exit: the largest measured size.
    expect([large.largestLeverage.lt(small.largestLeverage), large.largestLeverage.toFixed()]).toEqual([true, '2.5']);
  });

  test('falls out without a route where a size has none', () => {
    const sweep = composed.facts.exitLiquidity;
    if (!sweep) throw new Error('the market has no sweep');
    const slippagePct = { ...sweep.value.slippagePct, 5000000: null };
    const facts = { ...composed.facts, exitLiquidity: { ...sweep, value: { ...sweep.value, slippagePct } } };
    const found = rankMarket({ ...composed, facts }, request({ amountUsd: new Decimal(4_000_000) }));
    expect(found).toEqual({ reason: 'NO_ROUTE', value: '4000000', limit: null });
  });

  test('the result is the carry less every cost, relative to the payment', () => {
    const { leverage, netApyPct, positionApyPct, entryCostPct, exitCostPct, yieldFeePct } = termsOf(composed);
    const equity = new Decimal(100).minus(entryCostPct);
    const carry = equity.times(positionApyPct).div(100).times(90).div(365);
    const result = equity.plus(carry).minus(exitCostPct).minus(yieldFeePct).minus(100);
    expect(netApyPct.toFixed(6)).toBe(result.times(365).div(90).toFixed(6));
    // 0.04 % are lost at the smallest size, and 0.05 % are the referral's: of the payment and of the loan.
    const swapped = new Decimal(100).plus(new Decimal(100).times('0.9991').times(leverage.minus(1)));
    expect(entryCostPct.toFixed(6)).toBe(swapped.times('0.0009').toFixed(6));
    expect(exitCostPct.toFixed(6)).toBe(equity.times(leverage).times('0.0004').toFixed(6));
  });

  test('a sale that was measured above its value lowers no cost', () => {
    const sweep = composed.facts.exitLiquidity;
    if (!sweep) throw new Error('the market has no sweep');
    const selling = (lossPct: number): ComposedMarket => {
      const slippagePct = { ...sweep.value.slippagePct };
      for (const size of EXIT_SIZES_USD) slippagePct[size] = new Decimal(lossPct);
      return { ...composed, facts: { ...composed.facts, exitLiquidity: { ...sweep, value: { slippagePct } } } };
    };
    const [gain, par] = [termsOf(selling(-4.9)), termsOf(selling(0))];
    expect(gain.entryCostPct.toFixed(6)).toBe(par.entryCostPct.toFixed(6));
    expect([gain.exitCostPct.toFixed(), gain.netApyPct.toFixed(6)]).toEqual(['0', par.netApyPct.toFixed(6)]);
  });

  test('a campaign pays until its end, and not until the exit', () => {
    const paying = (days: number, side: 'borrowIncentive' | 'collateralIncentive'): ComposedMarket => {
      const campaign = {
        id: '1',
        symbol: 'R',
        aprPct: new Decimal(3),
        startsAtMs: 0,
        endsAtMs: NOW_MS + days * DAY_MS,
      };
      const { effectiveCollateralApyPct, netBorrowApyPct } = composed;
      return {
        ...composed,
        [side]: { aprPct: campaign.aprPct, campaigns: [campaign] },
        ...(side === 'borrowIncentive'
          ? { netBorrowApyPct: netBorrowApyPct.minus(3) }
          : { effectiveCollateralApyPct: effectiveCollateralApyPct.plus(3) }),
      };
    };
    const over = { paysCollateral: true, holdingDays: 90 };
    for (const side of ['borrowIncentive', 'collateralIncentive'] as const) {
      const [none, lasting, ending] = [composed, paying(90, side), paying(9, side)].map((of) => termsOf(of, over));
      if (!none || !lasting || !ending) throw new Error('three terms expected');
      expect(ending.positionApyPct.eq(lasting.positionApyPct), side).toBe(true);
      const beforeFee = ({ netApyPct, yieldFeePct }: typeof none) => netApyPct.plus(yieldFeePct.times(365).div(90));
      const [whole, tenth] = [beforeFee(lasting), beforeFee(ending)].map((pct) => pct.minus(beforeFee(none)));
      expect(tenth?.times(10).toFixed(9), side).toBe(whole?.toFixed(9));
    }
  });

  test('the own borrow lowers the yield', () => {
    const small = termsOf(composed, { paysCollateral: true });
    const large = termsOf(composed, { paysCollateral: true, amountUsd: new Decimal(80_000) });
    expect(large.largestLeverage.eq(small.largestLeverage)).toBe(true);
    expect(large.leverage.lte(small.leverage)).toBe(true);
    expect(large.positionApyPct.lt(small.positionApyPct)).toBe(true);
  });

  test.each<[string, ComposedMarket, Partial<BestRequest>, string, string | null, string | null]>([
    [
      'a collateral that matures too early',
      withMarket({ maturity: NOW_MS / 1_000 + 86_400 }),
      {},
      'MATURITY',
      '2026-06-02',
      '2026-08-30',
    ],
    ['no route', withMarket({ noSwapRoute: true }), {}, 'NO_ROUTE', null, null],
    [
      'no measured exit',
      { ...composed, facts: { ...composed.facts, exitLiquidity: undefined } },
      {},
      'EXIT_UNKNOWN',
      null,
      null,
    ],
    ['a small exit', composed, { minExitUsd: new Decimal(20_000_000) }, 'EXIT_TOO_SMALL', '1000000', '20000000'],
    ['no price', { ...composed, loanPrice: undefined }, {}, 'PRICE_UNKNOWN', null, null],
    ['a drawdown that leaves no leverage', composed, { maxDrawdownPct: new Decimal(95) }, 'DRAWDOWN', '1.0', '1.1'],
    ['more than was measured', composed, { amountUsd: new Decimal(6_000_000) }, 'EXIT_UNKNOWN', '6000000', '5000000'],
    [
      'a dry market',
      { ...composed, liquidityUsd: new Decimal(10) },
      { paysCollateral: true },
      'LIQUIDITY',
      '10.00',
      '1000.00',
    ],
  ])('falls out: %s', (_name, of, over, reason, value, limit) => {
    expect(rankMarket(of, request(over))).toEqual({ reason, value, limit });
  });
});
