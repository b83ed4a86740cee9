import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';

/** The chain with a single node. */
const CHAIN_ID = 4663;
const OWNER = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
/** More than the reading may be behind, in blocks and in time. */
const NEW_BLOCKS = 320;
const NEW_SEC = 3_700;
const METRICS = { METRICS_PORT: '0' };

let service: TestService;
let node: RpcProxy;
let other: Json;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    env: METRICS,
    arrange: async (world) => {
      node = await startRpcProxy(world.chains.on(CHAIN_ID).rpcUrl);
      return { [`RPC_URL_${CHAIN_ID}`]: node.url };
    },
  });
  await read();
});
afterAll(async () => {
  await service?.stop();
  await node?.stop();
});

/** Read market state, which sees the newest block, and then logs. */
const read = () => service.refresh(`lending-state:${CHAIN_ID}`, `position-history:${CHAIN_ID}`);
const chain = () => service.world.chains.on(CHAIN_ID);
/** An hour with blocks. */
const mineAnHour = async () => {
  for (const chainId of [1, CHAIN_ID]) await service.world.chains.on(chainId).increaseTime(NEW_SEC);
  await chain().mine(NEW_BLOCKS);
  service.clock.advance(NEW_SEC * 1_000);
  await service.refresh('lending-state:1', 'position-history:1');
};
const head = async () => Number(await chain().client.getBlockNumber());
/** The health page waits for a new reading of the records when the latest is older than a minute. */
const healthNow = async (): Promise<Json> => {
  service.clock.advance(60_001);
  return (await service.get('/health')).body;
};
const indexerOf = async (chainId = CHAIN_ID): Promise<Json> => {
  const { chains } = await healthNow();
  return chains.find((one: Json) => one.chainId === chainId).positionHistory;
};
const readiness = async () => {
  const { status, body } = await service.get('/ready');
  const own = body.chains.find(({ chainId }: Json) => chainId === CHAIN_ID);
  return [status, body.ready, own.ready, own.positionHistory];
};
const metric = async (series: string): Promise<number> => {
  const text = await (await fetch(`${service.app.metricsUrl}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length));
};
const behindMetric = () => metric(`spiral_history_blocks_behind{chain_id="${CHAIN_ID}"}`);
const secondsBehind = () => metric(`spiral_history_seconds_behind{chain_id="${CHAIN_ID}"}`);
/** Whether the expression of HistoryBehind holds; its time and its text are tested with the rules. */
const isAlarming = async () => {
  const [, limit] =
    /max by \(chain_id\) \(spiral_history_seconds_behind\) > (\d+)/.exec(readFileSync('ops/alerts.yml', 'utf8')) ?? [];
  return (await secondsBehind()) > Number(limit);
};
const historyOf = async (): Promise<Json> => {
  const { body } = await service.get(`/v1/partner/positions/${OWNER}?chainId=${CHAIN_ID}`, PARTNER);
  const path = `/v1/partner/positions/${OWNER}/vaults/${body.equityPositions[0].strategyId}/history`;
  const answer = await service.get(path, PARTNER);
  expect(answer.status).toBe(200);
  return answer.body;
};

describe('a history whose node refuses logs', () => {
  let before: Json;
  let since: string;
  beforeAll(async () => {
    before = await historyOf();
    other = await indexerOf(1);
    node.set({ kind: 'lacks', logs: 'refused' });
    await mineAnHour();
    since = new Date(service.clock.now()).toISOString();
    await read();
  });

  test('default: the health page names the reason, since when, and how far it is behind the newest block', async () => {
    const first = await indexerOf();
    expect(first).toMatchObject({ status: 'failing', failure: 'rate_limited', failingSince: since, lastRun: since });
    expect([first.headBlock, first.blocksBehind >= NEW_BLOCKS]).toEqual([await head(), true]);
    expect(first.readTo.blockNumber).toBe(first.headBlock - first.blocksBehind);
    service.clock.advance(15_000);
    const lastRun = new Date(service.clock.now()).toISOString();
    await read();
    expect(await indexerOf()).toMatchObject({ status: 'failing', failingSince: since, lastRun });
    // The other chain goes on.
    expect([other.status, (await indexerOf(1)).status]).toEqual(['following', 'following']);
  });

  test('default: the health page is degraded, and the process stays in service', async () => {
    const health = await healthNow();
    expect(health.status).toBe('degraded');
    expect(health.degraded).toContain(`the position history of chain ${CHAIN_ID} fails: rate_limited`);
    expect(await readiness()).toEqual([200, true, true, 'failing']);
  });

  test('default: histories are answered as far as they were read, and say so', async () => {
    const history = await historyOf();
    expect(history.events).toEqual(before.events);
    expect(history.readTo).toEqual(before.readTo);
    expect(history.readTo.blockNumber).toBe((await indexerOf()).readTo.blockNumber);
    expect((await service.get(`/v1/partner/positions/${OWNER}/statement?chainId=${CHAIN_ID}`, PARTNER)).status).toBe(
      200,
    );
  });

  test('behavior: the metric of the distance grows while runs fail, so that the alarm fires', async () => {
    expect(await behindMetric()).toBe((await indexerOf()).blocksBehind);
    expect(await isAlarming()).toBe(true);
    const failed = `spiral_warmer_runs_total{warmer="position-history:${CHAIN_ID}",outcome="failed"}`;
    expect(await metric(failed)).toBeGreaterThan(0);
  });

  test.skipIf(whyNoChromium !== null)('default: the ops page marks the chain, with the reason', async () => {
    const browser = await startChromium();
    try {
      const { page, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/ops`);
      await page.fill('#key', 'local-ops');
      await page.click('#key-form button[type=submit]');
      await page.waitForSelector('body:not([aria-busy]) #indexers tbody tr');
      expect(await page.locator('#indexers-count').innerText()).toBe('1 of 2 late');
      const row = page.locator('#indexers tbody tr', { hasText: 'failing' });
      expect(await row.innerText()).toMatch(/rate limited since/);
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  test('behavior: a process that was started while runs fail reports the distance too', async () => {
    await service.restart(METRICS);
    await read();
    expect(await behindMetric()).toBeGreaterThanOrEqual(NEW_BLOCKS);
    expect(await secondsBehind()).toBeGreaterThanOrEqual(NEW_SEC);
    expect(await indexerOf()).toMatchObject({ status: 'failing', failingSince: since });
  });

  test('behavior: after the fault it goes on where it was', async () => {
    node.set({ kind: 'pass' });
    // The failures used up the budget of requests, and made the steps small.
    for (let runs = 0; runs < 20 && (await indexerOf()).blocksBehind > 0; runs += 1) {
      service.clock.advance(60_000);
      await read();
    }
    const { failure, failingSince, ...now } = await indexerOf();
    expect([failure, failingSince, now.status, now.blocksBehind]).toEqual([undefined, undefined, 'following', 0]);
    const health = await healthNow();
    expect(health.degraded ?? []).not.toContainEqual(expect.stringContaining('position history'));
    expect([await behindMetric(), await isAlarming()]).toEqual([0, false]);
    const after = await historyOf();
    expect(after.events).toEqual(before.events);
    expect(after.readTo.blockNumber).toBe(await head());
  });
});

describe('a history that lags', () => {
  test('default: the health page, readiness and the metric say behind, and it catches up', async () => {
    // The newest blocks are left out, so that the reading stays as far behind.
    await service.restart({ ...METRICS, HISTORY_CONFIRMATION_SEC: String(NEW_SEC) });
    await mineAnHour();
    await read();
    const lagging = await indexerOf();
    expect([lagging.status, lagging.blocksBehind > NEW_BLOCKS, lagging.failure]).toEqual(['behind', true, undefined]);
    expect((await healthNow()).degraded).toContain(`the position history of chain ${CHAIN_ID} is behind`);
    expect(await readiness()).toEqual([200, true, true, 'behind']);
    expect([await behindMetric(), await isAlarming()]).toEqual([lagging.blocksBehind, true]);
    expect((await historyOf()).readTo.blockNumber).toBe((await head()) - lagging.blocksBehind);
    await service.restart(METRICS);
    await read();
    expect([(await indexerOf()).status, await behindMetric()]).toEqual(['following', 0]);
  });

  test('behavior: a reading that no process runs is stopped after ten minutes', async () => {
    service.clock.advance(600_001);
    expect((await indexerOf()).status).toBe('stopped');
    expect((await healthNow()).degraded).toContain(`the position history of chain ${CHAIN_ID} is not read`);
  });
});
