import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPublicClient, http } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../../doctor/core/report.ts';
import { renderTable } from '../../doctor/core/table.ts';
import type { Area } from '../../doctor/core/types.ts';
import { type RpcProxy, startRpcProxy } from '../support/process/rpc-proxy.ts';
import { catalogCases } from './catalog-cases.ts';
import { postgresCases } from './postgres-cases.ts';
import { redisCases } from './redis-cases.ts';
import { complaints, type DoctorWorld, type Settings, startDoctorWorld } from './world.ts';

let doctor: DoctorWorld;
let proxy: RpcProxy;
const snapshots = new Map<number, `0x${string}`>();
beforeAll(async () => {
  doctor = await startDoctorWorld({ ownChains: true });
  proxy = await startRpcProxy(doctor.world.chains.on(1).rpcUrl);
});
beforeEach(async () => {
  for (const chainId of [1, 4663]) {
    await doctor.world.chains.on(chainId).mine();
    snapshots.set(chainId, await doctor.world.chains.on(chainId).snapshot());
  }
});
afterEach(async () => {
  proxy.set({ kind: 'pass' });
  for (const [chainId, id] of snapshots) await doctor.world.chains.on(chainId).revert(id);
});
afterAll(async () => {
  await proxy?.stop();
  await doctor?.stop();
});

/** Complaints about one area. */
const of = (report: Report, area: Area) => complaints(report).filter((line) => line.split(' ')[1] === area);
const look = (settings: Settings, ...only: Area[]) => doctor.examine(settings, { only });
const examine = async (area: Area, settings: Settings = {}) => of(await look(settings, area), area);

describe('nodes', () => {
  const first = 'RPC_URL_1 #1';
  const with1 = (...urls: string[]): Settings => ({ RPC_URL_1: urls.join(',') });

  it('behavior: a node of another chain, one that refuses, and one with invalid answers', async () => {
    const { settings, world } = doctor;
    expect(await examine('nodes', { RPC_URL_1: settings.RPC_URL_4663 })).toEqual([`failure nodes ${first} [chain_id]`]);
    proxy.set({ kind: 'status', status: 429 });
    expect(await examine('nodes', with1(world.chains.on(1).rpcUrl, proxy.url))).toEqual([
      'failure nodes RPC_URL_1 #2 [answers]',
      'warning nodes RPC_URL_1 #2 [quota]',
    ]);
    proxy.set({ kind: 'hang' });
    expect(await examine('nodes', { ...with1(proxy.url), RPC_TIMEOUT_MS: '300' })).toEqual([
      `failure nodes ${first} [answers]`,
    ]);
    proxy.set({ kind: 'garbage' });
    const report = await look(with1(proxy.url), 'nodes', 'catalog');
    expect(of(report, 'nodes')).toEqual([`failure nodes ${first} [answers]`]);
    expect(of(report, 'catalog')).toEqual(['failure catalog chain 1 [reading]']);
  });

  it('behavior: one that lags, and one on a fork', async () => {
    const chain = doctor.world.chains.on(1);
    const urls = with1(chain.rpcUrl, proxy.url);
    const blockNumber = await createPublicClient({ transport: http(chain.rpcUrl) }).getBlockNumber();
    await chain.increaseTime(60);
    await chain.mine(10);
    proxy.set({ kind: 'lag', blockNumber });
    expect(await examine('nodes', urls)).toContain('warning nodes RPC_URL_1 #2 [height]');
    proxy.set({ kind: 'fork' });
    const forked = await examine('nodes', urls);
    expect(forked).toEqual(
      expect.arrayContaining(['failure nodes RPC_URL_1 #1 [fork]', 'failure nodes RPC_URL_1 #2 [fork]']),
    );
  });

  it('behavior: reports a missing capability with its effect', async () => {
    proxy.set({ kind: 'lacks', simulate: 'crashes', overrides: 'refused', batch: 1, blockHash: 'refused' });
    expect(await examine('nodes', with1(proxy.url))).toEqual([
      `failure nodes ${first} [simulation]`,
      `warning nodes ${first} [batches]`,
      `warning nodes ${first} [block_hash]`,
    ]);
  });

  it('behavior: shortens answers and prints them without control characters', async () => {
    const server = await serve();
    try {
      const report = await look(with1(`${server.url}/v2/node-key-0123456789`), 'nodes', 'catalog');
      expect(of(report, 'nodes')).toEqual([`failure nodes ${first} [answers]`]);
      const printed = `${JSON.stringify(report)}${renderTable(report)}`;
      expect(printed.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(printed).not.toContain('node-key-0123456789');
    } finally {
      await server.stop();
    }
  });

  it('behavior: bounds an endless body', async () => {
    const server = await serve((response) => {
      const more = () => {
        while (response.write('0'.repeat(1024 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    try {
      const report = await look({ ...with1(server.url), COINGECKO_URL: server.url }, 'nodes', 'providers');
      expect(of(report, 'nodes')).toEqual([`failure nodes ${first} [answers]`]);
      expect(of(report, 'providers')).toContain('failure providers COINGECKO_URL prices [answer]');
    } finally {
      await server.stop();
    }
  });
});

/** Answers everything with escape sequences, and the address that it was asked at. */
async function serve(answer?: (response: ServerResponse) => void) {
  const server: Server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (answer) answer(response);
    else response.end(`\u001b[2J\u001b[31m${request.url}\u202e${'z'.repeat(100_000)}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

const cases = { doctor: () => doctor, of, look, examine };
describe('Postgres', () => postgresCases(cases));
describe('Redis', () => redisCases(cases));
describe('catalog', () => catalogCases(cases));
