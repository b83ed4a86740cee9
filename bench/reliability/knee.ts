import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { startLab } from './environment.ts';

/*
 * Find the rate above which one process on a starved core has no good answers: `npx tsx bench/reliability/knee.ts [busy loops]
 * [seconds per rate]`. The process shares its core with busy loops. Each rate is sent as documents that no cache has, beside a
 * cached row and /health, and after it a calm second shows whether the process has recovered.
 */
const [loops = 10, seconds = 10] = process.argv.slice(2).map(Number);
const RATES = [5, 10, 20, 40, 80, 160];
const CORE = '1';
const TIMEOUT_MS = 30_000;

interface Seen {
  readonly status: number | 'timeout';
  readonly ms: number;
}

const lab = await startLab();
const busy: ChildProcess[] = [];
try {
  const service = await lab.spawn({ RATE_LIMIT_ANONYMOUS: '0' });
  while ((await fetch(`${service.url}/ready`)).status !== 200) await pause(200);
  execFileSync('taskset', ['-acp', CORE, String(service.child.pid)]);
  for (let n = 0; n < loops; n += 1) busy.push(spawn('taskset', ['-c', CORE, process.execPath, '-e', 'for (;;);']));
  let documents = 0;
  const send = async (path: string, query?: string): Promise<Seen> => {
    const startedMs = performance.now();
    const asked = { signal: AbortSignal.timeout(TIMEOUT_MS) };
    const body = query === undefined ? {} : { method: 'POST', body: JSON.stringify({ query }) };
    const headers = { 'content-type': 'application/json' };
    const status = await fetch(`${service.url}${path}`, { ...asked, ...body, headers }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 'timeout' as const,
    );
    return { status, ms: performance.now() - startedMs };
  };
  const work = () => {
    documents += 1;
    return send('/graphql', `{ strategies(first: 20) { nodes { id a${documents}: defaultApyPct liquidityUsd } } }`);
  };
  const during = async (perSecond: number, ask: () => Promise<Seen>): Promise<readonly Seen[]> => {
    const sent: Promise<Seen>[] = [];
    for (let n = 0; n < perSecond * seconds; n += 1) {
      sent.push(ask());
      await pause(1_000 / perSecond);
    }
    return Promise.all(sent);
  };
  process.stdout.write(
    '| documents/s | answers | median / p99 of 200 | cached row | /health | a second later |\n|---|---|---|---|---|---|\n',
  );
  for (const rate of RATES) {
    const [documentsSeen, rows, health] = await Promise.all([
      during(rate, work),
      during(2, () => send('/v1/strategies')),
      during(1, () => send('/health')),
    ]);
    await pause(1_000);
    const after = await work();
    const cells = [
      rate,
      counted(documentsSeen),
      times(documentsSeen),
      `${counted(rows)}, ${times(rows)}`,
      `${counted(health)}, ${times(health)}`,
      `${after.status} in ${after.ms.toFixed(0)} ms`,
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
} finally {
  for (const loop of busy) loop.kill('SIGKILL');
  await lab.stop();
}

function counted(seen: readonly Seen[]): string {
  const counts = new Map<string, number>();
  for (const { status } of seen) counts.set(String(status), (counts.get(String(status)) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}

function times(seen: readonly Seen[]): string {
  const good = seen.flatMap(({ status, ms }) => (status === 200 ? [ms] : [])).sort((a, b) => a - b);
  const at = (share: number) => good[Math.min(good.length - 1, Math.floor(good.length * share))]?.toFixed(0) ?? '–';
  return `${at(0.5)} / ${at(0.99)} ms`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
