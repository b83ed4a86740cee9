import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyChainFacts } from '../../src/domain/facts.ts';
import { groupHealth } from '../../src/domain/freshness/health.ts';
import { isStale, nextChangeMs, renderStamp, staleForSec, stampOf } from '../../src/domain/freshness/stamp.ts';
import { BUDGETS, chainOf, completeFacts, NOW_MS, withItem } from './world.ts';

describe('staleForSec', () => {
  const stamp = stampOf({ asOfMs: 1_000_000 }, 300);

  test.each([
    [1_000_000, undefined],
    [1_300_000, undefined],
    [1_300_001, 1],
    [1_301_000, 1],
    [1_301_001, 2],
    [900_000, undefined],
  ])('default: at %i it is %s', (nowMs, expected) => {
    expect(staleForSec(stamp, nowMs)).toBe(expected);
  });

  test('behavior: rendered only when stale', () => {
    expect(renderStamp(stamp, 1_300_000)).toEqual({ asOf: '1970-01-01T00:16:40.000Z', staleAfterSec: 300 });
    expect(renderStamp(stamp, 1_312_000)).toEqual({
      asOf: '1970-01-01T00:16:40.000Z',
      staleAfterSec: 300,
      staleForSec: 12,
    });
  });
});

describe('nextChangeMs', () => {
  test('behavior: the rendering is valid exactly until then', () => {
    const anyStamp = fc.record({
      asOfMs: fc.integer({ min: 0, max: 10_000_000 }),
      staleAfterSec: fc.integer({ min: 0, max: 5_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(anyStamp, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 20_000_000 }),
        (stamps, now) => {
          const render = (at: number) => JSON.stringify(stamps.map((stamp) => renderStamp(stamp, at)));
          const next = nextChangeMs(stamps, now) as number;
          expect(next).toBeGreaterThan(now);
          expect(render(next - 1)).toBe(render(now));
          expect(render(next)).not.toBe(render(now));
          for (const stamp of stamps) expect(isStale(stamp, now)).toBe((staleForSec(stamp, now) ?? 0) > 0);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('behavior: no change without ages', () => {
    expect(nextChangeMs([], 5)).toBeUndefined();
  });
});

describe('groupHealth', () => {
  const chain = chainOf(1);
  const rowOf = (facts: Parameters<typeof groupHealth>[1], group: string, source?: string, nowMs = NOW_MS) =>
    groupHealth(chain, facts, BUDGETS, nowMs).find((row) => row.group === group && row.source === source);

  test('default', () => {
    const complete = completeFacts(chain);
    expect(rowOf(complete, 'lendingState')).toMatchInlineSnapshot(`
      {
        "ageSec": 60,
        "asOfMs": 1780315140000,
        "budgetSec": 300,
        "group": "lendingState",
        "items": 28,
        "itemsAtLastGood": 0,
        "lastAttemptMs": null,
        "lastSuccessMs": null,
        "neverMeasured": {},
        "status": "fresh",
      }
    `);
  });

  test('behavior: collateral APY has a row and a budget per source', () => {
    const rows = groupHealth(chain, completeFacts(chain), BUDGETS, NOW_MS).filter((r) => r.group === 'collateralApy');
    const status = Object.fromEntries(rows.map((row) => [row.source, [row.status, row.budgetSec]]));
    // Measured an hour ago: past the half hour of the yield market, within the others' twelve.
    expect(status).toEqual({
      yieldmarket: ['stale', 1_800],
      aggregator: ['fresh', 43_200],
      incentivemarket: ['fresh', 43_200],
      stableindex: ['fresh', 43_200],
      onchain: ['fresh', 43_200],
    });
  });

  test('behavior: no measurement is `never`, only failures are `failing`', () => {
    const empty = emptyChainFacts(1);
    expect(rowOf(empty, 'price')?.status).toBe('never');
    const failed = withItem(empty, 'price', 'a', { failure: { reason: 'timeout', source: 'coingecko', sinceMs: 1 } });
    expect(rowOf(failed, 'price')).toMatchObject({ status: 'failing', items: 0, neverMeasured: { timeout: 1 } });
  });

  test('behavior: counts last-good items; an unconfigured one is not a failure', () => {
    const facts = completeFacts(chain);
    const key = chain.stable.address;
    const failure = { reason: 'server_error', source: 'coingecko', sinceMs: 1 } as const;
    const failures = new Map([[key as string, failure]]);
    const price = { ...facts.groups.price, failures };
    const failing = { ...facts, groups: { ...facts.groups, price } };
    expect(rowOf(failing, 'price')).toMatchObject({ status: 'failing', itemsAtLastGood: 1, neverMeasured: {} });
    expect(rowOf(failing, 'price', undefined, NOW_MS + 3_600_000)?.status).toBe('stale');
    const unconfigured = withItem(facts, 'price', '0x1', {
      failure: { reason: 'not_configured', source: 'coingecko', sinceMs: 1 },
    });
    expect(rowOf(unconfigured, 'price')).toMatchObject({ status: 'fresh', neverMeasured: { not_configured: 1 } });
  });

  test('behavior: a successfully empty group is fresh until its budget ends', () => {
    const base = emptyChainFacts(1);
    const sharedLiquidity = { ...base.groups.sharedLiquidity, lastAttemptMs: NOW_MS, lastSuccessMs: NOW_MS };
    const facts = { ...base, groups: { ...base.groups, sharedLiquidity } };
    expect(rowOf(facts, 'sharedLiquidity')).toMatchObject({ status: 'fresh', ageSec: null });
  });
});
