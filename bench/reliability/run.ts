import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { startLoadBalancer } from '../../test/support/process/load-balancer.ts';
import type { Env, ServiceProcess } from '../../test/support/process/spawn-service.ts';
import { subscribe } from '../../test/support/sse.ts';
import { dailyCalls, seeded } from './calls.ts';
import { mountTinyDisk } from './disk.ts';
import { type Lab, startLab } from './environment.ts';
import { type Call, type LoadStats, startLoad } from './load.ts';
import { BASELINE, type Fleet, type Scenario, scenariosOf } from './scenarios.ts';
import { type Row, renderTable } from './table.ts';
import { TOPOLOGIES, type Topology } from './topologies.ts';
import { startWatch, type Watch } from './watch.ts';

/*
 * Two api processes, a warmer, Redis, Postgres and the local world on one machine, under load, while one part after the
 * other is stopped: `npm run bench:reliability -- [seconds of "a minute"] [requests per second] [only names with this text]`.
 */

const [minuteSec = 60, perSecond = 40] = process.argv.slice(2, 4).map(Number);
/** Only the scenarios with this text in their name; the rest of the run is left out then. */
const only = process.argv[4];
/** Short, so that a recovery is visible within seconds. Budgets are twice that, so that ageing is visible too. */
const CADENCES: Env = {
  REFRESH_LENDING_STATE_SEC: '5',
  REFRESH_PRICES_SEC: '10',
  BUDGET_LENDING_STATE_SEC: '10',
  BUDGET_ORACLE_SEC: '10',
  RATE_LIMIT_ANONYMOUS: '0',
  RATE_LIMIT_PARTNER: '0',
};
const LONGEST_RECOVERY_MS = 120_000;
const SUBSCRIPTION_POLL_SEC = 20;

const say = (text: string) => process.stderr.write(`${text}\n`);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const until = async (holds: () => Promise<boolean> | boolean): Promise<number> => {
  const startedMs = Date.now();
  while (Date.now() - startedMs < LONGEST_RECOVERY_MS) {
    if (await Promise.resolve(holds()).catch(() => false)) return (Date.now() - startedMs) / 1_000;
    await pause(100);
  }
  return Number.POSITIVE_INFINITY;
};
/** The baseline is always measured: before an outage processes have answered every kind of call. */
const isWanted = (name: string): boolean => only === undefined || name.includes(only) || name === BASELINE;
const isReady = ({ url }: ServiceProcess) => fetch(`${url}/ready`).then(({ ok }) => ok);

/** Whether a process is connected with Redis and lacks nothing there. */
const isSharing = async ({ url }: ServiceProcess): Promise<boolean> => {
  const { snapshot } = (await (await fetch(`${url}/health`)).json()) as { readonly snapshot: { readonly ok: boolean } };
  return snapshot.ok;
};
const peakMb = ({ child }: ServiceProcess): number => {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
};

const lab = await startLab();
try {
  const catalog = createCatalog(curatedChains);
  const calls = dailyCalls(catalog, lab.partnerKey, seeded(1));
  const random = seeded(2);
  /** Whether the current scenario reads positions. */
  let readsPositions = false;
  const positions: Call = {
    name: 'positions',
    method: 'GET',
    path: `/v1/partner/positions/${seededWallet('looper').account.address}`,
    headers: { authorization: `Bearer ${lab.partnerKey}` },
  };
  const next = () => (readsPositions && random() < 0.1 ? positions : calls());
  const rows: Row[] = [];
  let delays: readonly number[] = [];
  if (only === undefined || !TOPOLOGIES.some(({ name }) => name.includes(only))) {
    const fleet = await startFleet(`redis://127.0.0.1:${lab.redisLine.port}`);
    const watch = startWatch(() => fleet.apis);
    const load = startLoad({ targets: () => fleet.apis.map(({ url }) => url), perSecond, maxOpen: 200, next });
    for (const scenario of scenariosOf(lab, fleet, watch, minuteSec)) {
      if (!isWanted(scenario.name)) continue;
      readsPositions = scenario.readsPositions ?? false;
      rows.push(await play(scenario, load.take, watch));
      readsPositions = false;
    }
    say(`resident memory of the api processes at most: ${fleet.apis.map(peakMb).join(', ')} MB`);
    if (only === undefined) delays = await subscriptionDelays(fleet);
    await load.stop();
    if (only === undefined) rows.push(await rollingRestart(fleet, fleet.spawnApi, watch));
    watch.stop();
    await Promise.all([...fleet.apis, fleet.warmer].map((service) => service.end('SIGTERM')));
  }
  for (const topology of TOPOLOGIES) if (isWanted(topology.name)) rows.push(await losingServer(topology));
  if (only === undefined) rows.push(...(await diskFull(lab)));
  process.stdout.write(
    [
      `${perSecond} requests/s, outages of "a minute": ${minuteSec} s, ${process.version}, ${new Date().toISOString().slice(0, 10)}.`,
      '',
      renderTable(rows),
      '',
      delays.length === 0
        ? ''
        : `Subscriptions: ${delays.length} events at two api processes, from the publish in the warmer to the reader: median ${delays[Math.floor(delays.length / 2)]} ms, longest ${delays.at(-1)} ms.`,
      '',
    ].join('\n'),
  );

  /** Start a warmer and two api processes that share a Redis, and wait until these are ready. */
  async function startFleet(redisUrl: string): Promise<Fleet & { spawnApi(): Promise<ServiceProcess> }> {
    const shared: Env = { ...CADENCES, REDIS_URL: redisUrl };
    const spawnWarmer = () => lab.spawn({ ...shared, ROLE: 'warmer' });
    const spawnApi = () => lab.spawn({ ...shared, ROLE: 'api', STOP_DELAY_SEC: '2' });
    const fleet = { warmer: await spawnWarmer(), apis: [await spawnApi(), await spawnApi()], spawnWarmer, spawnApi };
    await until(async () => (await Promise.all(fleet.apis.map(isReady))).every(Boolean));
    return fleet;
  }

  /** Processes on a Redis of several servers, of which one is killed. */
  async function losingServer({ name, start }: Topology): Promise<Row> {
    const redis = await start();
    try {
      const fleet = await startFleet(redis.url);
      const watch = startWatch(() => fleet.apis);
      const load = startLoad({ targets: () => fleet.apis.map(({ url }) => url), perSecond, maxOpen: 200, next });
      let sinceMs = 0;
      const recovered = async () => {
        const ok = await Promise.all([...fleet.apis, fleet.warmer].map(isSharing));
        return (
          ok.every(Boolean) && fleet.apis.every((api) => (watch.last(api, 'LENDING_STATE')?.asOfMs ?? 0) > sinceMs)
        );
      };
      const mend = async (): Promise<void> => {
        sinceMs = Date.now();
        await redis.mend();
      };
      await until(recovered);
      const holdSec = Math.min(minuteSec, 30);
      const row = await play({ name, holdSec, break: redis.break, mend, recovered }, load.take, watch);
      await load.stop();
      watch.stop();
      if (row.recoverySec === Number.POSITIVE_INFINITY) {
        for (const { log } of [fleet.warmer, ...fleet.apis]) say(log.slice(-20).join('\n'));
      }
      await Promise.all([...fleet.apis, fleet.warmer].map((service) => service.end('SIGKILL')));
      return row;
    } finally {
      await redis.stop();
    }
  }

  async function rollingRestart(current: Fleet, spawn: () => Promise<ServiceProcess>, watch: Watch): Promise<Row> {
    const name = 'both api processes are replaced, one after the other';
    say(name);
    const balancer = await startLoadBalancer();
    balancer.use(current.apis.map(({ url }) => url));
    await until(() => balancer.ready() === 2);
    const through = startLoad({ targets: () => [balancer.url], perSecond, maxOpen: 200, next: calls });
    for (const old of [...current.apis]) {
      const next = await spawn();
      const before = current.apis;
      current.apis = [...before, next];
      balancer.use(current.apis.map(({ url }) => url));
      await until(() => balancer.ready() === 3);
      await old.end('SIGTERM');
      current.apis = current.apis.filter((api) => api !== old);
      balancer.use(current.apis.map(({ url }) => url));
    }
    await pause(1_000);
    const stats = await through.stop();
    await balancer.stop();
    return { name, stats, recoverySec: null, oldestSec: watch.take().oldestSec, looks: 0, untrue: [] };
  }

  async function diskFull(at: Lab): Promise<readonly Row[]> {
    const name = 'the disk of the snapshot file is full (one process, no Redis)';
    say(name);
    const disk = mountTinyDisk(join(at.folder, 'disk'));
    if (disk === null) {
      say('  left out: this user may not mount a disk');
      return [];
    }
    try {
      const alone = await at.spawn({ ...CADENCES, SNAPSHOT_FILE: join(disk.folder, 'snapshot.json') });
      await until(() => isReady(alone));
      const persisted = async () =>
        ((await (await fetch(`${alone.url}/health`)).json()) as { snapshot: { ok: boolean } }).snapshot.ok;
      await until(async () => !(await persisted()));
      const look = startWatch(() => [alone]);
      const own = startLoad({ targets: () => [alone.url], perSecond, maxOpen: 200, next: calls });
      await pause(15_000);
      disk.enlarge();
      const recoverySec = await until(persisted);
      const stats = await own.stop();
      look.stop();
      return [{ name, stats, recoverySec, ...look.take() }];
    } finally {
      disk.remove();
    }
  }
} finally {
  await lab.stop();
}

/** Break, hold, repair, wait for the recovery. The row covers all of it. */
async function play(scenario: Scenario, take: () => LoadStats, watch: Watch): Promise<Row> {
  say(scenario.name);
  take();
  watch.take();
  await scenario.break();
  await pause(scenario.holdSec * 1_000);
  await scenario.mend();
  const recoverySec = await until(scenario.recovered);
  // Requests in flight at the end of the outage belong to its row.
  await pause(500);
  return { name: scenario.name, stats: take(), recoverySec, ...watch.take() };
}

/** From the moment that a version was published to the moment that a reader at each api process has its event, ms, sorted. */
async function subscriptionDelays({ apis }: Fleet): Promise<readonly number[]> {
  say('subscriptions');
  const document = 'subscription { strategyChanged(filter: { listedOnly: false }) { publishedAt complete } }';
  const delays: number[] = [];
  const streams = await Promise.all(apis.map(({ url }) => subscribe(url, document)));
  const readers = streams.map(async (stream) => {
    for (;;) {
      const event = await stream.next().catch(() => null);
      if (event === null) return;
      const { publishedAt, complete } = event.data.strategyChanged;
      if (!complete) delays.push(Date.now() - Date.parse(publishedAt));
    }
  });
  await pause(SUBSCRIPTION_POLL_SEC * 1_000);
  await Promise.all(streams.map((stream) => stream.close()));
  await Promise.all(readers);
  return delays.sort((a, b) => a - b);
}
