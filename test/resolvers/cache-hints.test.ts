import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { recordedMovesOf, stressOfStrategy } from '../../src/features/risk/resolvers/stress.ts';
import { isStaleIn, maturityDaysLeftIn, secondOf, staleForSecIn } from '../../src/resolvers/common/age.ts';
import { readFreshness } from '../../src/resolvers/common/freshness.ts';
import { readCandles, readPriceChart } from '../../src/resolvers/market/charts.ts';
import { listHistories } from '../../src/resolvers/market/histories.ts';
import { readStableIndex } from '../../src/resolvers/market/stable-index.ts';
import { listTokens, readPrice } from '../../src/resolvers/market/tokens.ts';
import { readTvl } from '../../src/resolvers/market/tvl.ts';
import { readReportList } from '../../src/resolvers/ops/ops.ts';
import { readWallet } from '../../src/resolvers/position/positions.ts';
import { listStrategies } from '../../src/resolvers/strategy/strategies.ts';
import type { CacheValidity } from '../../src/shared/cache-validity.ts';
import { chainOf, completeFacts, DAY, NOW_MS } from '../domain/world.ts';
import { contextOf, servicesOf } from './world.ts';

/** A context over facts that can be replaced by a next version. */
function world() {
  let current = servicesOf([completeFacts(chainOf(1), 1), completeFacts(chainOf(4663), 1)]);
  let tvlVersion = 1;
  const base = current;
  const ctx = contextOf({
    ...base,
    composed: (chainId) => current.composed(chainId),
    facts: (chainId) => current.facts(chainId),
    tvl: () => {
      const tvl = base.tvl();
      return tvl && { ...tvl, version: tvlVersion };
    },
  });
  const publish = (chainId: number) => {
    const other = chainId === 1 ? 4663 : 1;
    const next = servicesOf([completeFacts(chainOf(chainId), 2)]);
    const before = current;
    current = {
      ...base,
      composed: (id) => (id === other ? before.composed(id) : next.composed(id)),
      facts: (id) => (id === other ? before.facts(id) : next.facts(id)),
    };
  };
  const measureTvl = () => {
    tvlVersion += 1;
  };
  const validity = (): CacheValidity => {
    const found = ctx.cacheHints.validity();
    if (!found) throw new Error('the answer may not be given again');
    return found;
  };
  return { ctx, validity, publish, measureTvl };
}

const pricesOf = (ctx: ReturnType<typeof world>['ctx']) =>
  listTokens({ first: 500 }, ctx).edges.map(({ node }) => readPrice(node, ctx));

describe('cache hints', () => {
  it('default: an answer without reads is valid forever', () => {
    const { validity } = world();
    expect([validity().untilMs, validity().isCurrent()]).toEqual([Number.POSITIVE_INFINITY, true]);
  });

  it('behavior: an answer is valid until the next version of its chains', () => {
    const one = world();
    listStrategies({ chainIds: [1], first: 5 }, one.ctx);
    const validity = one.validity();
    expect(validity.untilMs).toBe(one.ctx.loaders.composed(1).recomposeAtMs);
    one.publish(4663);
    expect(validity.isCurrent()).toBe(true);
    one.publish(1);
    expect(validity.isCurrent()).toBe(false);

    const both = world();
    listStrategies({ first: 5 }, both.ctx);
    both.publish(4663);
    expect(both.validity().isCurrent()).toBe(false);
  });

  it('behavior: prices and the stablecoin index are valid until the next version of their facts', () => {
    for (const read of [readStableIndex, pricesOf]) {
      const { ctx, validity, publish } = world();
      read(ctx);
      expect(validity().isCurrent()).toBe(true);
      publish(4663);
      expect(validity().isCurrent()).toBe(false);
    }
  });

  it('behavior: the TVL is valid until its next measurement', () => {
    const { ctx, validity, publish, measureTvl } = world();
    readTvl(ctx);
    publish(1);
    expect(validity().isCurrent()).toBe(true);
    measureTvl();
    expect(validity().isCurrent()).toBe(false);
  });

  it('behavior: an age limits the validity to its next change', () => {
    const fresh = world();
    expect(isStaleIn({ asOfMs: NOW_MS, staleAfterSec: 60 }, fresh.ctx)).toBe(false);
    expect(fresh.validity().untilMs).toBe(NOW_MS + 60_001);
    const stale = world();
    expect(isStaleIn({ asOfMs: NOW_MS - 90_500, staleAfterSec: 60 }, stale.ctx)).toBe(true);
    expect(stale.validity().untilMs).toBe(Number.POSITIVE_INFINITY);
    expect(staleForSecIn({ asOfMs: NOW_MS - 90_500, staleAfterSec: 60 }, stale.ctx)).toBe(31);
    expect(stale.validity().untilMs).toBe(NOW_MS + 501);
  });

  it('behavior: days to maturity limit the validity to the day', () => {
    const { ctx, validity } = world();
    expect(maturityDaysLeftIn((NOW_MS + 3.5 * DAY) / 1_000, ctx)).toBe(3);
    expect(validity().untilMs).toBe(NOW_MS + 0.5 * DAY + 1);
    expect(maturityDaysLeftIn(null, ctx)).toBe(null);
  });

  it('behavior: ages and freshness are valid for a second, histories for ten', async () => {
    const age = world();
    expect(secondOf(age.ctx)).toBe(NOW_MS);
    expect(age.validity().untilMs).toBe(NOW_MS + 1_000);
    const freshness = world();
    readFreshness({}, freshness.ctx);
    expect(freshness.validity().untilMs).toBe(NOW_MS + 1_000);
    const histories = world();
    const [chain] = histories.ctx.services.catalog.chains;
    if (!chain) throw new Error('a chain is served');
    await listHistories(chain, { kind: 'borrowApy', resolution: 'DAY', downsampling: 'MEAN' }, histories.ctx);
    expect(histories.validity().untilMs).toBe(NOW_MS + 10_000);
  });

  it('behavior: a stress table is valid until its version changes, with recorded moves until the next reading of the record', async () => {
    const { ctx, validity, publish } = world();
    const [strategy] = listStrategies({ chainIds: [1], first: 1 }, ctx).edges;
    if (!strategy) throw new Error('a strategy is listed');
    const table = stressOfStrategy(strategy.node, {}, ctx);
    expect(validity().untilMs).toBeGreaterThan(NOW_MS + 600_000);
    expect(await recordedMovesOf(table, ctx)).toHaveLength(3);
    expect(validity().untilMs).toBe(NOW_MS + 600_000);
    publish(1);
    expect(validity().isCurrent()).toBe(false);
  });

  const address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  type Context = ReturnType<typeof world>['ctx'];
  test.each<[string, (ctx: Context) => unknown]>([
    ['a price chart', (ctx) => readPriceChart({ coinId: 'ethereum', days: 7, currency: 'usd' }, ctx)],
    ['candles', (ctx) => readCandles({ chainId: 1, address, timeframe: 'hour', aggregate: 1, limit: 10 }, ctx)],
    ['a wallet', (ctx) => readWallet({ address, chainId: 1 }, ctx)],
    ['an ops report', (ctx) => readReportList({}, ctx)],
  ])('behavior: %s is not cacheable', async (_name, read) => {
    const { ctx } = world();
    await read(ctx);
    expect(ctx.cacheHints.validity()).toBeUndefined();
  });
});

test('default: resolvers read the clock only through functions that limit the validity', () => {
  const sources = ['src/resolvers', 'src/schema'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('common/age.ts'))
      .map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')] as const),
  );
  expect(sources.length).toBeGreaterThan(40);
  const readers = sources.filter(([, text]) => /\b(?:ctx|context)\.nowMs\b|Date\.now\(/.test(text));
  expect(readers.map(([name]) => name)).toEqual([]);
});
