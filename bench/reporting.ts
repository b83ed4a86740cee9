import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../devnet/postgres.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { OPS_KEY } from '../test/http/test-gateway.ts';
import { type Child, type Cost, serviceFlags, startChild } from './child.ts';
import type { OpsInput, OpsLoad, OpsResult } from './servers/ops.ts';
import { say } from './table.ts';

const PATH = '/v1/ops/portfolios?chainId=4663';
const MB = 2 ** 20;
const ms = (value: number) => `${value.toFixed(0)} ms`;
const mb = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`;

/** Measure the report of all portfolios at several numbers of wallets: its computation and its sending. */
export async function reporting(sizes: readonly number[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-bench-'));
  const server = await startPostgres({ dataDir: folder, logger: silentLogger });
  const results: OpsResult[] = [];
  try {
    say('\n| positions | body sent as | size | took | longest event-loop delay | heap on top of the report | CPU |');
    say('|--:|---|--:|--:|--:|--:|--:|');
    for (const wallets of sizes) {
      const input: OpsInput = { wallets, databaseUrl: await server.createDatabase(`bench_${wallets}`) };
      const child = await startChild('ops', input, ['--expose-gc', '--max-old-space-size=4096', ...serviceFlags]);
      const result = child.report.result as OpsResult;
      results.push(result);
      const { heapBytes } = await loadOf(child);
      for (const encoding of ['identity', 'gzip', 'br']) {
        const sent = await readReport(child, encoding);
        say(
          `| ${result.positions} | ${encoding} | ${mb(sent.bytes)} | ${ms(sent.tookMs)} | ${ms(sent.delayMs)} ` +
            `| ${mb(sent.peakHeapBytes - heapBytes)} | ${ms(sent.cpuMs)} |`,
        );
      }
      await child.stop();
    }
  } finally {
    reportTable(results);
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function reportTable(results: readonly OpsResult[]): void {
  say(
    '\n| positions | first report | next report | longest event-loop delay | RPC requests | SQL statements | heap of the report | first query, next | sums |',
  );
  say('|--:|--:|--:|--:|--:|--:|--:|--:|--:|');
  for (const row of results) {
    say(
      `| ${row.positions} | ${ms(row.firstMs)} | ${ms(row.againMs)} | ${ms(row.delayMs)} | ${row.rpcRequests} | ${row.sqlStatements} ` +
        `| ${mb(row.reportBytes)} | ${ms(row.firstQueryMs)}, ${ms(row.queryMs)} | ${ms(row.sumMs)} |`,
    );
  }
}

/** Read the whole body without decoding it. */
async function readReport(child: Child, encoding: string) {
  const before = await loadOf(child);
  const startedMs = performance.now();
  const bytes = await new Promise<number>((resolve, reject) => {
    const headers = { ...OPS_KEY, 'accept-encoding': encoding };
    get(`${child.url}${PATH}`, { headers }, (response) => {
      let sum = 0;
      response.on('data', (chunk: Buffer) => {
        sum += chunk.length;
      });
      response.once('end', () => resolve(sum));
      response.once('error', reject);
    }).once('error', reject);
  });
  const tookMs = performance.now() - startedMs;
  const { cpuUs, delayMs, peakHeapBytes } = await loadOf(child);
  return { bytes, tookMs, cpuMs: (cpuUs - before.cpuUs) / 1_000, delayMs, peakHeapBytes };
}

async function loadOf(child: Child): Promise<Cost & OpsLoad> {
  return (await child.cost()) as Cost & OpsLoad;
}
