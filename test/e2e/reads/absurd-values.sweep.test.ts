import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketByKey } from '../../../devnet/chain/seed-plans.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Fault, Provider } from '../../../devnet/upstreams/index.ts';
import { type Json, noSleep, OPS, startService, type TestService } from '../../support/service.ts';
import { differences, type Observation, observe } from '../observe.ts';

/*
 * Values in range and wrong: a provider that is off by a factor of a hundred, or tells fractions for percent, and one
 * that tells a stablecoin off its peg. Nothing of them is shown, summed or ordered by, and one refresh after the provider
 * is well nothing is suspect any more.
 */

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const STEP_MS = 61_000;
const READS = ['/v1/strategies', '/v1/strategies?chainId=4663', '/v1/app/markets', '/v1/prices', '/v1/tvl'];
const ORDERS = ['APY', 'COLLATERAL_APY', 'LIQUIDITY_USD'] as const;

/** The orders of all strategies that a wrong value would lead. */
async function orders(): Promise<readonly string[]> {
  const fields = ORDERS.map(
    (by) => `${by}: strategies(first: 60, orderBy: { field: ${by}, direction: DESC }) { nodes { id: strategyId } }`,
  );
  const { body } = await service.graphql(`{ ${fields.join(' ')} }`);
  expect(body.errors).toBeUndefined();
  return ORDERS.map((by) => body.data[by].nodes.map(({ id }: { id: string }) => id).join());
}

interface Row {
  readonly provider: Provider;
  readonly warmers: readonly string[];
  readonly groups: RegExp;
  readonly alsoDown?: Provider;
  /** Fields that change slightly with the time of reading: compared within one percent. */
  readonly follows?: RegExp;
  /** Further factors that are absurd for its values. */
  readonly factors?: readonly number[];
}

const ROWS: readonly Row[] = [
  { provider: 'pendle', warmers: ['collateral-apy-yieldmarket'], groups: / collateralApy yieldmarket$/ },
  { provider: 'defillama-yields', warmers: ['collateral-apy-aggregator'], groups: / collateralApy aggregator$/ },
  { provider: 'royco', warmers: ['collateral-apy-incentivemarket'], groups: / collateralApy incentivemarket$/ },
  { provider: 'stablewatch', warmers: ['stable-index'], groups: / (collateralApy stableindex|stableIndex)$/ },
  { provider: 'merkl', warmers: ['incentives', 'incentive-history'], groups: / (incentives|incentiveHistory)$/ },
  { provider: 'kyberswap', warmers: ['exit-liquidity:4663'], groups: /^4663 exitLiquidity$/ },
  {
    provider: 'morpho',
    warmers: ['borrow-history'],
    groups: / borrowHistory$/,
    follows: /\.trailing\.|istoricalLeverageApyPct|quarterlyBorrowApyPct/,
  },
  { provider: 'coingecko', warmers: ['prices', 'tvl'], groups: / price$/, factors: [1.5, 0.6] },
  { provider: 'coingecko', warmers: ['prices', 'tvl'], groups: / price$/, alsoDown: 'defillama-coins', factors: [1.5] },
  { provider: 'defillama-coins', warmers: ['prices', 'tvl'], groups: / price$/, alsoDown: 'coingecko' },
];
/** Percent for a fraction, a fraction for a percentage; of a price also a peg that is lost at one provider. */
const FACTORS = [100, 0.01];
const ALL = ROWS.flatMap((row) =>
  [...FACTORS, ...(row.factors ?? [])].map(
    (factor) => [row.provider, row.alsoDown ? `, ${row.alsoDown} down` : '', factor, row] as const,
  ),
);

function isClose({ follows }: Row, line: string): boolean {
  if (!follows?.test(line)) return false;
  const [was = Number.NaN, is = Number.NaN] = [...line.matchAll(/"(-?[\d.]+)"/g)].map(([, value]) => Number(value));
  return Math.abs(is - was) <= Math.max(Math.abs(was) / 100, 0.02);
}

async function refresh({ warmers }: Row): Promise<void> {
  for (const warmer of warmers) await service.refresh(warmer);
}

/** Fields about an unconfirmed value, a time of measurement or a source. */
const ABOUT = /\.warnings\[|\.(asOf|source|lastUpdated)(\.|: )/;
const changes = (before: Observation, after: Observation) =>
  differences(before.answers, after.answers).filter((line) => !ABOUT.test(line));

/** The worse of the served and the new value decides the listing: these strategies are not listed meanwhile. */
const delisted = (lines: readonly string[]) =>
  lines.flatMap((line) => /^\/v1\/app\/markets\.markets\[(\w+)\]\.visible: true → false/.exec(line)?.[1] ?? []);
const aboutOthers = (lines: readonly string[], ids: readonly string[]) =>
  ids.length === 0
    ? lines
    : lines.filter((line) => !ids.some((id) => line.includes(id)) && !/^[^[]*\.count: /.test(line));
const orderOfOthers = (order: readonly string[], ids: readonly string[]) =>
  order.map((list) =>
    list
      .split(',')
      .filter((id) => !ids.includes(id))
      .join(),
  );

const look = async () => ({ observed: await observe(service, READS), orders: await orders() });
/** All answers while every provider is well, as the case before has left them; a failed case leaves none. */
let healthy: Awaited<ReturnType<typeof look>> | undefined;

test.each(ALL)('%s%s: factor %d', async (provider, _down, factor, row) => {
  const { faults } = service.world.upstreams;
  const fault: Fault = { kind: 'scaled', factor };
  if (healthy === undefined) {
    faults.clear();
    for (const each of ROWS) await refresh(each);
  }
  const before = healthy ?? (await look());
  healthy = undefined;

  if (row.alsoDown) faults.set(row.alsoDown, { kind: 'status', status: 500 });
  faults.set(provider, fault);
  service.clock.advance(STEP_MS);
  await refresh(row);
  const during = await look();
  expect(during.observed.statuses).toEqual(READS.map(() => 200));
  const lines = changes(before.observed, during.observed);
  const worse = factor < 1 && row.alsoDown ? delisted(lines) : [];
  expect(aboutOthers(lines, worse)).toEqual([]);
  expect(during.orders).toEqual(orderOfOthers(before.orders, worse));
  const held = [...during.observed.groups].flatMap(([name, { failing }]) =>
    row.groups.test(name) ? failing.map(({ reason }) => reason) : [],
  );
  // With a second source its value is published, and no value is held back.
  if (provider !== 'coingecko' || row.alsoDown) expect(held).toContain('implausible');

  faults.clear();
  service.clock.advance(STEP_MS);
  await refresh(row);
  const after = await look();
  expect(changes(before.observed, after.observed).filter((line) => !isClose(row, line))).toEqual([]);
  expect(after.orders).toEqual(before.orders);
  for (const [name, { items, failing }] of after.observed.groups) {
    if (!row.groups.test(name) || items === 0) continue;
    expect([name, failing.filter(({ reason }) => reason !== 'not_configured')]).toEqual([name, []]);
  }
  healthy = after;
});

describe('campaigns that change', () => {
  const MARKETS = ['/v1/strategies', '/v1/strategies?chainId=4663', '/v1/app/markets'];
  const held = async (chainId: number, holder: string, id: string): Promise<Json> => {
    const path = `/v1/ops/portfolio/${seededWallet(holder).account.address}?chainId=${chainId}`;
    const { body } = await service.get(path, OPS);
    return body.positions.find(({ strategyId }: Json) => strategyId === id);
  };
  const marketOf = async (chainId: number, id: string): Promise<Json> => {
    const { body } = await service.get(`/v1/app/markets?chainId=${chainId}`);
    return body.markets.find((market: Json) => market.id === id);
  };
  const pass = async (chainId: number) => {
    service.clock.advance(STEP_MS);
    await service.world.chains.on(chainId).increaseTime(STEP_MS / 1_000);
    await service.refresh(`lending-state:${chainId}`, `incentives:${chainId}`, `incentive-history:${chainId}`);
  };
  /** All histories of one market and of its holder. */
  const lookAt = async (chainId: number, id: string, holder: string) => {
    const [market, position, known, history] = await Promise.all([
      marketOf(chainId, id),
      held(chainId, holder, id),
      observe(service, MARKETS),
      service.get(`/v1/markets/${id}/incentive-history`),
    ]);
    const { trailing } = market;
    return {
      aprs: [market.borrowIncentive, market.collateralIncentive].map((paid) => Number(paid?.aprPct.$bn ?? 0)),
      means: ['effectiveCollateralApyPct', 'netBorrowApyPct', 'leverageApyPct'].map((name) =>
        Number(trailing[name].avg30d.$bn),
      ),
      earnedUsd: Number(position.pnl.incentivesUsd),
      past: history.body.history as { ts: number; apr: number }[],
      observed: known,
    };
  };
  /** A market whose campaign changes changes itself, and so does a vault whose loops are on it; nothing else does. */
  const others = (before: Observation, after: Observation, id: string) =>
    changes(before, after).filter((line) => !line.includes(id) && !line.includes('equity-') && !OF_BLOCK.test(line));
  const OF_BLOCK =
    /blockNumber|borrowRate|total(Supply|Borrow)|liquidity|supplyUsd|utilization|orrowApy|everageApy|Liquidity/;

  test.each([
    ['MORPHOBORROW', 1, 'sUSDe/PYUSD 91.5', 'looper', 0, 0.2],
    ['MORPHOCOLLATERAL', 4663, 'syrupUSDG/USDG 91.5', 'looper', 1, 0.05],
  ] as const)(
    '%s on chain %i, %s, rolls: averages, past and earnings stay',
    async (type, chainId, key, holder, side, apr) => {
      const which = { type, chainId, market: key };
      const { id } = marketByKey(service.world.chains.on(chainId).chain, key);
      const atMs = service.clock.now() + 1.5 * STEP_MS;
      if (type === 'MORPHOCOLLATERAL') {
        const days = 86_400_000;
        const [startMs, endMs] = [service.clock.now() - 45 * days, atMs];
        service.world.upstreams.campaigns.begin({ ...which, symbol: 'GROVE', apr: 20, startMs, endMs });
        service.world.upstreams.campaigns.begin({
          ...which,
          symbol: 'NEXT',
          apr,
          startMs: endMs,
          endMs: endMs + 9 * days,
        });
      } else service.world.upstreams.campaigns.roll(which, atMs, apr);
      await pass(chainId);
      const before = await lookAt(chainId, id, holder);
      expect(before.earnedUsd).toBeGreaterThan(0);

      await pass(chainId);
      const after = await lookAt(chainId, id, holder);
      expect(before.aprs[side]).not.toBe(apr);
      expect(after.aprs[side]).toBe(apr);
      for (const [index, mean] of after.means.entries()) {
        expect(Math.abs(mean - (before.means[index] ?? Number.NaN)), String(index)).toBeLessThan(0.01);
      }
      expect(after.earnedUsd).toBeGreaterThanOrEqual(before.earnedUsd);
      expect(after.earnedUsd - before.earnedUsd).toBeLessThan(before.earnedUsd / 1_000);
      const since = new Set(after.past.map(({ ts, apr: paid }) => `${ts} ${paid}`));
      expect(
        before.past.filter(({ ts }) => ts < atMs - STEP_MS).every(({ ts, apr: paid }) => since.has(`${ts} ${paid}`)),
      ).toBe(true);
      expect(others(before.observed, after.observed, id)).toEqual([]);
      for (const [name, { failing }] of after.observed.groups) {
        if (/ncentive/.test(name)) expect([name, failing]).toEqual([name, []]);
      }
    },
  );

  test('one of two overlapping campaigns ends: payments of both and earnings stay', async () => {
    const which = { type: 'MORPHOBORROW', chainId: 1, market: 'sUSDe/PYUSD 91.5' } as const;
    const { id } = marketByKey(service.world.chains.on(1).chain, which.market);
    const days = 86_400_000;
    const [startMs, endMs] = [service.clock.now() - 20 * days, service.clock.now() + 1.5 * STEP_MS];
    const alone = await lookAt(1, id, 'looper');
    service.world.upstreams.campaigns.begin({ ...which, symbol: 'SECOND', apr: 3, startMs, endMs });
    await pass(1);
    const both = await lookAt(1, id, 'looper');
    expect(both.aprs[0]).toBeCloseTo((alone.aprs[0] ?? 0) + 3, 10);
    expect(both.earnedUsd).toBeGreaterThan(alone.earnedUsd * 1.5);
    await pass(1);
    const one = await lookAt(1, id, 'looper');
    expect(one.aprs[0]).toBe(alone.aprs[0]);
    expect(one.earnedUsd).toBeGreaterThanOrEqual(both.earnedUsd);
    for (const [index, mean] of one.means.entries()) {
      expect(Math.abs(mean - (both.means[index] ?? Number.NaN)), String(index)).toBeLessThan(0.01);
    }
    const now = new Set(one.past.map(({ ts, apr }) => `${ts} ${apr}`));
    expect(both.past.filter(({ ts }) => ts < endMs - STEP_MS).every(({ ts, apr }) => now.has(`${ts} ${apr}`))).toBe(
      true,
    );
    expect(others(both.observed, one.observed, id)).toEqual([]);
  });
});

describe('campaigns', () => {
  const DAY_MS = 86_400_000;
  const market = () =>
    service.world.chains
      .on(1)
      .chain.markets.find(({ collateral, loan }) => collateral.symbol === 'syrupUSDC' && loan.symbol === 'PYUSD');
  const path = () => `/v1/markets/${market()?.id}/incentive-history`;
  const paid = async () =>
    new Map<number, number>(
      (await service.get(path())).body.history.map(({ ts, apr }: { ts: number; apr: number }) => [ts, apr]),
    );
  const running = async () => {
    const { body } = await service.get(`/v1/strategies/${market()?.id}`);
    return body.borrowIncentive?.breakdown.map(({ symbol }: { symbol: string }) => symbol);
  };
  const later = async (days: number) => {
    service.clock.advance(days * DAY_MS);
    await service.world.chains.on(1).increaseTime(days * 86_400);
    await service.refresh('lending-state:1', 'incentives:1', 'incentive-history:1');
  };

  test('one of two overlapping campaigns ends, then the other: their payments stay', async () => {
    await service.refresh('incentives:1', 'incentive-history:1');
    const before = await paid();
    expect([...before.values()].some((apr) => apr > 0)).toBe(true);
    expect(new Set(await running())).toEqual(new Set(['PYUSD', 'SYRUP']));
    // The provider computes the step that is running anew, which here takes six days.
    const reportedUntil = Math.max(...before.keys()) - 7 * DAY_MS;

    await later(41);
    const one = await paid();
    expect(await running()).toEqual(['PYUSD']);
    await later(5);
    const none = await paid();
    expect((await running()) ?? []).toEqual([]);
    for (const record of [one, none]) {
      const same = [...before].filter(([ts]) => ts < reportedUntil && record.has(ts));
      expect(same.length).toBeGreaterThan(5);
      expect(same.map(([ts]) => [ts, record.get(ts)])).toEqual(same);
    }
  });
});
