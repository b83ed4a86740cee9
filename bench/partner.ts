import { Agent, request } from 'node:http';
import { OPS_KEY, PARTNER_KEY } from '../test/http/front.ts';
import { startChild } from './child.ts';
import { type Measured, measure, median, type Shot } from './load.ts';
import { PORTFOLIOS, WALLETS } from './partner-queries.ts';
import type { PartnerWorld } from './servers/partner.ts';
import { say } from './table.ts';

const BUILD_PATH = '/v1/partner/leverage/build';
const SINGLE = 200;
/** Some of these answers take ten milliseconds: more connections would only wait for each other. */
const CONNECTIONS = 4;

interface PartnerRow {
  readonly title: string;
  readonly shot: Shot;
  /** Sequential network steps. */
  readonly steps?: number;
}

function rowsOf({ strategyId, loan, collateral, wallets, ...steps }: PartnerWorld): readonly PartnerRow[] {
  const post = (path: string, body: object, headers: Readonly<Record<string, string>>): Shot => {
    const text = JSON.stringify(body);
    return { path, method: 'POST', headers, body: () => text };
  };
  const build = (payToken: string) =>
    post(
      BUILD_PATH,
      { chainId: 1, strategyId, payToken, amount: '1000', leverage: 2, userAddress: wallets[0] },
      PARTNER_KEY,
    );
  return [
    { title: 'build of an open, one swap', shot: build(collateral), steps: steps.stepsOneSwap },
    { title: 'build of an open, two swaps', shot: build(loan), steps: steps.stepsTwoSwaps },
    {
      title: 'positions of one wallet, REST',
      shot: { path: `/v1/partner/positions/${wallets[1]}`, headers: PARTNER_KEY },
    },
    {
      title: 'positions of 100 wallets (500 positions), GraphQL',
      shot: post('/graphql', { query: WALLETS, variables: { addresses: wallets } }, PARTNER_KEY),
    },
    { title: 'page of 50 portfolios of 1,000, GraphQL', shot: post('/graphql', { query: PORTFOLIOS }, OPS_KEY) },
  ];
}

/** Measure what is never answered from bytes, with everything beside the service stubbed at zero latency. */
export async function partnering({ rounds, shotMs }: { readonly rounds: number; readonly shotMs: number }) {
  const child = await startChild('partner', {});
  try {
    const rows = rowsOf(child.said.world as PartnerWorld);
    for (const { title, shot } of rows) {
      const { method = 'GET', headers = {}, body } = shot;
      const json = body ? { 'content-type': 'application/json' } : {};
      const init = { method, headers: { ...headers, ...json }, ...(body ? { body: body() } : {}) };
      const text = await (await fetch(child.url + shot.path, init)).text();
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

/** Ask some hundred times over one connection, each after the answer to the one before, ms each. */
async function oneByOne(url: string, { path, method = 'GET', headers = {}, body }: Shot): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const took: number[] = [];
  for (let n = 0; n < SINGLE; n += 1) {
    const since = performance.now();
    await new Promise<void>((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        { agent, method, headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) } },
        (response) => response.resume().on('end', resolve).on('error', reject),
      );
      sent.on('error', reject).end(body?.());
    });
    took.push(performance.now() - since);
  }
  agent.destroy();
  return took;
}
