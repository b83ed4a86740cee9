import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NOW_MS } from '../../../../../test/domain/world.ts';
import { EXIT_SIZES_USD } from '../../../../domain/facts.ts';
import type { ComposedMarket } from '../../../../domain/market/types.ts';
import { Decimal } from '../../../../shared/decimal.ts';
import { rankMarket } from '../../domain/rank.ts';
import { chain, composed } from '../domain/stress-world.ts';
import { request, resultAt } from './best-world.ts';

/** A market whose swaps lose more, and whose yield is another: of some, the best leverage is between the least and the largest. */
const anyMarket = fc
  .record({
    index: fc.nat(chain.markets.length - 1),
    lossBps: fc.array(fc.integer({ min: -10, max: 140 }), { minLength: 4, maxLength: 4 }),
    apyBps: fc.integer({ min: -300, max: 2_500 }),
  })
  .map(({ index, lossBps, apyBps }): ComposedMarket => {
    const of = chain.markets[index] ?? composed;
    const losses = lossBps.toSorted((a, b) => a - b);
    const slippagePct = Object.fromEntries(
      EXIT_SIZES_USD.map((size, i) => [size, new Decimal(losses[i] ?? 0).div(100)]),
    ) as Record<(typeof EXIT_SIZES_USD)[number], Decimal>;
    const apy = new Decimal(apyBps).div(100);
    const exitLiquidity = { value: { slippagePct }, source: 'x', asOfMs: NOW_MS };
    return {
      ...of,
      collateralIncentive: undefined,
      borrowIncentive: undefined,
      netBorrowApyPct: of.borrowApyPct,
      collateralApyPct: apy,
      effectiveCollateralApyPct: apy,
      facts: { ...of.facts, exitLiquidity: { ...of.facts.exitLiquidity, ...exitLiquidity } },
    } as ComposedMarket;
  });
const anyRequest = fc
  .record({
    usd: fc.integer({ min: 1, max: 300_000 }),
    bps: fc.integer({ min: 0, max: 4_000 }),
    holdingDays: fc.integer({ min: 1, max: 730 }),
  })
  .map(({ usd, bps, holdingDays }) =>
    request({
      amountUsd: new Decimal(usd),
      maxDrawdownPct: new Decimal(bps).div(100),
      minExitUsd: new Decimal(0),
      paysCollateral: true,
      holdingDays,
    }),
  );
const NOISE = new Decimal('1e-5');

test('property: no surviving leverage of the strategy gives more', () => {
  const [inner, checked] = [new Set<string>(), new Set<string>()];
  fc.assert(
    fc.property(anyMarket, anyRequest, (of, asked) => {
      const found = rankMarket(of, asked);
      if ('reason' in found) return;
      const { leverage, largestLeverage, netApyPct } = found;
      expect(leverage.lte(largestLeverage)).toBe(true);
      for (let other = new Decimal('1.1'); other.lte(largestLeverage); other = other.plus('0.1')) {
        const result = resultAt(of, asked, other) ?? netApyPct;
        expect(result.lte(netApyPct.plus(NOISE)), `${other}x gives ${result}, ${leverage}x ${netApyPct}`).toBe(true);
      }
      const own = resultAt(of, asked, leverage);
      expect(own?.minus(netApyPct).abs().lt(NOISE)).toBe(true);
      checked.add(leverage.toFixed());
      if (leverage.gt('1.1') && leverage.lt(largestLeverage)) inner.add(leverage.toFixed());
    }),
    { numRuns: 100, seed: 38 },
  );
  // The property is about something: best leverages lie at both ends, and between them.
  expect([inner.size > 5, checked.size > 20]).toEqual([true, true]);
});

test('property: more safety never gives a better result', () => {
  fc.assert(
    fc.property(anyMarket, anyRequest, fc.integer({ min: 1, max: 1_500 }), (of, asked, bps) => {
      const bold = rankMarket(of, asked);
      const careful = rankMarket(of, { ...asked, maxDrawdownPct: asked.maxDrawdownPct.plus(bps / 100) });
      if ('reason' in careful) return true;
      return !('reason' in bold) && careful.netApyPct.lte(bold.netApyPct.plus(NOISE));
    }),
    { numRuns: 200, seed: 38 },
  );
});
