import { describe, expect, test } from 'vitest';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { reasonOf } from '../../src/warmers/refresh.ts';
import { changedGroups, fails, world } from './world.ts';

/** Every warmer, the fault of its source, and the groups that only it may write. */
const FAULTS = [
  [
    'lending-state:1',
    ['lendingState', 'oracle'],
    (w) => Object.assign(w.readers.get(1) ?? {}, { readLendingState: fails('timeout') }),
  ],
  [
    'collateral-apy-yieldmarket:1',
    ['collateralApy'],
    (w) => Object.assign(w.ports.yieldmarket, { apys: fails('timeout') }),
  ],
  [
    'collateral-apy-aggregator:1',
    ['collateralApy'],
    (w) => Object.assign(w.ports.aggregator, { apys: fails('timeout') }),
  ],
  [
    'collateral-apy-incentivemarket:1',
    ['collateralApy'],
    (w) => Object.assign(w.ports.incentivemarket, { apys: fails('timeout') }),
  ],
  [
    'collateral-apy-onchain:1',
    ['collateralApy'],
    (w) => Object.assign(w.readers.get(1) ?? {}, { readOnchainRates: fails('timeout') }),
  ],
  [
    'stable-index',
    ['collateralApy', 'stableIndex'],
    (w) => Object.assign(w.ports.stableIndex, { pools: fails('timeout') }),
  ],
  ['incentives:1', ['incentives'], (w) => Object.assign(w.ports.incentives, { live: fails('timeout') })],
  ['prices', ['price'], (w) => w.ports.prices.map((port) => Object.assign(port, { usdPrices: fails('timeout') }))],
  ['exit-liquidity:1', ['exitLiquidity'], (w) => Object.assign(w.ports.routes, { route: fails('timeout') })],
  [
    'deployment:1',
    ['deployment', 'marketSupport', 'tokenContract'],
    (w) => Object.assign(w.readers.get(1) ?? {}, { readDeployment: fails('timeout') }),
  ],
  [
    'shared-liquidity:1',
    ['sharedLiquidity'],
    (w) => Object.assign(w.ports.indexer, { sharedLiquidity: fails('timeout') }),
  ],
] as const satisfies readonly (readonly [string, readonly string[], (w: ReturnType<typeof world>) => unknown])[];

describe('refreshGroup', () => {
  test.each(FAULTS)(
    'behavior: when the source of %s fails, last-good and its age stay, and no other group changes',
    async (name, groups, fault) => {
      const w = world();
      for (const warmer of w.warmers) await w.run(warmer.name);
      const before = w.facts();
      await w.time.advance(60_000);
      fault(w);
      await expect(w.run(name)).rejects.toMatchObject({ code: 'upstream_unavailable' });
      const after = w.facts();
      expect([...changedGroups(before, after)].sort()).toEqual([...groups].sort());
      for (const group of groups) {
        expect(after.groups[group].items).toEqual(before.groups[group].items);
        expect(after.groups[group].failures.size).toBeGreaterThan(0);
        expect(after.groups[group].lastSuccessMs).toBe(before.groups[group].lastSuccessMs);
        expect(after.groups[group].lastAttemptMs).toBe(w.time.clock.now());
        for (const failure of after.groups[group].failures.values()) {
          if (failure.reason !== 'not_configured' && failure.reason !== 'missing')
            expect(failure.reason).toBe('timeout');
        }
      }
    },
  );

  test('behavior: no failures one refresh after the source is back', async () => {
    const w = world();
    const sound = w.ports.yieldmarket.apys;
    w.ports.yieldmarket = { name: 'yieldmarket', apys: fails('malformed') };
    await expect(w.run('collateral-apy-yieldmarket:1')).rejects.toThrow();
    expect(w.facts().groups.collateralApy.items.size).toBe(0);
    expect(w.facts().groups.collateralApy.failures.size).toBe(3);
    w.ports.yieldmarket = { name: 'yieldmarket', apys: sound };
    await w.run('collateral-apy-yieldmarket:1');
    expect(w.facts().groups.collateralApy.failures.size).toBe(0);
    expect(w.facts().groups.collateralApy.items.size).toBe(3);
  });

  test('behavior: a key absent from the source is missing', async () => {
    const w = world();
    w.ports.yieldmarket = { name: 'yieldmarket', apys: async () => ({ values: new Map(), failures: new Map() }) };
    expect(await w.run('collateral-apy-yieldmarket:1')).toEqual({ items: 0, failures: 3, retryable: 3 });
    expect([...w.facts().groups.collateralApy.failures.values()].map(({ reason }) => reason)).toEqual(
      Array(3).fill('missing'),
    );
  });

  test('behavior: a stopped run publishes nothing', async () => {
    const w = world();
    const stop = new AbortController();
    w.ports.yieldmarket = {
      name: 'yieldmarket',
      apys: async () => {
        stop.abort(new Error('stopping'));
        throw stop.signal.reason;
      },
    };
    await expect(w.run('collateral-apy-yieldmarket:1', 'all', stop.signal)).rejects.toThrow('stopping');
    expect(w.facts().version).toBe(0);
  });
});

describe('reasonOf', () => {
  test('behavior: the reason of the adapter, otherwise malformed', () => {
    expect(reasonOf(Object.assign(new UpstreamUnavailableError('x', 'timeout'), { reason: 'timeout' }))).toBe(
      'timeout',
    );
    expect(reasonOf(new TypeError('cannot read'))).toBe('malformed');
    expect(reasonOf('rejected')).toBe('malformed');
  });
});
