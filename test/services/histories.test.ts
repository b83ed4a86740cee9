import { describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { RateSample, SampleRepository } from '../../src/database/samples.ts';
import type { ChainFacts, CollateralApy } from '../../src/domain/facts.ts';
import { createHistories } from '../../src/services/histories.ts';
import { createRecordedRates } from '../../src/services/recorded-rates.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { BUDGETS, chainOf, completeFacts, DAY, NOW_MS, withItem } from '../domain/world.ts';

const HOUR = 3_600_000;
const TODAY = Math.floor(NOW_MS / DAY) * DAY;
const range = { fromMs: TODAY - 10 * DAY, toMs: TODAY + DAY };
const catalog = createCatalog(curatedChains);
const chain = chainOf(1);
const { id } =
  chain.markets[0] ??
  (() => {
    throw new Error('the catalog has markets');
  })();

/** Samples of the last ten days: 1 percent on the first of them, 10 on the last. */
const points = Array.from({ length: 10 }, (_, i) => ({
  atMs: TODAY - (10 - i) * DAY,
  ratePct: new Decimal(i + 1),
}));
const facts = withItem(completeFacts(chain), 'borrowHistory', id, { value: { points: points } });

const NO_PRICES = { since: async () => [] };

/** Read the days of the history as `[days from today, percent]`, when we sampled 42 percent at these times. */
async function read(sampledAtMs: readonly number[]) {
  const own = sampledAtMs.map(
    (atMs): RateSample => ({
      marketId: id,
      atMs,
      borrowApy: new Decimal('0.42'),
      utilization: new Decimal('0.9'),
      supplyAssets: 10n,
      borrowAssets: 9n,
      liquidityAssets: 1n,
    }),
  );
  const samples: Pick<SampleRepository, 'readHourly'> = {
    readHourly: async () => new Map(own.length === 0 ? [] : [[id, own]]),
  };
  const snapshot = { facts: () => facts };
  const clock = { now: () => NOW_MS };
  const recorded = createRecordedRates({ samples, clock, timers: systemTimers, logger: silentLogger });
  const histories = createHistories({
    catalog,
    snapshot,
    recorded,
    samples,
    marketSamples: NO_PRICES,
    budgets: BUDGETS,
  });
  const series = (await histories.read('borrowApy', 1, [id], range)).get(id);
  return {
    stamp: series?.stamp,
    sources: series?.sources,
    days: series?.points.map(({ atMs, ratePct }) => [(atMs - TODAY) / DAY, ratePct.toNumber()]),
  };
}
const filled = (from: number, to: number) => points.slice(from + 10, to + 11).map((_, i) => [from + i, from + i + 11]);

describe('borrow APY', () => {
  test('default: uses back-filled days before our first sample', async () => {
    const { days, sources } = await read([TODAY - DAY + 5 * HOUR, TODAY]);
    expect(days).toEqual([...filled(-10, -2), [-1 + 5 / 24, 42], [0, 42]]);
    expect(sources).toEqual(['test', 'chain']);
  });

  test('behavior: back-fills missing days between our samples, without duplicate days', async () => {
    const { days } = await read([TODAY - 8 * DAY + HOUR, TODAY - 3 * DAY]);
    expect(days).toEqual([...filled(-10, -9), [-8 + 1 / 24, 42], ...filled(-7, -4), [-3, 42], ...filled(-2, -1)]);
  });

  test('behavior: either source alone is the history', async () => {
    expect((await read([])).days).toEqual(filled(-10, -1));
    const everyDay = Array.from({ length: 10 }, (_, i) => TODAY - (10 - i) * DAY);
    expect(await read(everyDay)).toMatchObject({ days: filled(-10, -1).map(([day]) => [day, 42]), sources: ['chain'] });
  });
});

/*
 * A history is as old as its newest point, not as new as its fetch.
 */
describe('age', () => {
  const HOURLY = BUDGETS.borrowHistory;
  const DAILY = BUDGETS.dailyHistory;

  test('behavior: the age of borrow APY is that of our newest sample, or of the newest day', async () => {
    expect((await read([NOW_MS - 5 * DAY, NOW_MS - HOUR])).stamp).toEqual({
      asOfMs: NOW_MS - HOUR,
      staleAfterSec: HOURLY,
    });
    expect((await read([])).stamp).toEqual({ asOfMs: TODAY - DAY, staleAfterSec: DAILY });
    // Only samples of the requested range were read; later days of the snapshot count as well.
    expect((await read([TODAY - 8 * DAY])).stamp).toEqual({ asOfMs: TODAY - DAY, staleAfterSec: DAILY });
  });

  const rateOf = (kind: 'collateralApy' | 'incentiveApr', known: ChainFacts) => {
    const recorded = { read: async () => new Map() };
    const samples = { readHourly: async () => new Map() };
    const deps = { catalog, snapshot: { facts: () => known }, recorded, samples, marketSamples: NO_PRICES };
    const histories = createHistories({ ...deps, budgets: BUDGETS });
    return histories.read(kind, 1, [id], range).then((series) => series.get(id));
  };
  const collateral = chain.markets[0]?.collateral;

  test('behavior: a collateral history without its last 40 days is 40 days old', async () => {
    const apyPct = new Decimal(5);
    const frozen = [
      { atMs: TODAY - 41 * DAY, ratePct: new Decimal(4) },
      { atMs: TODAY - 40 * DAY, ratePct: apyPct },
    ];
    const fetched = (value: CollateralApy) =>
      withItem(completeFacts(chain), 'collateralApy', collateral?.address ?? '', { value, asOfMs: NOW_MS });
    const old = await rateOf('collateralApy', fetched({ apyPct, history: frozen }));
    expect(old?.stamp).toEqual({ asOfMs: TODAY - 40 * DAY, staleAfterSec: DAILY });
    const alone = await rateOf('collateralApy', fetched({ apyPct }));
    expect(alone?.stamp.asOfMs).toBe(NOW_MS);
    expect(alone?.points).toEqual([{ atMs: NOW_MS, ratePct: apyPct }]);
  });

  const campaign = {
    id: 'c',
    symbol: 'ABC',
    startsAtMs: TODAY - 60 * DAY,
    endsAtMs: TODAY + 60 * DAY,
  };
  const paying = (nowPct: number, steps: readonly (readonly [number, number])[]) => {
    const packed = steps.map(([day, pct]) => ({ atMs: TODAY + day * DAY, ratePct: new Decimal(pct) }));
    const live = { value: { borrow: [{ ...campaign, aprPct: new Decimal(nowPct) }], collateral: [] }, asOfMs: NOW_MS };
    return withItem(withItem(completeFacts(chain), 'incentives', id, live), 'incentiveHistory', id, {
      value: { campaigns: [{ ...campaign, side: 'borrow', steps: packed }] },
      asOfMs: NOW_MS,
    });
  };

  test('behavior: a step confirmed by the listing lasts until now', async () => {
    const series = await rateOf(
      'incentiveApr',
      paying(2, [
        [-60, 1],
        [-40, 2],
      ]),
    );
    expect(series?.stamp).toEqual({ asOfMs: NOW_MS, staleAfterSec: BUDGETS.incentiveHistory });
  });

  test('behavior: a step contradicted by the listing keeps its age', async () => {
    const series = await rateOf(
      'incentiveApr',
      paying(3, [
        [-60, 1],
        [-40, 2],
      ]),
    );
    expect(series?.stamp).toEqual({ asOfMs: TODAY - 40 * DAY, staleAfterSec: DAILY });
  });
});

describe('own series', () => {
  const sampleAt = (atMs: number): RateSample => ({
    marketId: id,
    atMs,
    borrowApy: new Decimal('0.42'),
    utilization: new Decimal('0.9'),
    supplyAssets: 10n,
    borrowAssets: 9n,
    liquidityAssets: 1_500_000n * BigInt(atMs === NOW_MS - HOUR ? 2 : 1),
  });
  const market = chain.markets[0];
  if (!market) throw new Error('the catalog has markets');
  const price = 2n * 10n ** BigInt(36 + market.loan.decimals - market.collateral.decimals);
  const asked: unknown[] = [];
  const histories = createHistories({
    catalog,
    snapshot: { facts: () => facts },
    recorded: { read: async () => new Map() },
    samples: {
      readHourly: async (_chainId, ids, since) => {
        asked.push([ids, since]);
        return new Map([[id, [NOW_MS - 3 * DAY, NOW_MS - HOUR].map(sampleAt)]]);
      },
    },
    marketSamples: {
      since: async (_chainId, of) => (of === id ? [{ atMs: NOW_MS - DAY, price, borrowRate: 1n }] : []),
    },
    budgets: BUDGETS,
  });
  const past = { fromMs: NOW_MS - 10 * DAY, toMs: NOW_MS - DAY };
  const until = { ...past, toMs: NOW_MS };

  test.each([
    ['utilization', until, ['90', '90']],
    ['liquidity', until, ['1.5', '3'].map((of) => new Decimal(of).shiftedBy(6 - market.loan.decimals).toFixed())],
    ['collateralPrice', until, ['2']],
    ['utilization', past, ['90']],
  ] as const)('behavior: %s in its unit, with the age of the newest sample', async (kind, over, values) => {
    const series = (await histories.read(kind, 1, [id], over)).get(id);
    expect(series?.points.map(({ ratePct }) => ratePct.toFixed())).toEqual(values);
    expect(series?.sources).toEqual(['chain']);
    expect(series?.stamp.asOfMs).toBe(kind === 'collateralPrice' ? NOW_MS - DAY : NOW_MS - HOUR);
  });

  test('behavior: a market without samples has no series, and markets share one statement', async () => {
    const other = chain.markets[1]?.id ?? id;
    asked.length = 0;
    expect([...(await histories.read('liquidity', 1, [id, other], until)).keys()]).toEqual([id]);
    expect([...(await histories.read('collateralPrice', 1, [id, other], until)).keys()]).toEqual([id]);
    expect(asked).toEqual([[[id, other], { fromMs: until.fromMs }]]);
  });
});
