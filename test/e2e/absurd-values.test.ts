import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault, Provider } from '../../devnet/upstreams/index.ts';
import { noSleep, startService, type TestService } from '../support/service.ts';
import { differences, type Observation, observe, observeGroups } from './observe.ts';

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
const ORDERS = ['LEVERAGE_APY', 'COLLATERAL_APY', 'LIQUIDITY_USD'] as const;

/** The order of all strategies by what a wrong value would lead. */
async function orders(): Promise<readonly string[]> {
  const fields = ORDERS.map(
    (by) => `${by}: strategies(first: 60, orderBy: { field: ${by}, direction: DESC }) { nodes { id } }`,
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
  /** Further factors that are absurd for what it tells. */
  readonly factors?: readonly number[];
}

const ROWS: readonly Row[] = [
  { provider: 'pendle', warmers: ['collateral-apy-yieldmarket'], groups: / collateralApy yieldmarket$/ },
  { provider: 'defillama-yields', warmers: ['collateral-apy-aggregator'], groups: / collateralApy aggregator$/ },
  { provider: 'royco', warmers: ['collateral-apy-incentivemarket'], groups: / collateralApy incentivemarket$/ },
  { provider: 'stablewatch', warmers: ['stable-index'], groups: / (collateralApy stableindex|stableIndex)$/ },
  { provider: 'merkl', warmers: ['incentives', 'incentive-history'], groups: / (incentives|incentiveHistory)$/ },
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

async function refresh({ warmers }: Row): Promise<void> {
  for (const warmer of warmers) await service.refresh(warmer);
}

/** What is told about a value that is not confirmed, when something was measured, and where it came from. */
const ABOUT = /\.warnings\[|\.(asOf|source|lastUpdated)(\.|: )/;
const changes = (before: Observation, after: Observation) =>
  differences(before.leaves, after.leaves).filter((line) => !ABOUT.test(line));

/** The worse of what is shown and what is told decides whether a strategy is listed: these are not, while that lasts. */
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

test.each(ALL)('%s%s: factor %d', async (provider, _down, factor, row) => {
  const { faults } = service.world.upstreams;
  const fault: Fault = { kind: 'scaled', factor };
  faults.clear();
  await refresh(row);
  const before = { seen: await observe(service, READS), orders: await orders() };

  if (row.alsoDown) faults.set(row.alsoDown, { kind: 'status', status: 500 });
  faults.set(provider, fault);
  service.clock.advance(STEP_MS);
  await refresh(row);
  const during = { seen: await observe(service, READS), orders: await orders() };
  expect(during.seen.statuses).toEqual(READS.map(() => 200));
  const lines = changes(before.seen, during.seen);
  const worse = factor < 1 && row.alsoDown ? delisted(lines) : [];
  expect(aboutOthers(lines, worse)).toEqual([]);
  expect(during.orders).toEqual(orderOfOthers(before.orders, worse));
  const held = [...during.seen.groups].flatMap(([name, { failing }]) =>
    row.groups.test(name) ? failing.map(({ reason }) => reason) : [],
  );
  // Where the second source is there it is asked, and what it tells is published: nothing has to be held.
  if (provider !== 'coingecko' || row.alsoDown) expect(held).toContain('implausible');

  faults.clear();
  service.clock.advance(STEP_MS);
  await refresh(row);
  const after = { seen: await observe(service, READS), orders: await orders() };
  expect(changes(before.seen, after.seen)).toEqual([]);
  expect(after.orders).toEqual(before.orders);
  for (const [name, { items, failing }] of await observeGroups(service)) {
    if (!row.groups.test(name) || items === 0) continue;
    expect([name, failing.filter(({ reason }) => reason !== 'not_configured')]).toEqual([name, []]);
  }
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

  test('one of two that overlap ends, then the other: what they have paid stays', async () => {
    await service.refresh('incentives:1', 'incentive-history:1');
    const before = await paid();
    expect([...before.values()].some((apr) => apr > 0)).toBe(true);
    expect(new Set(await running())).toEqual(new Set(['PYUSD', 'SYRUP']));
    // The provider computes the step that is running anew, which here takes six days.
    const toldUntil = Math.max(...before.keys()) - 7 * DAY_MS;

    await later(41);
    const one = await paid();
    expect(await running()).toEqual(['PYUSD']);
    await later(5);
    const none = await paid();
    expect((await running()) ?? []).toEqual([]);
    for (const record of [one, none]) {
      const same = [...before].filter(([ts]) => ts < toldUntil && record.has(ts));
      expect(same.length).toBeGreaterThan(5);
      expect(same.map(([ts]) => [ts, record.get(ts)])).toEqual(same);
    }
  });
});
