import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FAULT_KINDS, type Fault, type Provider } from '../../devnet/upstreams/index.ts';
import { reportSchema } from '../../doctor/core/report.ts';
import { renderTable } from '../../doctor/core/table.ts';
import { complaints, type DoctorWorld, startDoctorWorld } from './world.ts';

interface Planted {
  readonly at: Provider;
  /** Only requests whose path and query contain it. */
  readonly path?: string;
  readonly fault: Fault;
  readonly named: string;
}

let doctor: DoctorWorld;
beforeAll(async () => {
  doctor = await startDoctorWorld();
});
beforeEach(() => Promise.all([1, 4663].map((chainId) => doctor.world.chains.on(chainId).mine())));
afterEach(() => doctor.world.upstreams.faults.clear());
afterAll(() => doctor?.stop());

describe('runDoctor', () => {
  it('default: reports the local world as in order', async () => {
    const report = reportSchema.parse(await doctor.examine());
    expect(complaints(report)).toEqual([]);
    expect(report).toMatchObject({ version: 1, status: 'ok', exitCode: 0 });
    expect(new Set(report.lines.map(({ area }) => area))).toEqual(
      new Set(['settings', 'postgres', 'redis', 'clocks', 'nodes', 'catalog', 'providers']),
    );
    expect(renderTable(report)).toContain('Everything is in order.');
  });

  /** Faults of the control endpoint: each kind once, at a provider where the doctor can notice it. */
  const ROUNDS: readonly { readonly round: number; readonly faults: readonly Planted[] }[] = [
    {
      round: 1,
      faults: [
        {
          at: 'merkl',
          path: 'MORPHOBORROW&chainId=1&',
          fault: { kind: 'latency', ms: 2_100 },
          named: 'warning providers MERKL_URL [speed]',
        },
        {
          at: 'pendle',
          fault: { kind: 'status', status: 500 },
          named: 'failure providers PENDLE_URL implied apys [answer]',
        },
        { at: 'geckoterminal', fault: { kind: 'rateLimited' }, named: 'warning providers GECKOTERMINAL_URL [quota]' },
        { at: 'royco', fault: { kind: 'unauthorized' }, named: 'failure providers ROYCO_URL vault yields [answer]' },
        {
          at: 'defillama-yields',
          fault: { kind: 'malformed' },
          named: 'failure providers DEFILLAMA_YIELDS_URL pool yields [answer]',
        },
        { at: 'stablewatch', fault: { kind: 'html' }, named: 'failure providers STABLEWATCH_URL pools [answer]' },
        { at: 'coingecko', fault: { kind: 'partial' }, named: 'warning providers COINGECKO_URL prices [items]' },
        {
          at: 'kyberswap',
          fault: { kind: 'missingField' },
          named: 'failure providers KYBERSWAP_URL route on chain 1 [answer]',
        },
        {
          at: 'morpho',
          fault: { kind: 'empty' },
          named: 'failure providers MORPHO_API_URL borrow history on chain 1 [items]',
        },
        {
          at: 'openocean',
          fault: { kind: 'absurd' },
          named: 'failure providers OPENOCEAN_URL quote on chain 1 [answer]',
        },
        {
          at: 'defillama-coins',
          fault: { kind: 'nan' },
          named: 'failure providers DEFILLAMA_COINS_URL prices [items]',
        },
      ],
    },
    {
      round: 2,
      faults: [
        {
          at: 'defillama-yields',
          fault: { kind: 'duplicate' },
          named: 'warning providers DEFILLAMA_YIELDS_URL pool yields [rows]',
        },
        { at: 'stablewatch', fault: { kind: 'future' }, named: 'warning providers STABLEWATCH_URL pools [dates]' },
        { at: 'royco', fault: { kind: 'frozen' }, named: 'warning providers ROYCO_URL vault yields [dates]' },
        { at: 'pendle', fault: { kind: 'reset' }, named: 'failure providers PENDLE_URL implied apys [answer]' },
        {
          at: 'morpho',
          fault: { kind: 'slowDrip' },
          named: 'failure providers MORPHO_API_URL borrow history on chain 1 [answer]',
        },
        {
          at: 'kyberswap',
          path: '/robinhood',
          fault: { kind: 'hang' },
          named: 'failure providers KYBERSWAP_URL quote on chain 4663 [answer]',
        },
        { at: 'coingecko', fault: { kind: 'scaled' }, named: 'failure providers COINGECKO_URL prices [units]' },
        {
          at: 'kyberswap',
          path: '/ethereum/api/v1/routes',
          fault: { kind: 'scaled' },
          named: 'failure providers KYBERSWAP_URL route on chain 1 [units]',
        },
        {
          at: 'merkl',
          fault: { kind: 'scaled', factor: 0.01 },
          named: 'failure providers MERKL_URL campaigns on chain 1 [units]',
        },
      ],
    },
    {
      round: 3,
      faults: [
        {
          at: 'pendle',
          fault: { kind: 'answer', status: 403, body: { message: 'forbidden' } },
          named: 'failure providers PENDLE_URL implied apys [answer]',
        },
        {
          at: 'merkl',
          fault: { kind: 'fields', set: { apr: 'absurd' } },
          named: 'warning providers MERKL_URL campaigns on chain 1 [rows]',
        },
      ],
    },
  ];

  it('behavior: covers every fault of the control endpoint', () => {
    const planted = new Set(ROUNDS.flatMap(({ faults }) => faults.map(({ fault }) => fault.kind)));
    expect(FAULT_KINDS.filter((kind) => !planted.has(kind))).toEqual([]);
  });

  it.each(ROUNDS)('behavior: names faults of providers (round $round)', async ({ faults }) => {
    for (const { at, fault, path } of faults) {
      doctor.world.upstreams.faults.set(at, fault, path === undefined ? {} : { path });
    }
    const report = await doctor.examine({ UPSTREAM_TIMEOUT_MS: '4000' }, { stopwatch: () => performance.now() });
    expect(complaints(report)).toEqual(expect.arrayContaining(faults.map(({ named }) => named)));
    expect(report.exitCode).toBe(1);
  });
});
