import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_KINDS, type Fault, type Provider } from '../../../devnet/upstreams/index.ts';
import { captureLogs } from '../../support/log-capture.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { createWaitTimeouts } from '../../support/wait-timeouts.ts';
import { CHAIN_IDS, READS } from '../known.ts';
import { differences, type GroupRow, type Observation, observe, observeGroups } from '../observe.ts';

/*
 * Every provider in every way that it can fail, up to the answers of the service. Per case: no value without a measurement, the
 * last good value of each item, `asOf` as it was and the age grown, the other groups untouched, reads still 200, recovery
 * within one refresh, one call in flight per key, nothing of the upstream or a key in an answer or a log line, and
 * readiness as it was.
 */

const SECRETS = ['sw-secret-1', 'royco-secret-2', 'cg-secret-3', 'oo-secret-4'] as const;
const logs = captureLogs();
let service: TestService;

/** A source that never answers times out soon; one that answers is waited for even on a busy machine. */
const waitTimeouts = createWaitTimeouts();

beforeAll(async () => {
  service = await startService({
    fetch: globalThis.fetch,
    sleep: noSleep,
    timeouts: waitTimeouts.timeouts,
    logger: logs.logger,
    env: {
      STABLEWATCH_API_KEY: SECRETS[0],
      ROYCO_API_KEY: SECRETS[1],
      COINGECKO_API_KEY: SECRETS[2],
      OPENOCEAN_API_KEY: SECRETS[3],
    },
  });
});
afterAll(() => service?.stop());

type Case = readonly [name: string, fault: Fault];
const CASES: readonly Case[] = [
  ['latency', { kind: 'latency', ms: 10 }],
  ['status 500', { kind: 'status', status: 500 }],
  ['status 404', { kind: 'status', status: 404 }],
  ['an undocumented status', { kind: 'answer', status: 418 }],
  ['fields', { kind: 'fields', set: {} }],
  ['429', { kind: 'rateLimited' }],
  ['429 with Retry-After', { kind: 'rateLimited', retryAfterSec: 3_600 }],
  ['429 with a date', { kind: 'rateLimited', retryAfterSec: 60, asDate: true }],
  ['unauthorized', { kind: 'unauthorized' }],
  ['malformed', { kind: 'malformed' }],
  ['html', { kind: 'html' }],
  ['partial', { kind: 'partial' }],
  ['missingField', { kind: 'missingField' }],
  ['empty', { kind: 'empty' }],
  ['absurd', { kind: 'absurd' }],
  ['nan', { kind: 'nan' }],
  ['duplicate', { kind: 'duplicate' }],
  ['future', { kind: 'future' }],
  ['frozen', { kind: 'frozen' }],
  ['reset', { kind: 'reset' }],
  ['slowDrip', { kind: 'slowDrip' }],
  ['hang', { kind: 'hang' }],
];
/** Everything is measured all the same; of MIXED some items, and others keep their last-good. */
const HARMLESS = ['latency', 'fields', 'duplicate', 'future', 'frozen'];
const MIXED = ['partial'];

interface Row {
  readonly provider: Provider;
  readonly warmers: readonly string[];
  /** Names of the groups that it feeds, as `freshness` lists them. */
  readonly groups: RegExp;
  readonly reads: readonly string[];
  /** Warmers of the facts that a provider's answers are compared with: they age while the cases move the clock. */
  readonly measuredAgainst?: readonly string[];
  /** Providers that stand in and have to be down as well. */
  readonly alsoDown?: Provider;
  /** Faults with another meaning here. */
  readonly means?: Readonly<Record<string, 'harmless' | 'mixed'>>;
  /** Groups that are measured in another way as well, and leaves that follow from them. */
  readonly continued?: RegExp;
  readonly recomputed?: RegExp;
  /** Leaves that may change in a mixed case although no single item failed. */
  readonly mayChange?: RegExp;
}

const STRATEGIES = ['/v1/strategies', '/v1/strategies?chainId=4663'];
const ROWS: readonly Row[] = [
  {
    provider: 'pendle',
    warmers: ['collateral-apy-yieldmarket'],
    groups: /^1 collateralApy yieldmarket$/,
    reads: ['/v1/strategies'],
  },
  {
    provider: 'defillama-yields',
    warmers: ['collateral-apy-aggregator'],
    groups: / collateralApy aggregator$/,
    reads: [...STRATEGIES, '/v1/collateral/apy-history'],
  },
  {
    provider: 'royco',
    warmers: ['collateral-apy-incentivemarket'],
    groups: /^1 collateralApy incentivemarket$/,
    reads: ['/v1/strategies'],
  },
  {
    provider: 'stablewatch',
    warmers: ['stable-index'],
    groups: / (collateralApy stableindex|stableIndex)$/,
    reads: [...STRATEGIES, '/v1/stable-apy'],
  },
  {
    provider: 'merkl',
    warmers: ['incentives', 'incentive-history'],
    groups: / (incentives|incentiveHistory)$/,
    reads: ['/v1/strategies', '/v1/app/markets'],
    // All records of campaigns that are younger than 40 days are missing.
    means: { frozen: 'mixed' },
    // A campaign that is not listed any more is a campaign that has ended.
    mayChange: /ncentive|Apy|APY|visible|leverageLadder|strategies\[|count/,
  },
  {
    provider: 'coingecko',
    warmers: ['prices'],
    groups: / price$/,
    reads: [...STRATEGIES, '/v1/prices', '/v1/prices?chainId=4663'],
    alsoDown: 'defillama-coins',
  },
  {
    provider: 'defillama-coins',
    warmers: ['prices'],
    groups: / price$/,
    reads: [...STRATEGIES, '/v1/prices', '/v1/prices?chainId=4663'],
    alsoDown: 'coingecko',
  },
  {
    provider: 'kyberswap',
    warmers: ['exit-liquidity:4663'],
    groups: /^4663 exitLiquidity$/,
    reads: ['/v1/strategies?chainId=4663', '/v1/app/markets'],
    measuredAgainst: ['prices'],
  },
  {
    provider: 'morpho',
    warmers: ['shared-liquidity', 'borrow-history'],
    groups: / sharedLiquidity$/,
    // Our own samples continue it while a provider is silent.
    continued: / borrowHistory$/,
    recomputed: /istoricalLeverageApyPct|quarterlyBorrowApyPct|\.trailing\.|equity-\w+\]\.yieldSustainabilityPct/,
    // A vault that is not listed any more is a vault that brings nothing any more.
    mayChange: /publicAllocatorLiquidityUsd|\.sharedLiquidity\[.* → absent/,
    reads: [...STRATEGIES, '/v1/app/markets'],
  },
];

const UNMEASURED = /(?<![0-9a-f])1e\+?30(?![0-9a-f])|1000000000000000019884624838656|-1000000000|undefined/;
const RANDOM_ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const STEP_MS = 61_000;
/** A longer time is not waited for. */
const MAX_HOLD_MS = 301_000;

async function refresh(row: Row): Promise<void> {
  for (const warmer of row.warmers) await Promise.all([service.refresh(warmer), service.refresh(warmer)]);
}

/** The clock may run this far ahead of the chains: well before market state is too old for readiness. */
const MAX_LAG_SEC = 600;

/** Let the chains catch up with the clock, and measure them, when they are far behind. */
async function catchUp(): Promise<void> {
  for (const chainId of CHAIN_IDS) {
    const chain = service.world.chains.on(chainId);
    const { timestamp } = await chain.client.getBlock();
    const lagSec = Math.floor(service.clock.now() / 1_000) - Number(timestamp);
    if (lagSec < MAX_LAG_SEC) continue;
    await chain.increaseTime(lagSec);
    await service.refresh(`lending-state:${chainId}`);
  }
}

/** Heal everything and measure the group anew, so that every case starts from the same place. */
async function start(row: Row): Promise<Observation> {
  service.world.upstreams.faults.clear();
  service.clock.advance(STEP_MS);
  await catchUp();
  for (const warmer of row.measuredAgainst ?? []) await service.refresh(warmer);
  // Only chain 1 has vaults to bring liquidity from; nothing else may be empty.
  const isFresh = ([name, { status }]: readonly [string, GroupRow]) =>
    status === 'FRESH' || name === '4663 sharedLiquidity';
  if (!affected(row, await observeGroups(service)).every(isFresh)) await refresh(row);
  logs.take();
  service.world.upstreams.clearRequests();
  return observe(service, row.reads);
}

const affected = (row: Row, groups: Observation['groups']) => [...groups].filter(([name]) => row.groups.test(name));
const ageless = ({ ageSec: _age, status: _status, ...row }: GroupRow) => row;

/**
 * How a request can fail before any adapter reads its answer: all go through one client, which the conformance suite holds
 * for every adapter. Here they are carried through for two providers, one with a key and one without.
 */
const OF_THE_CLIENT = [
  ...['latency', 'status 500', '429', '429 with Retry-After', '429 with a date', 'unauthorized'],
  ...['malformed', 'html', 'reset', 'slowDrip', 'hang'],
];
const CARRIED_THROUGH: readonly Provider[] = ['coingecko', 'merkl'];
const casesOf = ({ provider, means = {} }: Row): readonly Case[] =>
  CASES.filter(([name]) => !OF_THE_CLIENT.includes(name) || name in means || CARRIED_THROUGH.includes(provider));

describe.each(ROWS.map((row) => [row.provider, row] as const))('%s', (provider, row) => {
  test.each(casesOf(row))('%s', async (name, fault) => {
    const meaning =
      row.means?.[name] ?? (HARMLESS.includes(name) ? 'harmless' : MIXED.includes(name) ? 'mixed' : 'down');
    const { faults, origin } = service.world.upstreams;
    const before = await start(row);
    service.clock.advance(STEP_MS);
    const failedFromMs = service.clock.now();
    if (row.alsoDown) faults.set(row.alsoDown, { kind: 'status', status: 500 });
    faults.set(provider, fault);
    waitTimeouts.endFor(fault.kind);
    await refresh(row);
    waitTimeouts.restore();
    const during = await observe(service, row.reads);
    const requested = service.world.upstreams.requests();

    // Reads go on, and readiness is about the chain.
    expect(during.statuses).toEqual(row.reads.map(() => 200));
    expect((await service.get('/ready')).status).toBe(200);

    // The other groups are as they were.
    const others = (groups: Observation['groups']) =>
      [...groups]
        .filter(([group]) => !row.groups.test(group) && !row.continued?.test(group))
        .map(([group, it]) => [group, ageless(it)]);
    expect(others(during.groups)).toEqual(others(before.groups));

    const changed = differences(before.answers, during.answers).filter((line) => !row.recomputed?.test(line));
    const measuredAnew = (line: string) => /\.asOf: |\.source: /.test(line);
    if (meaning === 'down') {
      // No unmeasured value, last-good values by item, and unchanged times.
      expect(changed).toEqual([]);
      for (const [group, it] of affected(row, during.groups)) {
        const was = before.groups.get(group);
        if (!was || was.items === 0) continue;
        expect([group, it.items, it.asOf]).toEqual([group, was.items, was.asOf]);
        expect(it.ageSec, group).toBe((was.ageSec ?? 0) + STEP_MS / 1_000);
        expect(it.failing.length, group).toBeGreaterThan(0);
        expect(it.status, group).toMatch(/FAILING|STALE/);
        for (const { lastGood, reason } of it.failing) {
          if (reason === 'not_configured') continue;
          expect(lastGood === null || Date.parse(lastGood) < failedFromMs, group).toBe(true);
        }
      }
    } else if (meaning === 'harmless') {
      expect(changed.filter((line) => !measuredAnew(line))).toEqual([]);
      for (const [group, it] of row.alsoDown ? [] : affected(row, during.groups)) {
        expect([group, it.failing.filter(({ reason }) => reason !== 'not_configured')]).toEqual([group, []]);
      }
    } else if (meaning === 'mixed') {
      expect(changed.filter((line) => !measuredAnew(line) && !row.mayChange?.test(line))).toEqual([]);
      for (const [group, it] of affected(row, during.groups)) {
        expect([group, it.items]).toEqual([group, before.groups.get(group)?.items]);
      }
    }

    // One call in flight per key, and no more than two further tries.
    const calls = new Map<string, number>();
    for (const { provider: from, method, path, query, body } of requested) {
      const key = JSON.stringify([from, method, path, query, body]);
      calls.set(key, (calls.get(key) ?? 0) + 1);
    }
    expect(Math.max(...calls.values())).toBeLessThanOrEqual(meaning === 'harmless' && !row.alsoDown ? 1 : 3);

    // Nothing of the upstream or a key in any answer or line.
    const text = [...during.texts, JSON.stringify([...during.groups.values()]), ...logs.take()].join('\n');
    for (const marker of [...SECRETS, origin, origin.replace('http://', ''), 'Just a moment', 'Simulated', 'NaN']) {
      expect(text.includes(marker), marker).toBe(false);
    }
    // A random id may contain such digits.
    if (UNMEASURED.test(text)) expect(text.replaceAll(RANDOM_ID, '(id)')).not.toMatch(UNMEASURED);

    // Well again within one refresh, once the time is over for which the provider has refused requests.
    faults.clear();
    service.clock.advance(fault.kind === 'rateLimited' ? MAX_HOLD_MS : STEP_MS);
    const healedFromMs = service.clock.now();
    await refresh(row);
    for (const [group, it] of affected(row, await observeGroups(service))) {
      if (it.items === 0) continue;
      expect([group, it.status]).toEqual([group, 'FRESH']);
      expect([group, it.failing.filter(({ reason }) => reason !== 'not_configured')]).toEqual([group, []]);
      if (it.group === 'incentiveHistory') continue;
      // A price is as old as its provider saw it: some seconds before it was asked.
      const leastMs = it.group === 'price' ? healedFromMs - 60_000 : healedFromMs;
      expect(Date.parse(it.asOf ?? ''), group).toBeGreaterThanOrEqual(leastMs);
      expect(Date.parse(it.asOf ?? ''), group).toBeLessThanOrEqual(healedFromMs);
    }
  });
});

// Scaled values are in range: `absurd-values.test.ts` covers them.
test('the table has every kind of fault of a provider', () => {
  expect(new Set([...CASES.map(([, { kind }]) => kind), 'scaled'])).toEqual(new Set(FAULT_KINDS));
});

test('every read stays 200 while every provider is down, and /health names each with its beginning and reason', async () => {
  const rounds = async () => {
    for (const warmer of new Set(ROWS.flatMap(({ warmers }) => warmers))) await service.refresh(warmer);
    await service.refresh('position-history:1', 'position-history:4663', 'alerts', 'alert-deliveries');
  };
  service.world.upstreams.faults.clear();
  service.clock.advance(STEP_MS);
  await rounds();
  const { body: before } = await service.get('/health');
  expect([before.status, before.degraded]).toEqual(['ok', undefined]);
  const answeredAt = new Date(service.clock.now()).toISOString();

  service.world.upstreams.faults.set('all', { kind: 'reset' });
  service.clock.advance(STEP_MS);
  const failedAt = new Date(service.clock.now()).toISOString();
  await rounds();
  for (const path of READS) expect([path, (await service.get(path)).status]).toEqual([path, 200]);
  expect((await service.get('/ready')).status).toBe(200);
  const { body: during, status } = await service.get('/health');
  expect([status, during.status]).toEqual([200, 'degraded']);
  const called = during.providers.filter(({ status: state }: Json) => state !== 'unknown');
  expect(called.map(({ provider }: Json) => provider).toSorted()).toEqual([
    'AggregatorOne',
    'aggregator',
    'coingecko',
    'defillama',
    'incentivemarket',
    'incentives',
    'indexer',
    'stableindex',
    'yieldmarket',
  ]);
  for (const { provider, status: state, reason, failingSince, lastAnswer } of called) {
    expect({ provider, state, reason }).toEqual({ provider, state: 'failing', reason: 'unreachable' });
    // The second source of prices is asked only where the first has none: it may have failed in an earlier case.
    if (provider === 'defillama') expect(Date.parse(failingSince)).toBeLessThanOrEqual(Date.parse(failedAt));
    else expect([provider, failingSince, lastAnswer]).toEqual([provider, failedAt, answeredAt]);
  }
  expect(during.degraded).toContain('provider incentives fails');
  expect(during.degraded).toHaveLength(called.length);

  service.world.upstreams.faults.clear();
  service.clock.advance(STEP_MS);
  await rounds();
  expect((await service.get('/health')).body.degraded).toEqual(['provider defillama fails']);
});
