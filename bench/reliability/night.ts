import { readdir, readFile } from 'node:fs/promises';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { startSentinels } from '../../test/support/process/redis-topologies.ts';
import type { ServiceProcess } from '../../test/support/process/spawn-service.ts';
import { randomCalls, seeded } from './calls.ts';
import { startLab } from './environment.ts';
import { startLoad } from './load.ts';

/*
 * A night in minutes: three apis and two warmers under mixed requests, while each process is replaced, the primary of Redis dies,
 * Postgres restarts and a node lags. The answers of the apis are compared with those of a process that nothing happens to:
 * `npm run bench:night -- [minutes] [requests per second]`. Exits with 1 for a body that differs, an answer that no client
 * expects, or a lost request.
 */

const [minutes = 30, perSecond = 20] = process.argv.slice(2).map(Number);
/** A balancer asks this often whether a process is ready. */
const BALANCER_MS = 1_000;
/** A stop waits longer than the balancer, as the runbook says. */
const SETTINGS = { STOP_DELAY_SEC: '3', TRUSTED_PROXIES: '1', NODE_OPTIONS: '--max-old-space-size=320' };
/** Facts reach all processes within this time, also after a failover. */
const AGREE_WITHIN_MS = 30_000;
const COMPARE_EVERY_MS = 500;
/** A refusal that names its cause, and when to ask again. */
const NAMED = /^[^:]* 503 \w+$/;
const RESIDENT = /^VmRSS:\s+(\d+) kB/m;

const startedMs = Date.now();
const say = (text: string) => process.stdout.write(`${((Date.now() - startedMs) / 60_000).toFixed(1)} min: ${text}\n`);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const lab = await startLab();
const redis = await startSentinels({ count: 3 });
const faults: string[] = [];
try {
  const spawn = (role: 'api' | 'warmer') => lab.spawn({ ...SETTINGS, ROLE: role, REDIS_URL: redis.url });
  const warmers = [await spawn('warmer'), await spawn('warmer')];
  const reference = await spawn('api');
  const apis = [await spawn('api'), await spawn('api'), await spawn('api')];
  for (const api of [reference, ...apis]) while ((await fetch(`${api.url}/ready`)).status !== 200) await pause(200);
  say('ready');

  const serving = new Set(apis);
  const catalog = createCatalog(curatedChains);
  const next = randomCalls(catalog, lab.partnerKey, seeded(7));
  const load = startLoad({ targets: () => [...serving].map(({ url }) => url), perSecond, maxOpen: 128, next });

  const ids = catalog.chains.flatMap(({ markets }) =>
    markets.filter(({ kind }) => kind === 'loop').map(({ id }) => id),
  );
  const paths = ['/v1/strategies', '/v1/app/markets', '/v1/tvl', '/v1/prices?chainId=1', `/v1/strategies/${ids[0]}`];
  const random = seeded(3);
  let compared = 0;
  let isOver = false;
  const comparing = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      const path = paths[turn % paths.length] as string;
      const api = [...serving][Math.floor(random() * serving.size)];
      if (api && (await agree(api, reference, path))) compared += 1;
      else if (api && serving.has(api)) faults.push(`${path} differs from the reference`);
      await pause(COMPARE_EVERY_MS);
    }
  })();

  const replace = async (list: ServiceProcess[], role: 'api' | 'warmer') => {
    for (const [i, old] of list.entries()) {
      const fresh = await spawn(role);
      while (role === 'api' && (await fetch(`${fresh.url}/ready`)).status !== 200) await pause(200);
      list[i] = fresh;
      if (role === 'api') serving.add(fresh);
      const ended = old.end('SIGTERM');
      await pause(BALANCER_MS);
      serving.delete(old);
      const code = await ended;
      if (code !== 0) faults.push(`a ${role} ended with ${code}`);
    }
    say(`each ${role} was replaced`);
  };
  const lagging = async () => {
    const block = await lab.world.chains.on(4663).client.getBlockNumber();
    lab.nodes[4663].set({ kind: 'lag', blockNumber: block });
    await pause(20_000);
    lab.nodes[4663].set({ kind: 'pass' });
    say('a node was 20 s behind');
  };
  const failOver = async () => {
    await redis.failOver();
    await pause(20_000);
    await redis.revive();
    say('the primary of Redis was killed, and is back as a replica');
  };
  const postgres = async () => {
    await lab.stopPostgres();
    await pause(5_000);
    await lab.startPostgres();
    say('Postgres was restarted');
  };
  const events = [() => replace(apis, 'api'), failOver, postgres, lagging, () => replace(warmers, 'warmer')];
  const endMs = startedMs + minutes * 60_000;
  const sizes: string[] = [];
  for (let i = 0; Date.now() < endMs; i += 1) {
    await events[i % events.length]?.();
    const size = (await Promise.all([reference, ...apis, ...warmers].map(sizeOf))).join(', ');
    sizes.push(size);
    say(`${compared} bodies compared; memory and descriptors: ${size}`);
    await pause(Math.min(30_000, Math.max(0, endMs - Date.now())));
  }
  isOver = true;
  await comparing;
  const { requests, statuses, wrong, p50Ms, p99Ms } = await load.stop();
  say(`${requests} requests, ${JSON.stringify(statuses)}, median ${p50Ms} ms, 99th percentile ${p99Ms} ms`);
  for (const [answer, count] of Object.entries(wrong)) {
    if (NAMED.test(answer)) say(`${count} times ${answer}`);
    else faults.push(`${count} times ${answer}`);
  }
  say(`${compared} bodies were equal to the reference`);
} finally {
  await lab.stop();
  await redis.close();
}
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

/** Whether both processes soon give the same body: between two versions they may differ for a moment. */
async function agree(api: ServiceProcess, reference: ServiceProcess, path: string): Promise<boolean> {
  for (const untilMs = Date.now() + AGREE_WITHIN_MS; Date.now() < untilMs; ) {
    const [one, other] = await Promise.all([api, reference].map(({ url }) => bodyOf(`${url}${path}`)));
    if (one !== undefined && one === other) return true;
    await pause(100);
  }
  return false;
}

/** The body without what grows with time; `undefined` = the request was refused or lost. */
async function bodyOf(url: string): Promise<string | undefined> {
  const answer = await fetch(url).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const text = await answer.text().catch(() => '');
  return text.replaceAll(/"(?:staleForSec|ageSec)":\d+/g, '');
}

async function sizeOf({ child: { pid } }: ServiceProcess): Promise<string> {
  const [status, descriptors] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
  ]).catch(() => ['', []] as const);
  const kb = Number(RESIDENT.exec(status)?.[1] ?? Number.NaN);
  return `${(kb / 1_024).toFixed(0)} MB ${descriptors.length}`;
}
