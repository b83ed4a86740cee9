import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalChains, startChains } from '../../devnet/chain/index.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { createChainReader } from '../../src/chain/reader.ts';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemoryLease } from '../../src/snapshot/lease.ts';
import { createMemorySnapshot } from '../../src/snapshot/memory.ts';
import { createWarmerRunner, createWarmers, type RunEvent } from '../../src/warmers/index.ts';
import { fixedNode } from '../chain/fixed-node.ts';
import { adaptersOf, NOW, startTestUpstreams, type TestUpstreams } from '../devnet/upstreams-support.ts';
import { fakeTime } from './fake-time.ts';

/** Every warmer over the real adapters, the real chain reader and the local world: nothing is scripted. */
const catalog = createCatalog(curatedChains, createOverlay(NOW));
let chains: LocalChains;
let up: TestUpstreams;

beforeAll(async () => {
  chains = await startChains({ chains: catalog.chains, mining: 'auto', clock: { now: () => NOW } });
  up = await startTestUpstreams({ catalog, rpcUrls: chains.rpcUrls });
});
afterAll(async () => {
  await up?.stop();
  await chains?.stop();
});

describe('the first round in the local world', () => {
  test('behavior: every warmer succeeds, and only groups without a source are empty', async () => {
    const time = fakeTime(NOW);
    const upstreams = adaptersOf(up, time.clock);
    const snapshot = createMemorySnapshot({ clock: time.clock, logger: silentLogger });
    const events: RunEvent[] = [];
    const runner = createWarmerRunner({
      warmers: createWarmers({
        catalog,
        chainReaders: new Map(
          catalog.chains.map((chain) => {
            const { chainId } = chain;
            const nodes = fixedNode({ chainId, rpcUrl: chains.on(chainId).rpcUrl, clock: time.clock });
            return [chainId, createChainReader({ nodes, chain, clock: time.clock })];
          }),
        ),
        upstreams,
        snapshot,
        clock: time.clock,
        logger: silentLogger,
        recordCampaigns: async () => {},
        readCampaigns: async () => new Map(),
        recordApys: async () => {},
        readApys: async () => [],
        recordSamples: async () => {},
        recordMarkets: async () => {},
        recordTvl: async () => {},
        readBorrowHistory: async () => [],
        readPositions: async () => ({ positions: [], asOfMs: time.clock.now(), unreadable: 0 }),
      }),
      clock: time.clock,
      timers: time.timers,
      logger: silentLogger,
      lease: createMemoryLease(),
      random: () => 0,
      onRun: (event) => events.push(event),
    });
    await runner.start();
    await runner.stop();

    const failures = catalog.chains.flatMap(({ chainId }) =>
      FACT_GROUPS.flatMap((group) =>
        [...snapshot.facts(chainId).groups[group].failures].map(
          ([key, { reason, source }]) => `${chainId} ${group} ${key} ${source} ${reason}`,
        ),
      ),
    );
    expect(failures.filter((failure) => !failure.endsWith('not_configured'))).toEqual([]);
    expect(events.filter(({ ok }) => !ok)).toEqual([]);
    for (const chain of catalog.chains) {
      const { groups } = snapshot.facts(chain.chainId);
      for (const { id, oracle, collateral } of chain.markets) {
        expect([groups.lendingState.items.has(id), groups.oracle.items.has(oracle)]).toEqual([true, true]);
        const matured = (collateral.maturity ?? Number.POSITIVE_INFINITY) * 1_000 <= NOW;
        expect(groups.collateralApy.items.has(collateral.address)).toBe(collateral.apySource !== 'none' && !matured);
      }
    }
  });
});
