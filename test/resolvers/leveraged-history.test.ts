import { describe, expect, it } from 'vitest';
import type { ChainFacts } from '../../src/domain/facts.ts';
import { formatLeverage } from '../../src/domain/leverage/leveraged-apy.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import type { HistoryKind, RateKind } from '../../src/loaders/history.ts';
import { listHistories } from '../../src/resolvers/market/histories.ts';
import { type LeveragedHistoryArgs, readLeveragedHistory } from '../../src/resolvers/strategy/leveraged-history.ts';
import { findStrategy, termsOf } from '../../src/resolvers/strategy/strategies.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { BadRequestError, NotFoundError } from '../../src/shared/errors.ts';
import type { MarketId, StrategyId } from '../../src/shared/ids.ts';
import { chainOf, completeFacts, DAY, NOW_MS, withItem } from '../domain/world.ts';
import { contextOf, servicesOf } from './world.ts';

const [loop, vault] = [
  chainOf(1).markets.find(({ collateral }) => collateral.apySource !== 'none'),
  chainOf(4663).equityVaults[0],
];
if (!loop || !vault) throw new Error('a loop and a vault expected');
const plain = chainOf(1).markets.find(({ collateral }) => collateral.apySource === 'none');

const COMPLETE = [1, 4663].map((chainId) => completeFacts(chainOf(chainId)));
/** Of each day, by market and kind: so that a rate of another market or kind gives another result. */
const rateOf = (kind: HistoryKind, id: MarketId, day: number) =>
  new Decimal(kind === 'borrowApy' ? 3 : 9).plus(Number.parseInt(id.slice(2, 4), 16)).plus(day / 8);
const TODAY = Math.floor(NOW_MS / DAY);
/** Ten days; the collateral lacks the third one, and borrow rates begin a day later. */
function worldOf(facts: readonly ChainFacts[] = COMPLETE, without: readonly HistoryKind[] = []) {
  const read: Parameters<typeof servicesOf>[1] = {
    histories: {
      read: async (kind, _chainId, ids, { fromMs, toMs }) => {
        if (without.includes(kind)) return new Map();
        const numbers = Array.from({ length: 10 }, (_, day) => day);
        const days = numbers.filter((day) => (kind === 'borrowApy' ? day !== 0 : day !== 3));
        return new Map(
          ids.map((id) => [
            id,
            {
              points: days
                .map((day) => ({ atMs: (TODAY - 9 + day) * DAY, ratePct: rateOf(kind, id, day) }))
                .filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
              sources: ['chain'],
              stamp: { asOfMs: NOW_MS - (kind === 'borrowApy' ? 60_000 : 30_000), staleAfterSec: 3_600 },
            },
          ]),
        );
      },
    },
  };
  return contextOf(servicesOf(facts, read));
}
const COMMON = [1, 2, 4, 5, 6, 7, 8, 9];
const strategyOf = (id: string, ctx = worldOf()): Strategy => findStrategy({ strategyId: id as StrategyId }, ctx);
const shown = (points: readonly { atMs: number; ratePct: Decimal }[]) =>
  points.map(({ atMs, ratePct }) => [atMs / DAY - TODAY + 9, ratePct.toFixed()]);

describe('readLeveragedHistory', () => {
  it('default: a loop at its default leverage, on the days that both rates have', async () => {
    const ctx = worldOf();
    const strategy = strategyOf(loop.id, ctx);
    const { points, leverage, gaps, stamp } = await readLeveragedHistory(strategy, {}, ctx);
    expect(leverage.toFixed(1)).toBe(strategy.defaultLeverage.leverage);
    expect(shown(points)).toEqual(
      COMMON.map((day) => {
        const [earned, paid] = [rateOf('collateralApy', loop.id, day), rateOf('borrowApy', loop.id, day)];
        return [
          day,
          earned
            .times(leverage)
            .minus(paid.times(leverage.minus(1)))
            .toFixed(),
        ];
      }),
    );
    expect([gaps, stamp?.asOfMs]).toEqual([[], NOW_MS - 60_000]);
  });

  it('default: a vault at its target, from its yield leg at the safe LTV and its stock market', async () => {
    const ctx = worldOf();
    const strategy = strategyOf(vault.id, ctx);
    const { points, leverage } = await readLeveragedHistory(strategy, {}, ctx);
    const { targetLtvPct } = termsOf(strategy, ctx);
    expect(leverage.toFixed()).toBe(new Decimal(targetLtvPct).div(100).plus(1).toFixed());
    const safeLtvPct = strategyOf(vault.yieldMarket.id, ctx).ltvPct.safe;
    const times = new Decimal(formatLeverage(new Decimal(safeLtvPct)));
    expect(shown(points)).toEqual(
      COMMON.map((day) => {
        const paid = rateOf('borrowApy', vault.yieldMarket.id, day);
        const leg = rateOf('collateralApy', vault.yieldMarket.id, day)
          .times(times)
          .minus(paid.times(times.minus(1)));
        const stock = rateOf('borrowApy', vault.stockMarket.id, day);
        return [day, new Decimal(targetLtvPct).div(100).times(leg.minus(stock)).toFixed()];
      }),
    );
  });

  it('behavior: every strategy has one, and without a debt a loop earns its collateral APY and a vault nothing', async () => {
    const ctx = worldOf();
    const ids = [1, 4663].flatMap((chainId) =>
      [...chainOf(chainId).markets.filter(({ kind }) => kind === 'loop'), ...chainOf(chainId).equityVaults].map(
        ({ id }) => id,
      ),
    );
    for (const id of ids) {
      const { points, gaps } = await readLeveragedHistory(strategyOf(id, ctx), { leverage: new Decimal(1) }, ctx);
      expect([id, points.length > 0, gaps]).toEqual([id, true, []]);
      if (id === loop.id) expect(points[0]?.ratePct.toFixed()).toBe(rateOf('collateralApy', loop.id, 1).toFixed());
      if (id === vault.id) expect(points.every(({ ratePct }) => ratePct.isZero())).toBe(true);
    }
  });

  it('behavior: the range is the requested one', async () => {
    const ctx = worldOf();
    const [fromAt, toAt] = [new Date((TODAY - 5) * DAY), new Date((TODAY - 2) * DAY)];
    const { points } = await readLeveragedHistory(strategyOf(loop.id, ctx), { fromAt, toAt }, ctx);
    expect(points.map(({ atMs }) => atMs / DAY - TODAY)).toEqual([-5, -4, -3]);
    const before = { fromAt: new Date((TODAY - 50) * DAY), toAt: new Date((TODAY - 40) * DAY) };
    const { gaps, stamp } = await readLeveragedHistory(strategyOf(loop.id, ctx), before, ctx);
    expect([gaps.map(({ field, reason }) => [field, reason]), stamp === null]).toEqual([
      [['points', 'TOO_SHORT']],
      false,
    ]);
  });

  it('behavior: days are whole UTC days up to the present one, and exclude a range', async () => {
    const ctx = worldOf();
    const of = (args: LeveragedHistoryArgs) => readLeveragedHistory(strategyOf(loop.id, ctx), args, ctx);
    for (const [days, last] of [
      [1, 1],
      [3, 3],
      [400, COMMON.length],
    ] as const) {
      expect((await of({ days })).points.map(({ atMs }) => atMs / DAY - TODAY + 9)).toEqual(COMMON.slice(-last));
    }
    expect((await of({ days: 3 })).range.fromMs).toBe((TODAY - 2) * DAY);
    for (const args of [
      { days: 0 },
      { days: 401 },
      { days: -1 },
      { days: 3, fromAt: new Date(0) },
      { days: 3, toAt: new Date(0) },
    ]) {
      await expect(of(args)).rejects.toThrow(BadRequestError);
    }
  });

  it('behavior: a collateral without a yield earns zero', async () => {
    const ctx = worldOf(COMPLETE, ['collateralApy']);
    const { points } = await readLeveragedHistory(
      strategyOf(plain?.id ?? '', ctx),
      { leverage: new Decimal('1.5') },
      ctx,
    );
    const paid = rateOf('borrowApy', plain?.id as MarketId, 1);
    expect([points.length, points[0]?.ratePct.toFixed()]).toEqual([9, paid.times('-0.5').toFixed()]);
  });

  it.each([
    ['a rate without a record', worldOf(COMPLETE, ['borrowApy']), 'NOT_MEASURED'],
    [
      'incentives that could not be read',
      worldOf([
        withItem(completeFacts(chainOf(1)), 'incentiveHistory', loop.id, {
          failure: { reason: 'timeout', source: 'merkl', sinceMs: NOW_MS - DAY },
        }),
        ...COMPLETE.slice(1),
      ]),
      'SOURCE_FAILED',
    ],
  ])('behavior: %s is a gap, not zero', async (_name, ctx, reason) => {
    const row = await readLeveragedHistory(strategyOf(loop.id, ctx), {}, ctx);
    expect([row.points, row.stamp]).toEqual([[], null]);
    expect(row.gaps.map((one) => [one.field, one.reason])).toEqual([
      ['points', reason],
      ['freshness', reason],
    ]);
  });

  it.each(['0.99', '0', '-3', '900'])('error: BadRequestError for the leverage %s', async (leverage) => {
    const ctx = worldOf();
    for (const id of [loop.id, vault.id]) {
      const found = readLeveragedHistory(strategyOf(id, ctx), { leverage: new Decimal(leverage) }, ctx);
      await expect(found).rejects.toThrow(BadRequestError);
    }
  });
});

describe('listHistories', () => {
  it('behavior: a vault stands for its stock market, and for the market of its yield leg where it earns', async () => {
    const ctx = worldOf();
    const of = async (kind: RateKind, strategyIds: readonly StrategyId[]) =>
      (
        await Promise.all(
          ctx.services.catalog.chains.map((chain) =>
            listHistories(chain, { kind, resolution: 'DAY', downsampling: 'MEAN', strategyIds }, ctx),
          ),
        )
      )
        .flat()
        .map(({ market }) => market.id);
    expect(await of('borrowApy', [vault.id])).toEqual([vault.stockMarket.id]);
    expect(await of('incentiveApr', [vault.id])).toEqual([vault.stockMarket.id]);
    expect(await of('collateralApy', [vault.id])).toEqual([vault.yieldMarket.id]);
    expect(await of('borrowApy', [loop.id as string as StrategyId])).toEqual([loop.id]);
    expect(await of('borrowApy', [])).toEqual([]);
    await expect(of('borrowApy', [`equity-${loop.id}` as StrategyId])).rejects.toThrow(NotFoundError);
  });
});
