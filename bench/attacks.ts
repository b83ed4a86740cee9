import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld } from '../devnet/index.ts';
import { silentLogger } from '../src/shared/logger.ts';
import type { Attack } from '../test/attacks/attack.ts';
import { attackCorpus } from '../test/attacks/corpus.ts';
import { namesCorpus } from '../test/attacks/names.ts';
import { bystanding } from './bystander.ts';
import { type Child, serviceFlags, startChild } from './child.ts';
import { say } from './table.ts';

/** Costs of one request of the corpus for the service and its caller. */
interface Cost {
  readonly attack: Attack;
  readonly status: number;
  readonly cpuMs: number;
  readonly bytes: number;
  readonly points: number;
}

const HEAP_MB = 384;
const REPEATS = 5;
const WORST = 25;
/** Most CPU time of the service per point that a request costs, on quiet cores. */
const MOST_MS_PER_POINT = 20;
/** Measured alone, the worst of earlier runs. */
const KNOWN_WORST: ReadonlySet<string> = new Set([
  'GET /v1/strategies',
  'a list of 1,900 values',
  '480 unknown fields',
  '380 variables that nothing uses',
  'batch of five: BorrowApyHistories by its id',
  'batch of five: 6 aliases of all fields with their arguments',
]);
/** The most frequent possible requests: all except the first few are refused by the budget. */
const CHEAPEST = 'a path of 0 characters that is not there';

/**
 * Measure every request of the corpus: processor time and bytes against points. Then attack from one address with the
 * default limits, and request `/v1/tvl` from another one meanwhile.
 */
export async function attacking(seconds: number, wanted: (name: string) => boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-attacks-'));
  const world = await startWorld({ dataDir: folder, mining: 'auto', logger: silentLogger });
  const all = [...attackCorpus(), ...namesCorpus()];
  const start = (env: Readonly<Record<string, string>>) =>
    startChild(
      'service',
      { ...world.overrides.env, NODE_ENV: 'test', PORT: '0', SNAPSHOT_FILE: join(folder, 'snapshot.json'), ...env },
      [`--max-old-space-size=${HEAP_MB}`, ...serviceFlags],
    );
  try {
    let worst = all.filter(({ name }) => KNOWN_WORST.has(name));
    if (wanted('attacks') || wanted('names')) {
      const open = await start({ RATE_LIMIT_ANONYMOUS: '1000000000', RATE_LIMIT_PARTNER: '1000000000' });
      const costs = await measureAll(open, wanted('attacks') ? all : namesCorpus());
      await open.stop();
      print(costs, wanted('attacks') ? WORST : costs.length);
      worst = worstOf(costs);
    }
    const cheapest = all.filter(({ name }) => name === CHEAPEST);
    if (wanted('bystander')) await bystanding(start, [...worst, ...cheapest], seconds);
  } finally {
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(service: Child, attacks: readonly Attack[]): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const attack of attacks) costs.push(await measure(service, attack));
  return costs.sort((a, b) => perPoint(b) - perPoint(a));
}

async function measure(service: Child, attack: Attack): Promise<Cost> {
  let last = await send(service.url, attack, 0);
  const before = await service.cost();
  let points = 0;
  for (let i = 1; i <= REPEATS; i += 1) {
    const next = await send(service.url, attack, i);
    points += Math.max(1, last.remaining - next.remaining || 1);
    last = next;
  }
  const after = await service.cost();
  const cpuMs = (after.cpuUs - before.cpuUs) / 1_000 / REPEATS;
  return { attack, status: last.status, cpuMs, bytes: last.bytes, points: points / REPEATS };
}

const perPoint = ({ cpuMs, points }: Cost): number => cpuMs / points;

/** Send a request with a new document, because documents are cached. */
async function send(url: string, { path = '/graphql', init }: Attack, i: number) {
  const body = typeof init.body === 'string' ? init.body.replaceAll('query A', `query A${i}n`) : init.body;
  const answer = await fetch(`${url}${path}`, { ...init, body } as RequestInit);
  // A slow reader is sent the compressed body.
  const { byteLength } = await answer.arrayBuffer();
  const bytes = Number(answer.headers.get('content-length') ?? byteLength);
  const remaining = Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1] ?? Number.NaN);
  return { status: answer.status, bytes, remaining };
}

function print(costs: readonly Cost[], shown: number): void {
  const [worst] = costs;
  const most = Math.max(...costs.map(({ bytes, points }) => bytes / points));
  say(
    `${costs.length} requests; worst ${worst ? perPoint(worst).toFixed(1) : '-'} ms and ${(most / 2 ** 20).toFixed(2)} MB per point`,
  );
  say('| request | status | CPU, ms | answer, kB | points | CPU ms per point |\n|---|--:|--:|--:|--:|--:|');
  for (const cost of costs.slice(0, shown)) {
    const { attack, status, cpuMs, bytes, points } = cost;
    say(
      `| ${attack.name} | ${status} | ${cpuMs.toFixed(1)} | ${Math.round(bytes / 1_024)} | ${points.toFixed(0)} | ${perPoint(cost).toFixed(2)} |`,
    );
  }
  if (worst && perPoint(worst) > MOST_MS_PER_POINT) {
    say(`FAILED: ${worst.attack.name} costs more than ${MOST_MS_PER_POINT} ms of CPU per point`);
    process.exitCode = 1;
  }
}

/** By cost, and by cost per point. */
function worstOf(costs: readonly Cost[]): Attack[] {
  const byTime = [...costs].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, 3);
  return [...new Set([...costs.slice(0, 3), ...byTime].map(({ attack }) => attack))];
}
