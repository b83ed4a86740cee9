import { describe, expect, test } from 'vitest';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import { world } from './world.ts';

describe('createWarmers', () => {
  test('default', () => {
    const w = world();
    expect(w.warmers.map(({ name, everySec, phase }) => `${phase} ${name} ${everySec}`)).toMatchInlineSnapshot(`
      [
        "0 lending-state:1 120",
        "1 deployment:1 300",
        "1 collateral-apy-yieldmarket:1 1800",
        "1 collateral-apy-aggregator:1 43200",
        "1 collateral-apy-incentivemarket:1 43200",
        "1 collateral-apy-onchain:1 600",
        "1 incentives:1 1800",
        "2 incentive-history:1 1800",
        "2 exit-liquidity:1 1800",
        "1 shared-liquidity:1 300",
        "2 borrow-history:1 1800",
        "2 tvl:1 300",
        "0 lending-state:4663 120",
        "1 deployment:4663 300",
        "1 collateral-apy-aggregator:4663 43200",
        "1 collateral-apy-onchain:4663 600",
        "1 incentives:4663 1800",
        "2 incentive-history:4663 1800",
        "2 exit-liquidity:4663 1800",
        "2 borrow-history:4663 1800",
        "2 tvl:4663 300",
        "1 prices 300",
        "1 stable-index 43200",
      ]
    `);
  });

  test('behavior: every group of facts has a warmer, and names are unique', () => {
    const { warmers } = world();
    expect(new Set(warmers.flatMap(({ groups }) => groups))).toEqual(new Set(FACT_GROUPS));
    expect(new Set(warmers.map(({ name }) => name)).size).toBe(warmers.length);
  });

  test('error: a chain without a reader', () => {
    const w = world();
    w.readers.delete(4663);
    expect(() => w.warmers).toThrow('4663');
  });
});
