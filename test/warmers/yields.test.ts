import { describe, expect, test } from 'vitest';
import { trailingOf, windowMeans } from '../../src/domain/apy/series.ts';
import { all, catalog, ethereum, fails, NOW_MS, pct, token, world } from './world.ts';

describe('collateral-apy', () => {
  test('behavior: every source fills its own tokens; tokens without a source are not requested', async () => {
    const w = world();
    for (const { name } of w.warmers.filter(({ groups }) => groups.includes('collateralApy'))) await w.run(name);
    for (const chain of catalog.chains) {
      const { items, failures } = w.facts(chain.chainId).groups.collateralApy;
      for (const { address, apySource } of chain.tokens) {
        const known = items.get(address)?.source ?? failures.get(address)?.source;
        expect(known).toBe(apySource === 'none' ? undefined : apySource);
      }
    }
  });

  test('behavior: a per-second rate in ray becomes an APY; no growth is a measured zero', async () => {
    const w = world();
    await w.run('collateral-apy-onchain:1');
    expect(w.facts().groups.collateralApy.items.get(token('stUSDS').address)?.value.apyPct.toFixed()).toBe('0');
  });

  test('behavior: does not request a matured principal token, and keeps its last-good', async () => {
    const w = world();
    await w.run('collateral-apy-yieldmarket:1');
    const before = w.facts().groups.collateralApy.items;
    const first = Math.min(...ethereum.tokens.flatMap(({ maturity }) => maturity ?? [])) * 1_000;
    await w.time.advance(first - w.time.clock.now());
    const sound = w.ports.yieldmarket.apys;
    const requested: string[] = [];
    w.ports.yieldmarket = {
      name: 'yieldmarket',
      apys: (chain, tokens) => {
        requested.push(...tokens.map(({ symbol }) => symbol));
        return sound(chain, tokens);
      },
    };
    await w.run('collateral-apy-yieldmarket:1');
    expect(requested).toEqual(['PT-apxUSD-5NOV2026', 'PT-apyUSD-5NOV2026']);
    const matured = token('PT-stcUSD-23JUL2026').address;
    expect(w.facts().groups.collateralApy.items.get(matured)).toBe(before.get(matured));
    expect(w.facts().groups.collateralApy.failures.size).toBe(0);
  });

  test('behavior: a missing history does not remove the known one', async () => {
    const w = world();
    const history = [{ atMs: NOW_MS - 5 * 86_400_000, ratePct: pct('3') }];
    const keys = [token('wstETH').address];
    w.ports.aggregator = { name: 'aggregator', apys: async () => all(keys, () => ({ apyPct: pct('3'), history })) };
    await w.run('collateral-apy-aggregator:1');
    w.ports.aggregator = { name: 'aggregator', apys: async () => all(keys, () => ({ apyPct: pct('4') })) };
    await w.run('collateral-apy-aggregator:1');
    const value = w.facts().groups.collateralApy.items.get(token('wstETH').address)?.value;
    expect([value?.apyPct.toFixed(), value?.history?.slice(0, 1)]).toEqual(['4', history]);
  });

  test('behavior: a source without a history gets one from our samples, a point a day, which survives the loss of the snapshot', async () => {
    const w = world();
    const key = token('wstETH').address;
    const day = async (on: typeof w, apy: string) => {
      on.ports.aggregator = { name: 'aggregator', apys: async () => all([key], () => ({ apyPct: pct(apy) })) };
      await on.run('collateral-apy-aggregator:1');
      await on.time.advance(86_400_000);
    };
    const historyOf = (on: typeof w) => on.facts().groups.collateralApy.items.get(key)?.value.history;
    for (const apy of ['3', '4', '5']) await day(w, apy);
    const first = NOW_MS - (NOW_MS % 86_400_000);
    expect(historyOf(w)).toEqual([
      { atMs: first, ratePct: pct('3') },
      { atMs: first + 86_400_000, ratePct: pct('4') },
    ]);
    const fresh = world();
    for (const [name, days] of w.apys) fresh.apys.set(name, days);
    await fresh.time.advance(3 * 86_400_000);
    await day(fresh, '6');
    expect(historyOf(fresh)).toHaveLength(3);
    fresh.keepSamples = false;
    await day(fresh, '7');
    expect(historyOf(fresh)).toHaveLength(3);
  });
});

describe('averages of sources without a history', () => {
  test.each([
    ['yieldmarket', 'PT-apxUSD-5NOV2026'],
    ['onchain', 'stUSDS'],
    ['aggregator', 'wstETH'],
  ] as const)('%s: every average appears with its days from our own samples', async (source, symbol) => {
    const w = world();
    const { address } = token(symbol);
    const rate = (day: number) => pct(String(5 + (day % 10) / 10));
    const means = () => {
      const history = w.facts().groups.collateralApy.items.get(address)?.value.history;
      const series = history === undefined ? undefined : trailingOf(history);
      return series ? Object.keys(windowMeans(series, w.time.clock.now())) : [];
    };
    const appeared = new Map<string, number>();
    for (let day = 0; day < 92; day += 1) {
      if (source !== 'onchain')
        w.ports[source] = { name: source, apys: async () => all([address], () => ({ apyPct: rate(day) })) };
      await w.run(`collateral-apy-${source}:1`);
      for (const name of means()) if (!appeared.has(name)) appeared.set(name, day);
      await w.time.advance(86_400_000);
    }
    // A history may begin three days after its window.
    expect([...appeared.keys()]).toEqual(['avg30d', 'avg60d', 'avg90d']);
    for (const [name, day] of appeared) expect(Math.abs(day - Number(name.slice(3, 5))), name).toBeLessThanOrEqual(3);
  });
});

describe('an implausible APY', () => {
  const key = token('wstETH').address;
  const refreshWith = async (w: ReturnType<typeof world>, apy: string, history?: string) => {
    const own = history === undefined ? {} : { history: [{ atMs: NOW_MS - 86_400_000, ratePct: pct(history) }] };
    w.ports.aggregator = { name: 'aggregator', apys: async () => all([key], () => ({ apyPct: pct(apy), ...own })) };
    // An undated value that is read again before its cadence is no further observation.
    await w.time.advance(12 * 3_600_000);
    const report = await w.run('collateral-apy-aggregator:1');
    const { items, failures } = w.facts().groups.collateralApy;
    return [items.get(key)?.value.apyPct.toFixed(), failures.get(key)?.suspect?.value.toFixed(), report.awaiting];
  };

  test.each([
    ['a factor of 100', '700'],
    ['a factor of 0.01', '0.07'],
    ['999 %', '999'],
    ['zero', '0'],
  ])('%s waits for three observations, and the last good one remains', async (_name, absurd) => {
    const w = world();
    await refreshWith(w, '7', '7');
    expect(await refreshWith(w, absurd, absurd)).toEqual(['7', absurd, 1]);
    expect(await refreshWith(w, absurd, absurd)).toEqual(['7', absurd, 1]);
    expect(await refreshWith(w, '7', '7')).toEqual(['7', undefined, undefined]);
    expect(w.facts().groups.collateralApy.items.get(key)?.value.history).not.toContain(`:${absurd}`);
    for (const shown of ['7', '7', absurd]) expect((await refreshWith(w, absurd, absurd))[0]).toBe(shown);
  });

  test('rejects 0 % beside a chart of 7 % on a first start', async () => {
    expect(await refreshWith(world(), '0', '7')).toEqual([undefined, '0', 1]);
  });

  test('on a first start 700 % beside a chart of 700 %, or a value far from our samples, waits for confirmation', async () => {
    const w = world();
    expect(await refreshWith(w, '700', '700')).toEqual([undefined, '700', 1]);
    const known = world();
    await refreshWith(known, '7', '7');
    const lost = world();
    for (const [name, days] of known.apys) lost.apys.set(name, days);
    expect(await refreshWith(lost, '0.07', '0.07')).toEqual([undefined, '0.07', 1]);
    expect((await refreshWith(lost, '7', '7'))[0]).toBe('7');
  });
});

describe('stable-index', () => {
  test('behavior: publishes the list on every chain, and matches tokens by id, then by symbol', async () => {
    const w = world();
    await w.run('stable-index');
    for (const { chainId } of catalog.chains) expect(w.facts(chainId).groups.stableIndex.items.size).toBe(2);
    const { items, failures } = w.facts().groups.collateralApy;
    expect(items.get(token('sUSDe').address)?.value.apyPct.toFixed()).toBe('4.25');
    expect(items.get(token('sUSDS').address)?.value.history).toEqual([{ atMs: 1, ratePct: pct('4') }]);
    expect(failures.get(token('syrupUSDC').address)?.reason).toBe('missing');
  });

  test('behavior: a pool that failed or left the list stays at last-good, as does its token', async () => {
    const w = world();
    await w.run('stable-index');
    const id = '66985a81-9c51-46ca-9977-42b4fe7bc6df';
    const before = w.facts().groups;
    w.ports.stableIndex = { pools: async () => ({ values: new Map(), failures: new Map([[id, 'malformed']]) }) };
    await w.run('stable-index');
    const { stableIndex, collateralApy } = w.facts().groups;
    expect([stableIndex.items, collateralApy.items]).toEqual([before.stableIndex.items, before.collateralApy.items]);
    expect([stableIndex.failures.get(id)?.reason, stableIndex.failures.get('other')?.reason]).toEqual([
      'malformed',
      'missing',
    ]);
    expect(collateralApy.failures.get(token('sUSDe').address)?.reason).toBe('malformed');
  });

  test('behavior: a failing pool does not leave its token to a pool of the same asset on another chain', async () => {
    const w = world();
    const sUsds = token('sUSDS').address;
    const bridged = { id: 'bridged', asset: 'sUSDS', avg7dPct: pct('4.5'), history: [] };
    w.ports.stableIndex = {
      pools: async () => ({
        values: new Map([[bridged.id, bridged]]),
        failures: new Map([['own', 'implausible']]),
        failedAssets: new Map([['own', 'sUSDS']]),
      }),
    };
    await w.run('stable-index');
    const { items, failures } = w.facts().groups.collateralApy;
    expect([items.get(sUsds), failures.get(sUsds)?.reason]).toEqual([undefined, 'not_configured']);
  });

  test('behavior: an index without an answer is a failure', async () => {
    const w = world();
    w.ports.stableIndex = { pools: fails('unreachable') };
    await expect(w.run('stable-index')).rejects.toMatchObject({ reason: 'unreachable' });
    const { lastAttemptMs, lastSuccessMs } = w.facts(4663).groups.stableIndex;
    expect([lastAttemptMs, lastSuccessMs]).toEqual([NOW_MS, null]);
  });
});
