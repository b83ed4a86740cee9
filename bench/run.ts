import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { startWorld } from '../devnet/index.ts';
import { envSchema } from '../src/config/env.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { alerting } from './alerting.ts';
import { attacking } from './attacks.ts';
import { type Child, isPinning, removeBundles, serviceFlags, startChild } from './child.ts';
import { composing } from './composing.ts';
import { sharing } from './cores.ts';
import { type Measured, measure, median, type Shot } from './load.ts';
import { partnering } from './partner.ts';
import { askRaw } from './raw.ts';
import { refreshing } from './refreshing.ts';
import { reporting } from './reporting.ts';
import { type Contender, type Row, type RowBytes, rowsOf } from './rows.ts';
import { say, tableHead, tableRow } from './table.ts';

interface Plan {
  readonly rounds: number;
  readonly shotMs: number;
  readonly sizes: readonly number[];
  /** Wallets of the report of all portfolios, each with five positions. */
  readonly wallets: readonly number[];
  /** Duration of each of the worst attacks, seconds. */
  readonly attackSec: number;
}

const FULL: Plan = {
  rounds: 5,
  shotMs: 2_000,
  sizes: [100, 1_000, 10_000],
  wallets: [100, 1_000, 10_000],
  attackSec: 30,
};
const QUICK: Plan = { rounds: 1, shotMs: 600, sizes: [100, 1_000], wallets: [100, 1_000], attackSec: 5 };
/** Benchmarks without a local world. */
const ALONE: readonly string[] = [
  'partner',
  'compose',
  'refresh',
  'ops',
  'alerts',
  'attacks',
  'names',
  'bystander',
  'cores',
];
/** Limits are counted, and high enough for the measurement. */
const NO_END = '1000000000';
/** Settings of refresh cadences and freshness budgets. */
const CADENCE = /^(REFRESH|BUDGET)_.*_SEC$/;
const A_DAY = '86400';

async function main(args: readonly string[]): Promise<void> {
  const plan = planOf(args);
  const only = args.filter((arg) => !arg.startsWith('--'));
  const wanted = (name: string) => only.length === 0 || only.some((part) => name.startsWith(part));
  const [cpu] = cpus();
  say(`node ${process.version}, ${cpus().length} x ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`);
  say(isPinning ? 'servers pinned to one core' : 'servers share all cores');
  const isServing = only.length === 0 || only.some((part) => !ALONE.includes(part));
  if (isServing) await attempt('answers', () => serving(plan, wanted));
  if (wanted('partner')) await attempt('partner', () => partnering(plan));
  if (wanted('cores')) await attempt('cores', () => sharing(plan));
  if (wanted('compose')) await attempt('compose', () => composing(plan.sizes));
  if (wanted('refresh')) await attempt('refresh', () => refreshing(plan.sizes));
  if (wanted('ops')) await attempt('ops', () => reporting(plan.wallets));
  if (wanted('alerts')) await attempt('alerts', () => alerting());
  if (wanted('attacks') || wanted('names') || wanted('bystander'))
    await attempt('attacks', () => attacking(plan.attackSec, wanted));
}

/** Run one part. After a failure the other parts still run, and the command fails at its end. */
async function attempt(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    say(`FAILED: ${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

/** `--quick`, or any of `--rounds=5` and `--ms=2000`. */
function planOf(args: readonly string[]): Plan {
  const plan = args.includes('--quick') ? QUICK : FULL;
  const given = (name: string) => Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1]);
  return { ...plan, rounds: given('rounds') || plan.rounds, shotMs: given('ms') || plan.shotMs };
}

async function serving(plan: Plan, wanted: (name: string) => boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-bench-'));
  const ends: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const world = await startWorld({ dataDir: folder, mining: 'auto', logger: silentLogger });
    ends.push(() => world.stop());
    const settings: Readonly<Record<string, string>> & { readonly SNAPSHOT_FILE: string } = {
      ...world.overrides.env,
      NODE_ENV: 'test',
      PORT: '0',
      METRICS_PORT: '0',
      SNAPSHOT_FILE: join(folder, 'snapshot.json'),
      RATE_LIMIT_ANONYMOUS: NO_END,
      RATE_LIMIT_PARTNER: NO_END,
      // Only answers are measured: no refresh runs, and no fact becomes stale.
      ...Object.fromEntries(
        Object.keys(envSchema.shape)
          .filter((name) => CADENCE.test(name))
          .map((name) => [name, A_DAY]),
      ),
    };
    const startedMs = performance.now();
    const service = await startChild('service', settings, serviceFlags);
    ends.push(() => service.stop());
    const { listeningMs, warmedMs } = service.report as { listeningMs: number; warmedMs: number };
    await whenPersisted(settings.SNAPSHOT_FILE);
    const { rows, bytes } = await arrange(service, folder);
    const peerInput = { snapshotFile: settings.SNAPSHOT_FILE, overlayFile: settings.CATALOG_OVERLAY ?? '' };
    const contenders = new Map<Contender, Child>([['service', service]]);
    const bytesFor = (contender: Contender) =>
      bytes.filter(({ name }) => rows.some((row) => row.name === name && row.against.includes(contender)));
    const inputs: [Contender, unknown][] = [
      ['bare', bytes],
      ['hono', bytesFor('hono')],
      ['fastify', bytesFor('fastify')],
      ['deployed', bytesFor('fastify')],
      ['yoga', peerInput],
      ['mercurius', peerInput],
    ];
    for (const [name, input] of inputs) {
      const child = await startChild(name, input);
      contenders.set(name, child);
      if (name === 'bare') contenders.set('same', child);
      ends.push(() => child.stop());
    }
    tableHead(plan.rounds);
    for (const row of rows.filter(({ name }) => wanted(name))) {
      await attempt(row.title, async () => tableRow(row, await measureRow(row, contenders, plan)));
    }
    const cost = await service.cost();
    say(
      `cold start: process to listening ${Math.round(listeningMs)} ms, to warm ${Math.round(warmedMs)} ms ` +
        `(${Math.round(performance.now() - startedMs)} ms ago); peak memory ${Math.round(cost.peakRssBytes / 2 ** 20)} MB`,
    );
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Send the request of every row once, and store the answers for the servers that only write bytes. */
async function arrange(service: Child, folder: string): Promise<{ rows: readonly Row[]; bytes: readonly RowBytes[] }> {
  const first = await fetch(`${service.url}/v1/strategies`, { headers: { 'accept-encoding': 'identity' } });
  const { strategies } = (await first.json()) as { strategies: { id: string }[] };
  const etag = first.headers.get('etag') ?? '';
  const rows = rowsOf({ strategyId: strategies[0]?.id ?? '', etag });
  const bytes: RowBytes[] = [];
  for (const { name, shot, against } of rows) {
    if (!against.includes('bare')) continue;
    // The first request of a document takes another path than later ones.
    if (shot.method === 'POST') await askRaw(service.url, shot);
    const { headers, body } = await askRaw(service.url, shot);
    const file = join(folder, `${name}.bytes`);
    await writeFile(file, body);
    const head = Object.fromEntries(Object.entries(headers).filter(([field]) => !OF_THE_SERVER.has(field)));
    const needed = shot.status === 304 ? ['etag'] : ['content-type', 'content-encoding', 'content-length'];
    const few = Object.fromEntries(Object.entries(headers).filter(([field]) => needed.includes(field)));
    bytes.push({ name, file, headers: few, head, etag: shot.status === 304 ? etag : undefined });
  }
  return { rows, bytes };
}

/** Headers that every server of node:http adds. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive']);

async function whenPersisted(file: string): Promise<void> {
  let length = -1;
  for (;;) {
    const now = await readFile(file).then(
      ({ length: bytes }) => bytes,
      () => 0,
    );
    if (now > 0 && now === length) return;
    length = now;
    await new Promise((resolve) => setTimeout(resolve, 1_200));
  }
}

/**
 * Measure a row with every contender in turn, round by round, so that other load of the machine affects all. The first round
 * is a warm-up and is not counted.
 */
async function measureRow(
  row: Row,
  contenders: ReadonlyMap<Contender, Child>,
  { rounds, shotMs }: Plan,
): Promise<ReadonlyMap<Contender, Measured>> {
  const all = new Map<Contender, Measured[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of ['service', ...row.against] as const) {
      const child = contenders.get(name);
      if (!child) continue;
      const ms = round === 0 ? shotMs / 2 : shotMs;
      const hasOwnTags = name === 'service' || name === 'deployed';
      const measured = await (hasOwnTags ? measureTagged : measure)(child, shotFor(name, row), ms);
      if (round > 0) all.set(name, [...(all.get(name) ?? []), measured]);
    }
  }
  return new Map([...all].map(([name, list]) => [name, median(list)]));
}

const MAX_ATTEMPTS = 5;

/** The version behind a tag may change during the measurement, which is then repeated. */
async function measureTagged(child: Child, shot: Shot, ms: number): Promise<Measured> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await measure(child, await withCurrentTag(child, shot), ms);
    } catch (error) {
      if (shot.status !== 304 || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Stale answers get another tag after some minutes: use the current one. */
async function withCurrentTag(server: Child, shot: Shot): Promise<Shot> {
  if (shot.status !== 304) return shot;
  const { headers } = await askRaw(server.url, { path: shot.path });
  return { ...shot, headers: { ...shot.headers, 'if-none-match': String(headers.etag) } };
}

function shotFor(name: Contender, row: Row): Shot {
  if (name === 'service') return row.shot;
  if (name === 'yoga' || name === 'mercurius') return row.peerShot ?? row.shot;
  // It chooses the encoding and compares the tag itself.
  if (name === 'deployed') return { ...row.shot, path: `/${row.name.split('-', 1)[0]}` };
  return { ...row.shot, path: name === 'same' ? `/${row.name}/same` : `/${row.name}` };
}

try {
  await main(process.argv.slice(2));
} finally {
  await removeBundles();
}
