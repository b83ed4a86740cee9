import { describe, expect, it, vi } from 'vitest';
import { startAnvil } from '../../devnet/chain/anvil.ts';
import { startChains } from '../../devnet/chain/index.ts';
import { catalog, STARTED_AT } from './world.ts';

const clock = { now: () => STARTED_AT };

describe('startChains', () => {
  it('behavior: interval mode mines blocks over time', async () => {
    const chains = catalog.chains.filter(({ chainId }) => chainId === 4663);
    const running = await startChains({ chains, mining: 'interval', clock });
    const { client } = running.on(4663);
    const first = await client.getBlock();
    const later = await vi.waitUntil(
      async () => {
        const block = await client.getBlock();
        return block.number > first.number && block;
      },
      { timeout: 20_000 },
    );
    expect(later.timestamp).toBeGreaterThan(first.timestamp);
    await running.stop();
  });

  it('error: stops all chains when one cannot start', async () => {
    const blocker = await startAnvil({ chainId: 1, timestamp: 1_800_000_000, history: 16 });
    const taken = Number(new URL(blocker.rpcUrl).port);
    const free = await startAnvil({ chainId: 1, timestamp: 1_800_000_000, history: 16 });
    const other = Number(new URL(free.rpcUrl).port);
    await free.stop(); // its port is free now
    const ports = { 1: other, 4663: taken };
    await expect(startChains({ chains: catalog.chains, ports, mining: 'auto', clock })).rejects.toThrow(String(taken));
    await expect(fetch(free.rpcUrl)).rejects.toThrow();
    await blocker.stop();
  });

  it('error: refuses a chain that was not started', async () => {
    const running = await startChains({ chains: [], mining: 'auto', clock });
    expect(() => running.on(1)).toThrow();
    await running.stop();
  });
});
