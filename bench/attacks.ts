import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld } from '../devnet/index.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { type Attack, attackCorpus } from '../test/attacks/corpus.ts';
import { type Child, startChild } from './child.ts';
import { say } from './table.ts';

/** What one request of the corpus costs the service and its caller. */
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
const CONNECTIONS = 50;
const PAUSE_MS = 60;
/** Measured alone, the worst of earlier runs. */
const KNOWN_WORST: ReadonlySet<string> = new Set([
  'one object 240 times',
  'batch of five: a list of 1,900 values',
  'batch of five: 49 fragments of one shape',
  'batch of five: 390 misspelt types',
  'batch of five: 6 aliases of all fields with their arguments',
]);
/** The attacker and the bystander are two addresses of this machine. */
const ATTACKER = '127.0.0.2';
const BYSTANDER = '127.0.0.1';

/**
 * Measure every request of the corpus: processor time and bytes against points. Then let one address do its worst with the
 * default limits, and ask for `/v1/tvl` from another one meanwhile.
 */
export async function attacking(seconds: number, wanted: (name: string) => boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-attacks-'));
  const world = await startWorld({ dataDir: folder, mining: 'auto', logger: silentLogger });
  const start = (env: Readonly<Record<string, string>>) =>
    startChild(
      'service',
      { ...world.overrides.env, NODE_ENV: 'test', PORT: '0', SNAPSHOT_FILE: join(folder, 'snapshot.json'), ...env },
      [`--max-old-space-size=${HEAP_MB}`],
    );
  try {
    let worst = attackCorpus().filter(({ name }) => KNOWN_WORST.has(name));
    if (wanted('attacks')) {
      const open = await start({ RATE_LIMIT_ANONYMOUS: '1000000000' });
      const costs = await measureAll(open);
      await open.stop();
      tell(costs);
      worst = worstOf(costs);
    }
    if (wanted('bystander')) await bystanding(start, worst, seconds);
  } finally {
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(service: Child): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const attack of attackCorpus()) costs.push(await measure(service, attack));
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

/** Send a request as it was never sent before: documents are remembered. */
async function send(url: string, { path = '/graphql', init }: Attack, i: number) {
  const body = typeof init.body === 'string' ? init.body.replaceAll('query A', `query A${i}n`) : init.body;
  const answer = await fetch(`${url}${path}`, { ...init, ...(body === undefined ? {} : { body }) } as RequestInit);
  const bytes = (await answer.arrayBuffer()).byteLength;
  const remaining = Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1] ?? Number.NaN);
  return { status: answer.status, bytes, remaining };
}

function tell(costs: readonly Cost[]): void {
  const [worst] = costs;
  const most = Math.max(...costs.map(({ bytes, points }) => bytes / points));
  say(
    `${costs.length} requests; worst ${worst ? perPoint(worst).toFixed(1) : '-'} ms and ${(most / 2 ** 20).toFixed(2)} MB per point`,
  );
  say('| request | status | CPU, ms | answer, kB | points | CPU ms per point |\n|---|--:|--:|--:|--:|--:|');
  for (const cost of costs.slice(0, WORST)) {
    const { attack, status, cpuMs, bytes, points } = cost;
    say(
      `| ${attack.name} | ${status} | ${cpuMs.toFixed(1)} | ${Math.round(bytes / 1_024)} | ${points.toFixed(0)} | ${perPoint(cost).toFixed(2)} |`,
    );
  }
}

type Start = (env: Readonly<Record<string, string>>) => Promise<Child>;
type Worst = readonly [name: string, run: (url: string, signal: AbortSignal) => Promise<void>];

/** By what they cost, and by what they cost for each point. */
function worstOf(costs: readonly Cost[]): Attack[] {
  const byTime = [...costs].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, 3);
  return [...new Set([...costs.slice(0, 3), ...byTime].map(({ attack }) => attack))];
}

async function bystanding(start: Start, corpus: readonly Attack[], seconds: number): Promise<void> {
  const named = (attack: Attack): Worst => [attack.name, (url, signal) => flood(url, attack, signal)];
  const worst: readonly Worst[] = [
    ['nobody', async (_url, signal) => ended(signal)],
    ...corpus.map(named),
    ['connections that do not read', unread],
  ];
  say(
    '\n| one address does | answered | failed | median, ms | p99, ms | longest, ms | statuses of the attacker | memory, MB | alive |\n|---|--:|--:|--:|--:|--:|---|--:|---|',
  );
  for (const [name, run] of worst) {
    const service = await start({});
    const end = new AbortController();
    const times: number[] = [];
    let failed = 0;
    counts.clear();
    const attack = run(service.url, end.signal).catch(() => {});
    const until = performance.now() + seconds * 1_000;
    while (performance.now() < until) {
      await ask(service.url).then(
        (ms) => times.push(ms),
        () => {
          failed += 1;
        },
      );
      // The bystander has a budget as well.
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    end.abort();
    await attack;
    const alive = await fetch(`${service.url}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
    const rss = alive ? Math.round((await service.cost()).peakRssBytes / 2 ** 20) : 0;
    times.sort((a, b) => a - b);
    const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
    const statuses = [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
    say(
      `| ${name} | ${times.length} | ${failed} | ${at(0.5)} | ${at(0.99)} | ${at(1)} | ${statuses} | ${rss} | ${alive ? 'yes' : 'no'} |`,
    );
    await service.stop();
  }
}

/** Statuses that the attacker got. */
const counts = new Map<number, number>();
const note = (status: number) => counts.set(status, (counts.get(status) ?? 0) + 1);

const ended = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

async function ask(url: string): Promise<number> {
  const startedMs = performance.now();
  const { status } = await exchange(`${url}/v1/tvl`, { method: 'GET', agent: bystander, localAddress: BYSTANDER });
  if (status !== 200) throw new Error(`the bystander got ${status}`);
  return performance.now() - startedMs;
}

const bystander = new Agent({ keepAlive: true });

/** Ask again and again over many connections. */
async function flood(url: string, { path = '/graphql', init }: Attack, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let i = 0;
  const worker = async () => {
    while (!signal.aborted) {
      i += 1;
      const body = typeof init.body === 'string' ? init.body.replaceAll('query A', `query A${i}n`) : undefined;
      const headers = init.headers as Record<string, string>;
      const options = { method: init.method ?? 'GET', headers, agent, localAddress: ATTACKER };
      await exchange(`${url}${path}`, options, body).then(
        ({ status }) => note(status),
        () => note(0),
      );
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  agent.destroy();
}

async function unread(url: string, signal: AbortSignal): Promise<void> {
  const { port, hostname } = new URL(url);
  const sockets: Socket[] = [];
  while (!signal.aborted) {
    const socket = connect({ port: Number(port), host: hostname, localAddress: ATTACKER });
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET /graphiql/app.js HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10));
    sockets.push(socket);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const socket of sockets) socket.destroy();
}

function exchange(
  url: string,
  options: {
    readonly method: string;
    readonly agent: Agent;
    readonly localAddress: string;
    readonly headers?: Record<string, string>;
  },
  body?: string,
): Promise<{ readonly status: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      answer
        .resume()
        .on('end', () => resolve({ status: answer.statusCode ?? 0 }))
        .on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
