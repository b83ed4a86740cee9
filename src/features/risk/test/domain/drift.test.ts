import { AdaptiveCurveIrmLib } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { composedMarket } from '../../../../../test/domain/position/position-world.ts';
import { NOW_MS } from '../../../../../test/domain/world.ts';
import { Decimal } from '../../../../shared/decimal.ts';
import { projectReach } from '../../domain/drift.ts';
import { openedHolding } from '../../domain/holding.ts';
import { stressRow } from '../../domain/rows.ts';
import { stressTable } from '../../domain/table.ts';
import type { StressHolding } from '../../domain/types.ts';
import { STRESS_ENDS } from '../../domain/types.ts';

import { chain, holding, market, withRates } from './stress-world.ts';

describe('drift', () => {
  const growing = (borrowRate: bigint, apyPct: string) =>
    withRates({ borrowRate, collateralApyPct: new Decimal(apyPct) });
  const yearly = (fraction: number) => BigInt(Math.round((fraction * 1e18) / 31_536_000));

  test('at constant rates the time is the logarithm of the room by the difference of the rates', () => {
    const of = growing(yearly(0.1), '0');
    const ltv = Number(stressRow(of, { scenario: 'TODAY' }).ltvPct);
    const days = (limit: number) => (Math.log(limit / ltv) / 0.1) * 365;
    const reach = projectReach(of, 'TODAYS_RATE');
    expect(reach?.safe.days).toBeCloseTo(days(90.5), 2);
    expect(reach?.max.days).toBeCloseTo(days(91.25), 2);
    expect(reach?.liquidation.days).toBeCloseTo(days(91.5), 2);
  });

  test('a collateral that grows as fast as its debt never reaches a limit; one beyond it already has', () => {
    expect(projectReach(growing(0n, '0'), 'TODAYS_RATE')?.safe).toEqual({ state: 'NEVER' });
    expect(projectReach(growing(yearly(0.04), '5'), 'TODAYS_RATE')?.liquidation).toEqual({ state: 'NEVER' });
    const high = { ...growing(yearly(0.1), '0'), debt: (holding.debt * 127n) / 100n };
    const states = Object.values(projectReach(high, 'TODAYS_RATE') ?? {}).map(({ state }) => state);
    expect(states).toEqual(['ALREADY', 'ALREADY', 'IN_DAYS']);
  });

  test('a principal token stops to grow at its maturity', () => {
    const nowSec = Math.floor(holding.nowMs / 1_000);
    const of = growing(yearly(0.05), '20');
    const matures = (days: number): StressHolding => ({
      ...of,
      market: { ...market, collateral: { ...market.collateral, maturity: nowSec + days * 86_400 } },
    });
    expect(projectReach(of, 'TODAYS_RATE')?.liquidation.state).toBe('NEVER');
    const ltv = Number(stressRow(of, { scenario: 'TODAY' }).ltvPct);
    const room = Math.log(91.5 / ltv) + (100 / 365) * (Math.log(1.2) - 0.05);
    expect(projectReach(matures(100), 'TODAYS_RATE')?.liquidation.days).toBeCloseTo(100 + (room / 0.05) * 365, 2);
    expect(projectReach(matures(-5), 'TODAYS_RATE')?.liquidation.days).toBeCloseTo(
      (Math.log(91.5 / ltv) / 0.05) * 365,
      2,
    );
  });

  test("property: along the adaptive curve the days are those of the SDK's own rates, hour by hour", () => {
    const utilization = fc.bigInt(0n, 10n ** 18n);
    const rateAtTarget = fc.bigInt(AdaptiveCurveIrmLib.MIN_RATE_AT_TARGET, AdaptiveCurveIrmLib.MAX_RATE_AT_TARGET);
    fc.assert(
      fc.property(utilization, rateAtTarget, (used, atTarget) => {
        const of = withRates({
          curve: { utilization: used, rateAtTarget: atTarget },
          collateralApyPct: new Decimal(2),
        });
        const found = projectReach(of, 'CONSTANT_UTILIZATION')?.liquidation;
        const growth = Math.log(1.02) / 8_760;
        const room = Math.log(91.5 / Number(stressRow(of, { scenario: 'TODAY' }).ltvPct));
        let [drift, rate, hour] = [0, atTarget, 0];
        const end = 24 * 400;
        while (hour < end && drift < room) {
          const { avgBorrowRate, endRateAtTarget } = AdaptiveCurveIrmLib.getBorrowRate(used, rate, 3_600n);
          drift += (Number(avgBorrowRate) / 1e18) * 3_600 - growth;
          rate = endRateAtTarget;
          hour += 1;
        }
        if (hour === end) return found?.days === undefined || found.days > 395;
        return Math.abs((found?.days ?? -100) - hour / 24) <= 0.05 + hour / 2_400;
      }),
      { numRuns: 25 },
    );
  });

  test('at full utilization every limit is reached earlier than at constant utilization', () => {
    const at = (path: 'CONSTANT_UTILIZATION' | 'FULL_UTILIZATION') =>
      projectReach(holding, path)?.liquidation.days ?? Number.POSITIVE_INFINITY;
    expect(at('FULL_UTILIZATION')).toBeLessThan(at('CONSTANT_UTILIZATION'));
  });
});

describe('several positions together', () => {
  const other = chain.markets.find((of) => of.market.correlated && of.market.id !== market.id)?.market ?? market;
  const second = openedHolding(composedMarket(chain, other.id), {
    leverage: new Decimal(9),
    equity: new Decimal(1_000),
    nowMs: NOW_MS,
  });

  test('sums, the least headroom, the worst end and the number that it ends', () => {
    const [one, two, both] = [stressTable([holding]), stressTable([second]), stressTable([holding, second])];
    for (const [i, row] of both.rows.entries()) {
      const [first, next] = [one.rows[i], two.rows[i]];
      if (!first || !next) throw new Error('a row is missing');
      if (first.equityUsd && next.equityUsd) {
        // Bad debt of one position does not reduce the equity of the other.
        const total = Decimal.max(first.equityUsd, 0).plus(Decimal.max(next.equityUsd, 0));
        expect(
          total
            .minus(row.equityUsd ?? 0)
            .abs()
            .lte('0.01'),
        ).toBe(true);
      }
      expect(Number(row.headroomPct)).toBe(Math.min(Number(first.headroomPct), Number(next.headroomPct)));
      expect(row.endedPositions).toBe(first.endedPositions + next.endedPositions);
      const [least] = STRESS_ENDS.filter((end) => end === first.endsBy || end === next.endsBy);
      expect(row.endsBy).toBe(least);
    }
    expect(two.rows.some(({ equityUsd }) => equityUsd?.startsWith('-'))).toBe(true);
    expect(both.dropToLiquidationPct).toBe(two.dropToLiquidationPct);
    expect(both.gaps.find(({ field }) => field === 'lowestHealthyPrice')?.reason).toBe('NOT_APPLICABLE');
  });

  test('a value that is unknown for one holding is unknown for the sum, except a certain liquidation', () => {
    const table = stressTable([{ ...holding, rates: undefined, loanUsd: undefined }, second], 1);
    expect(table.rows[0]).toMatchObject({ ltvPct: null, equityUsd: null, netApyPct: null, endsBy: null });
    expect(table.rows.find(({ changePct }) => changePct === '-20.00')).toMatchObject({
      endsBy: 'LIQUIDATION',
      endedPositions: 1,
    });
    expect(table.gaps.find(({ field }) => field === 'positionCount')?.message).toMatch(/^1 open /);
  });

  test('without an open position the table is empty', () => {
    const table = stressTable([]);
    expect(table.rows).toEqual([]);
    expect(table.projections.map(({ safe }) => safe)).toEqual([null, null, null]);
  });
});
