import { describe, expect, it } from 'vitest';
import { isStaleIn, maturityDaysLeftIn, staleForSecIn } from '../../src/resolvers/common/age.ts';
import { collectIn } from '../../src/resolvers/common/collect.ts';
import type { AppContext } from '../../src/resolvers/common/context.ts';
import { listStrategies } from '../../src/resolvers/strategy/strategies.ts';
import { chainOf, completeFacts, DAY, NOW_MS } from '../domain/world.ts';
import { servicesOf } from './world.ts';

/** A context as the service makes it, over facts that can be replaced by a next version. */
function world() {
  let current = servicesOf([completeFacts(chainOf(1), 1), completeFacts(chainOf(4663), 1)]);
  const base = current;
  const services = {
    ...base,
    composed: (chainId: number) => current.composed(chainId),
    facts: (chainId: number) => current.facts(chainId),
  };
  const ctx = {
    nowMs: NOW_MS,
    caller: { kind: 'anonymous' },
    correlationId: 'test',
    maxPageSize: 500,
    services,
    loaders: {},
  } as unknown as AppContext;
  const collected = collectIn(ctx);
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
  return { ctx, collected, publish };
}

describe('collectIn', () => {
  it('default: an answer from nothing holds forever', () => {
    const { collected } = world();
    expect([collected.reusable, collected.untilMs, collected.holds()]).toEqual([true, Number.POSITIVE_INFINITY, true]);
  });

  it('behavior: an answer holds until the next version of a chain that it was read from', () => {
    const one = world();
    listStrategies({ filter: { chainIds: [1] }, first: 5 }, one.ctx);
    expect(one.collected.reusable).toBe(true);
    one.publish(4663);
    expect(one.collected.holds()).toBe(true);
    one.publish(1);
    expect(one.collected.holds()).toBe(false);

    const both = world();
    listStrategies({ first: 5 }, both.ctx);
    both.publish(4663);
    expect(both.collected.holds()).toBe(false);
  });

  it('behavior: what is settled holds for as long as what was collected', () => {
    expect(world().collected.settled()).toMatchObject({ reusable: true, untilMs: Number.POSITIVE_INFINITY });
    expect(world().collected.settled().holds()).toBe(true);
    for (const chainIds of [[1], [1, 4663]]) {
      const { ctx, collected, publish } = world();
      listStrategies({ filter: { chainIds }, first: 5 }, ctx);
      const settled = collected.settled();
      expect([settled.untilMs, settled.holds()]).toEqual([collected.untilMs, true]);
      publish(1);
      expect(settled.holds()).toBe(false);
    }
  });

  it('behavior: a stamp bounds the answer by its next change', () => {
    const fresh = world();
    expect(isStaleIn({ asOfMs: NOW_MS, staleAfterSec: 60 }, fresh.ctx)).toBe(false);
    expect(fresh.collected.untilMs).toBe(NOW_MS + 60_001);
    const stale = world();
    expect(isStaleIn({ asOfMs: NOW_MS - 90_500, staleAfterSec: 60 }, stale.ctx)).toBe(true);
    expect(stale.collected.untilMs).toBe(Number.POSITIVE_INFINITY);
    expect(staleForSecIn({ asOfMs: NOW_MS - 90_500, staleAfterSec: 60 }, stale.ctx)).toBe(31);
    expect(stale.collected.untilMs).toBe(NOW_MS + 501);
  });

  it('behavior: days to maturity bound the answer by the day', () => {
    const { ctx, collected } = world();
    expect(maturityDaysLeftIn((NOW_MS + 3.5 * DAY) / 1_000, ctx)).toBe(3);
    expect(collected.untilMs).toBe(NOW_MS + 0.5 * DAY + 1);
    expect(maturityDaysLeftIn(null, ctx)).toBe(null);
  });

  it('behavior: who reads the clock without a word gets an answer for a second', () => {
    const { ctx, collected } = world();
    expect(ctx.nowMs).toBe(NOW_MS);
    expect(collected.untilMs).toBe(NOW_MS + 1_000);
  });

  it('behavior: whatever else is used makes the answer good for one time', async () => {
    const charts = world();
    await charts.ctx.services.charts.chart('ethereum', 7, 'usd');
    expect(charts.collected.reusable).toBe(false);
    const positions = world();
    expect(positions.collected.reusable).toBe(true);
    expect(positions.ctx.services.positions.read).toBeTypeOf('function');
    expect(positions.collected.reusable).toBe(false);
  });
});
