import { Agent, request } from 'node:http';
import { withoutUndefined } from '../src/shared/without-undefined.ts';
import { startChild } from './child.ts';
import { type Measured, measure, median, type Shot } from './load.ts';
import { initOf, type PartnerRow, rowsOf } from './partner-rows.ts';
import type { PartnerWorld } from './partner-world.ts';
import { say } from './table.ts';

const SINGLE = 200;
/** Registered wallets, as in the title of the row of portfolios. */
const REGISTERED = 1_000;
/** Some of these answers take ten milliseconds: more connections would only wait for each other. */
const CONNECTIONS = 4;

/** Measure answers that are never cached, with stubs of zero latency for all other systems. */
export async function partnering({ rounds, shotMs }: { readonly rounds: number; readonly shotMs: number }) {
  const child = await startChild('partner', { registered: REGISTERED });
  try {
    const rows = rowsOf(child.report.world as PartnerWorld);
    for (const { title, shot } of rows) {
      const text = await (await fetch(child.url + shot.path, initOf(shot))).text();
      if (text.includes('"errors":') || text.includes('"error":')) throw new Error(`${title}: ${text.slice(0, 500)}`);
    }
    const all = new Map<PartnerRow, { loads: Measured[]; singlesMs: number[] }>();
    for (let round = 0; round <= rounds; round += 1) {
      for (const row of rows) {
        const of = all.get(row) ?? { loads: [], singlesMs: [] };
        all.set(row, of);
        const load = await measure(child, row.shot, shotMs, CONNECTIONS);
        if (round === 0) continue;
        of.loads.push(load);
        of.singlesMs.push(...(await oneByOne(child.url, row.shot)));
      }
    }
    say('\n| row | one at a time, median | CPU per request | requests/s | sequential network steps |');
    say('|---|--:|--:|--:|--:|');
    for (const [{ title, steps }, { loads, singlesMs }] of all) {
      const { cpuUs, perSec } = median(loads);
      const single = singlesMs.sort((a, b) => a - b)[Math.floor(singlesMs.length / 2)] ?? Number.NaN;
      say(
        `| ${title} | ${single.toFixed(2)} ms | ${(cpuUs / 1_000).toFixed(2)} ms | ${Math.round(perSec)} | ${steps ?? ''} |`,
      );
    }
  } finally {
    await child.stop();
  }
}

/** Send some hundred requests over one connection, one after the other; ms each. */
async function oneByOne(url: string, { path, method = 'GET', headers = {}, body }: Shot): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const took: number[] = [];
  for (let n = 0; n < SINGLE; n += 1) {
    const since = performance.now();
    await new Promise<void>((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        { agent, method, headers: withoutUndefined({ ...headers, 'content-type': body && 'application/json' }) },
        (response) => response.resume().on('end', resolve).on('error', reject),
      );
      sent.on('error', reject).end(body?.());
    });
    took.push(performance.now() - since);
  }
  agent.destroy();
  return took;
}
