import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketByKey } from '../../../devnet/chain/seed-plans.ts';
import { captureLogs } from '../../support/log-capture.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { CHAIN_IDS, READS, SUSDE_PYUSD } from '../known.ts';
import { differences, observe } from '../observe.ts';

const logs = captureLogs();
const proxies: RpcProxy[] = [];
let service: TestService;
let snapshotFile: string;

beforeAll(async () => {
  service = await startService({
    warm: false,
    sleep: noSleep,
    logger: logs.logger,
    env: { UPSTREAM_TIMEOUT_MS: '20000', RPC_TIMEOUT_MS: '20000' },
    arrange: async (world) => {
      for (const chainId of CHAIN_IDS) proxies.push(await startRpcProxy(world.chains.on(chainId).rpcUrl));
      snapshotFile = join(dirname(world.overrides.env.CATALOG_OVERLAY ?? ''), 'snapshot.json');
      return { RPC_URL_1: proxies[0]?.url ?? '', RPC_URL_4663: proxies[1]?.url ?? '' };
    },
  });
  await service.app.warmed;
});
afterAll(async () => {
  heal();
  await service?.stop();
  for (const proxy of proxies) await proxy.stop();
});

/** Nothing outside answers any more. */
function silence(): void {
  service.world.upstreams.faults.set('all', { kind: 'hang' });
  for (const proxy of proxies) proxy.set({ kind: 'hang' });
}
function heal(): void {
  service.world.upstreams.faults.clear();
  for (const proxy of proxies) proxy.set({ kind: 'pass' });
}
/** Whether the service of the file is as it was started. */
let isUsed = false;
/** Start on the snapshot file as it is, and measure everything anew. */
async function restartWarm(): Promise<void> {
  heal();
  if (isUsed) {
    await service.restart();
    await service.app.warmed;
  }
  isUsed = true;
}
let good: string | undefined;
/** The snapshot file of a warm service. */
async function goodSnapshot(): Promise<string> {
  if (good === undefined) {
    await restartWarm();
    await service.app.stop();
    good = await readFile(snapshotFile, 'utf8');
  }
  return good;
}
const READ_PATHS = READS.filter((path) => !path.includes('borrow-apy-history'));

describe('a restart', () => {
  describe('without any upstream', () => {
    const HISTORY = `/v1/markets/${SUSDE_PYUSD}/borrow-apy-history`;
    const version = async (): Promise<number[]> =>
      (await service.get('/health')).body.chains.map((chain: Json) => chain.version);
    const look = async () => ({
      observed: await observe(service, READ_PATHS),
      history: (await service.get(HISTORY)).body.history,
      version: await version(),
    });
    let before: Awaited<ReturnType<typeof look>>;
    let after: Awaited<ReturnType<typeof look>>;
    let sources: string[];
    beforeAll(async () => {
      await restartWarm();
      before = await look();
      const { body } = await service.graphql(`{ market(id: "${SUSDE_PYUSD}") { borrowApyHistory { sources } } }`);
      ({ sources } = body.data.market.borrowApyHistory);
      service.clock.advance(600_000);
      silence();
      await service.restart();
      after = await look();
    });
    afterAll(heal);

    test('serves last-good with true ages before any upstream answers', async () => {
      expect(before.observed.statuses).toEqual(READ_PATHS.map(() => 200));
      expect(after.observed.statuses).toEqual(READ_PATHS.map(() => 200));
      expect(differences(before.observed.answers, after.observed.answers)).toEqual([]);
      for (const [group, was] of before.observed.groups) {
        const is = after.observed.groups.get(group);
        expect([group, is?.items, is?.asOf]).toEqual([group, was.items, was.asOf]);
        const trueAgeSec = (service.clock.now() - Date.parse(was.asOf ?? '')) / 1_000;
        if (was.ageSec !== null) expect(is?.ageSec, group).toBe(Math.floor(trueAgeSec));
      }
      const { freshness } = (await service.get(`/v1/strategies/${SUSDE_PYUSD}`)).body;
      expect(freshness.borrow.staleForSec).toBeGreaterThanOrEqual(300);
      expect((await service.get('/ready')).status).toBe(200);
    });

    test('keeps histories including our own samples', () => {
      expect(sources).toContain('chain');
      expect(after.history).toEqual(before.history);
      expect(after.history.length).toBeGreaterThan(30);
    });

    test('continues the version, so that older facts do not look newer', () => {
      for (const i of [0, 1]) expect(after.version[i]).toBeGreaterThanOrEqual(before.version[i] ?? Number.NaN);
    });
  });

  describe('with a damaged snapshot', () => {
    test.each([
      ['cut in the middle', (text: string) => text.slice(0, Math.floor(text.length / 2))],
      [
        'changed by one digit',
        (text: string) =>
          text.replace(/("apyPct":[^0-9]*)(\d)/, (_, head, digit) => `${head}${(Number(digit) + 1) % 10}`),
      ],
      ['something else', () => 'not a snapshot'],
      ['empty', () => ''],
    ])('sets a snapshot that is %s aside, names it, and starts empty', async (_, damage) => {
      const snapshot = await goodSnapshot();
      const damaged = damage(snapshot);
      expect(damaged).not.toBe(snapshot);
      await service.app.stop();
      await writeFile(snapshotFile, damaged);
      silence();
      logs.take();
      service.clock.advance(1_000);
      await service.restart();
      const lines = logs.take().filter((line) => line.includes('set aside'));
      expect(lines).toHaveLength(1);
      const asides = (await readdir(dirname(snapshotFile))).filter((name) => name.startsWith('snapshot.json.damaged-'));
      const named = asides.find((name) => lines[0]?.includes(name)) ?? '';
      expect(await readFile(join(dirname(snapshotFile), named), 'utf8')).toBe(damaged);
      expect((await service.get('/v1/strategies')).status).toBe(503);
      expect((await service.get('/ready')).status).toBe(503);
      heal();
    });
  });
});

describe('a file of a later version with the same form', () => {
  test('is read: another provider, reason, field, group, chain, side and size change no answer', async () => {
    await restartWarm();
    const before = await observe(service, READ_PATHS);
    await service.app.stop();
    const [head = '', ...lines] = (await readFile(snapshotFile, 'utf8')).split('\n');
    const chains = JSON.parse(lines.join('\n')) as Json[];
    for (const { groups } of chains) {
      const values = (group: string): Json[] => groups[group].items.$map.map(([, fact]: [string, Json]) => fact);
      for (const group of Object.keys(groups)) {
        Object.assign(groups[group], { notes: { $map: [] } });
        for (const fact of values(group)) Object.assign(fact, { confidence: { $decimal: '0.5' } });
      }
      for (const { value } of values('exitLiquidity')) value.slippagePct['10000000'] = null;
      for (const { value } of values('incentiveHistory')) {
        value.campaigns.push({ id: '9', side: 'supply', symbol: 'X', startsAtMs: 1, endsAtMs: 2, steps: [] });
      }
      for (const { value } of values('lendingState')) value.rateAtBlock = { $bigint: '1' };
      const failure = { reason: 'sunspots', source: 'provider-of-tomorrow', sinceMs: 1 };
      groups.incentives.failures.$map.push(['0xdead', failure]);
      groups.tomorrow = { v: 99, items: {} };
    }
    const known = chains.length;
    chains.push({ ...chains[0], chainId: 10 });
    const body = JSON.stringify(chains);
    const sha256 = createHash('sha256').update(body).digest('hex');
    await writeFile(snapshotFile, `${JSON.stringify({ ...JSON.parse(head), sha256, host: 'x' })}\n${body}\n`);
    silence();
    logs.take();
    await service.restart();
    expect(logs.take().filter((line) => line.includes('snapshot file'))).toEqual([]);
    const after = await observe(service, READ_PATHS);
    expect(after.statuses).toEqual(READ_PATHS.map(() => 200));
    expect(differences(before.answers, after.answers)).toEqual([]);
    expect((await service.get('/health')).body.chains).toHaveLength(known);
    heal();
  });
});

describe('an unconfirmed value', () => {
  test('stays unconfirmed after a restart with its readings: the last good one and the warning remain until the third', async () => {
    await restartWarm();
    const market = marketByKey(service.world.chains.on(1).chain, 'weETH/WETH 94.5');
    const shown = async () => {
      const { collateral, spiralHints } = (await service.get(`/v1/strategies/${market.id}`)).body;
      return [collateral.priceUsd, (spiralHints.warnings ?? []).map(({ code, field }: Json) => [code, field])];
    };
    const next = async () => {
      service.clock.advance(61_000);
      await service.refresh('prices');
    };
    const [good] = await shown();
    const doubted = [
      good,
      [
        ['suspect_price', 'collateral.priceUsd'],
        ['suspect_price', 'loan.priceUsd'],
      ],
    ];
    service.world.upstreams.faults.set('coingecko', { kind: 'scaled', factor: 2 });
    service.world.upstreams.faults.set('defillama-coins', { kind: 'status', status: 500 });
    await next();
    expect(await shown()).toEqual(doubted);
    // A killed process that reaches no source starts with its snapshot file.
    silence();
    await service.restart();
    expect(await shown()).toEqual(doubted);
    heal();
    service.world.upstreams.faults.set('coingecko', { kind: 'scaled', factor: 2 });
    service.world.upstreams.faults.set('defillama-coins', { kind: 'status', status: 500 });
    await next();
    expect(await shown()).toEqual(doubted);
    await next();
    const [confirmed, warnings] = await shown();
    expect([Number(confirmed) / Number(good), warnings]).toEqual([2, []]);
    heal();
    for (let i = 0; i < 3; i += 1) await next();
    expect(await shown()).toEqual([good, []]);
  });
});

describe('an upgrade with another form of the facts', () => {
  test('is not ready, then continues with some strategies and names the missing ones', async () => {
    await restartWarm();
    const whole = (await service.get('/v1/strategies')).body;
    await service.app.stop();
    const now = await readFile(snapshotFile, 'utf8');
    await writeFile(snapshotFile, now.replace(/"v":\d+/, '"v":0'));
    service.world.upstreams.faults.set('all', { kind: 'hang' });
    await service.restart();

    const ofChain = async () => (await service.get('/ready')).body.chains[0];
    // The nodes answer: what comes from the chain alone is read, each group at its own time.
    const ofNodes = ['lendingState', 'oracle', 'deployment', 'marketSupport', 'tokenContract'];
    const unread = async () => (await ofChain()).waitingFor.filter((group: string) => ofNodes.includes(group));
    await expect.poll(unread).toEqual([]);
    const early = await ofChain();
    expect(early.ready).toBe(false);
    expect(early.waitingFor).toEqual(expect.arrayContaining(['collateralApy', 'price']));
    expect((await service.get('/v1/strategies')).body.error.details.waitingFor).toEqual(early.waitingFor);

    service.clock.advance(60_000);
    const late = await ofChain();
    expect([late.ready, late.waitingFor]).toEqual([true, []]);
    expect(late.missing).toEqual(expect.arrayContaining(['collateralApy', 'price']));
    const shown = (await service.get('/v1/strategies')).body;
    expect(shown.count).toBeLessThan(whole.count);
    expect(shown.missing.strategies.length).toBeGreaterThan(0);
    const ids = new Set(shown.strategies.map(({ id }: Json) => id));
    for (const { id } of shown.missing.strategies) expect(ids.has(id)).toBe(false);
    heal();
  });

  test('shows the age of sources that stopped forty days ago, and is fresh with the first correct answer', async () => {
    const snapshot = await goodSnapshot();
    await service.app.stop();
    await writeFile(snapshotFile, snapshot.replace(/"v":\d+/, '"v":0'));
    heal();
    for (const provider of ['defillama-yields', 'coingecko', 'defillama-coins'] as const) {
      service.world.upstreams.faults.set(provider, { kind: 'frozen' });
    }
    await service.restart();
    await service.app.warmed;
    const days = (asOf: string) => (service.clock.now() - Date.parse(asOf)) / 86_400_000;
    const prices = (await service.get('/v1/prices')).body;
    expect([prices.stale, Math.round(days(prices.asOf))]).toEqual([true, 40]);
    // The aggregator is the source that dates its APYs.
    const { markets } = service.world.chains.on(1).chain;
    const dated = markets.find(({ collateral, kind }) => collateral.apySource === 'aggregator' && kind === 'loop')?.id;
    const strategy = (await service.get(`/v1/strategies/${dated}`)).body;
    expect(Math.round(days(strategy.freshness.collateralApy.asOf))).toBeGreaterThanOrEqual(40);
    expect(strategy.freshness.collateralApy.staleForSec).toBeGreaterThan(37 * 86_400);
    expect(strategy.inputFreshness.prices.staleForSec).toBeGreaterThan(39 * 86_400);

    heal();
    service.clock.advance(61_000);
    await service.refresh('prices', 'collateral-apy-aggregator:1');
    const well = (await service.get(`/v1/strategies/${dated}`)).body;
    expect([well.freshness.collateralApy.staleForSec, well.inputFreshness.prices.staleForSec]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
