import { spawnSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import type { Attack } from '../test/attacks/attack.ts';
import { type Child, isPinning, PEER_CORE, startChild } from './child.ts';
import type { AttackerInput } from './servers/attacker.ts';
import { say } from './table.ts';

type Start = (env: Readonly<Record<string, string>>) => Promise<Child>;
type Worst = readonly [name: string, input: Pick<AttackerInput, 'way' | 'request'> | null];

const CONNECTIONS = 50;
const PAUSE_MS = 60;
/** Longest 99th percentile of a bystander, ms. */
const MOST_P99_MS = 60;
/** The attacker and the bystander are two addresses of this machine. */
const ATTACKER = '127.0.0.2';
const BYSTANDER = '127.0.0.1';
const PATH = '/v1/tvl';
const NO_REQUEST = { path: PATH, method: 'GET', headers: {} };

/**
 * Request `/v1/tvl` from one address while another one attacks with the default limits, in a separate process. The
 * first row is without an attacker and includes the other load of the machine.
 */
export async function bystanding(start: Start, corpus: readonly Attack[], seconds: number): Promise<void> {
  if (isPinning) spawnSync('taskset', ['-acp', String(PEER_CORE), String(process.pid)]);
  const worst: readonly Worst[] = [
    ['no attacker', null],
    ...corpus.map((attack): Worst => [attack.name, { way: 'flood', request: requestOf(attack) }]),
    ['connections that do not read', { way: 'unread', request: NO_REQUEST }],
    ['connections that never finish a request', { way: 'open', request: NO_REQUEST }],
  ];
  say(
    '\n| attack | requests | failed | median, ms | p99, ms | longest, ms | CPU of the service | statuses of the attacker | memory, MB | alive |\n|---|--:|--:|--:|--:|--:|--:|---|--:|---|',
  );
  for (const [name, input] of worst) await row(start, name, input, seconds);
}

async function row(start: Start, name: string, input: Worst[1], seconds: number): Promise<void> {
  const service = await start({});
  const before = await service.cost();
  const attacker =
    input === null
      ? undefined
      : await startChild(
          'attacker',
          { ...input, url: service.url, localAddress: ATTACKER, connections: CONNECTIONS } satisfies AttackerInput,
          [],
          true,
        );
  const { times, failed } = await ask(service.url, seconds);
  const { cpuUs } = await service.cost();
  const reported = attacker === undefined ? undefined : await attacker.cost();
  await attacker?.stop();
  const alive = await fetch(`${service.url}/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );
  const rss = alive ? Math.round((await service.cost()).peakRssBytes / 2 ** 20) : 0;
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
  const statuses = Object.entries(reported?.statuses ?? {}).map(([status, count]) => `${status}: ${count}`);
  const busy = Math.round(((cpuUs - before.cpuUs) / 1e6 / seconds) * 100);
  say(
    `| ${name} | ${times.length} | ${failed} | ${at(0.5)} | ${at(0.99)} | ${at(1)} | ${busy} % | ${statuses.join(', ')} | ${rss} | ${alive ? 'yes' : 'no'} |`,
  );
  if (Number(at(0.99)) > MOST_P99_MS) {
    say(`FAILED: beside "${name}" the 99th percentile is above ${MOST_P99_MS} ms`);
    process.exitCode = 1;
  }
  await service.stop();
}

async function ask(url: string, seconds: number): Promise<{ readonly times: number[]; readonly failed: number }> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  let failed = 0;
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    await once(`${url}${PATH}`, agent).then(
      (ms) => times.push(ms),
      () => {
        failed += 1;
      },
    );
    // The bystander has a budget as well.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  agent.destroy();
  return { times, failed };
}

function once(url: string, agent: Agent): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, localAddress: BYSTANDER }, (answer) => {
      answer
        .resume()
        .on('end', () => {
          if (answer.statusCode === 200) resolve(performance.now() - startedMs);
          else reject(new Error(`the bystander got ${answer.statusCode}`));
        })
        .on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

function requestOf({ path = '/graphql', init }: Attack): AttackerInput['request'] {
  return {
    path,
    method: init.method ?? 'GET',
    headers: { ...(init.headers as Record<string, string> | undefined) },
    body: typeof init.body === 'string' ? init.body : undefined,
  };
}
