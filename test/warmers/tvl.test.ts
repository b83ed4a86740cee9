import { describe, expect, test } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import { TVL_KEY } from '../../src/domain/facts.ts';
import type { TvlPosition } from '../../src/domain/tvl/types.ts';
import { createTvl } from '../../src/services/tvl.ts';
import type { Address } from '../../src/shared/ids.ts';
import { catalog, ethereum, fails, NOW_MS, readingAt, type World, world } from './world.ts';

const [market] = ethereum.markets;
if (!market) throw new Error('no market');
const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
/** Worth 200 loan tokens less 90: the oracle price is one, with 1e6 shares per base unit. */
const position = (n: number, over: Partial<TvlPosition> = {}): TvlPosition => ({
  wallet: wallet(n),
  marketId: market.id,
  collateral: 200n * 10n ** BigInt(market.collateral.decimals),
  borrowShares: 90n * 10n ** 12n,
  open: true,
  ...over,
});

async function warmed(): Promise<World> {
  const w = world();
  await w.run('lending-state:1');
  await w.run('prices');
  return w;
}
const tvlOf = (w: World, chainId = 1) => w.facts(chainId).groups.tvl.items.get(TVL_KEY)?.value;

describe('tvl', () => {
  test('default', async () => {
    const w = await warmed();
    w.positions = new Map([[1, [position(1), position(1), position(2), position(3, { open: false })]]]);
    expect(await w.run('tvl:1')).toEqual({ items: 1, failures: 0, retryable: 0 });
    expect(tvlOf(w)).toMatchObject({ chainId: 1, positions: 3, users: 2, asOfMs: NOW_MS, unreadableWallets: 0 });
    expect(tvlOf(w)?.grossTvlUsd.toFixed(2)).toBe('600.00');
    expect(tvlOf(w)?.borrowedUsd.toFixed(2)).toBe('270.00');
    expect(tvlOf(w)?.tvlUsd.toFixed(2)).toBe('330.00');
  });

  test('behavior: a chain without positions is computed as zero', async () => {
    const w = await warmed();
    await w.run('tvl:1');
    expect(tvlOf(w)).toMatchObject({ positions: 0, users: 0 });
  });

  test('behavior: has the age of its oldest input', async () => {
    const w = await warmed();
    w.positions = new Map([[1, [position(1)]]]);
    await w.time.advance(200_000);
    await w.run('tvl:1');
    expect(tvlOf(w)?.asOfMs).toBe(NOW_MS);
    expect(w.facts().groups.tvl.items.get(TVL_KEY)?.asOfMs).toBe(NOW_MS + 200_000);
  });

  test('behavior: a failing yield source does not affect the TVL', async () => {
    const w = world();
    w.ports.aggregator.apys = fails('server_error');
    await w.run('lending-state:1');
    await w.run('prices');
    w.positions = new Map([[1, ethereum.markets.map((each) => position(1, { marketId: each.id, borrowShares: 0n }))]]);
    await w.run('tvl:1');
    expect(tvlOf(w)).toMatchObject({ positions: ethereum.markets.length });
  });

  test('behavior: keeps the last value with its age when the chain fails', async () => {
    const w = await warmed();
    w.positions = new Map([[1, [position(1)]]]);
    await w.run('tvl:1');
    w.positions = new ChainReadError('timeout');
    await w.time.advance(60_000);
    await expect(w.run('tvl:1')).rejects.toBeInstanceOf(ChainReadError);
    const { items, failures } = w.facts().groups.tvl;
    expect(items.get(TVL_KEY)).toMatchObject({ asOfMs: NOW_MS, value: { positions: 1 } });
    expect(failures.get(TVL_KEY)).toMatchObject({ reason: 'timeout', source: 'chain' });
  });

  test('behavior: publishes no sum while a market cannot be valued', async () => {
    const w = world();
    await w.run('lending-state:1');
    w.positions = new Map([[1, [position(1)]]]);
    expect(await w.run('tvl:1')).toEqual({ items: 0, failures: 1, retryable: 1 });
    expect(tvlOf(w)).toBeUndefined();
    expect(w.logs).toContain('tvl cannot be computed');
    await w.run('prices');
    await w.run('tvl:1');
    expect(tvlOf(w)).toMatchObject({ positions: 1 });
  });

  test('behavior: sums and names a jumping oracle, and logs the jump and the return once each', async () => {
    const w = await warmed();
    w.positions = new Map([[1, [position(1)]]]);
    const tvl = w.warmers.find(({ name }) => name === 'tvl:1');
    const far = 'oracles in the tvl are far from their references';
    const near = 'oracles in the tvl are near their references again';
    const at = async (percent: bigint) => {
      await w.time.advance(60_000);
      const reader = w.readers.get(1);
      if (!reader) throw new Error('a reader expected');
      const sound = readingAt(ethereum, 200n + percent, w.time.clock.now());
      const prices = [...sound.oracle.values].map(([oracle, value]): [typeof oracle, typeof value] => [
        oracle,
        oracle === market.oracle ? { ...value, price: (value.price * percent) / 100n } : value,
      ]);
      reader.readLendingState = async () => ({ ...sound, oracle: { ...sound.oracle, values: new Map(prices) } });
      await w.run('lending-state:1');
      await tvl?.run(new AbortController().signal, 'all');
      return tvlOf(w)?.oracleDivergences?.map(({ marketId, divergencePct }) => [marketId, divergencePct.toFixed(0)]);
    };
    expect(await at(100n)).toEqual([]);
    expect([await at(55n), await at(56n)]).toEqual([[[market.id, '-45']], [[market.id, '-44']]]);
    expect(await at(101n)).toEqual([]);
    expect(w.logs.filter((line) => line === far || line === near)).toEqual([far, near]);
  });

  test('behavior: ignores an older block', async () => {
    const w = await warmed();
    w.positions = new Map([[1, [position(1)]]]);
    await w.run('tvl:1');
    w.positionsLagMs = 30_000;
    w.positions = new Map([[1, []]]);
    await w.run('tvl:1');
    expect(tvlOf(w)).toMatchObject({ positions: 1 });
  });
});

describe('createTvl', () => {
  test('default: computed chains only; a wallet on both is one user; the same object until one changes', async () => {
    const w = await warmed();
    const tvl = createTvl({ catalog, snapshot: w.snapshot });
    expect(tvl()).toBeNull();
    w.positions = new Map([[1, [position(1), position(2)]]]);
    await w.run('tvl:1');
    expect(tvl()?.chains.map(({ chainId }) => chainId)).toEqual([1]);
    const [other] = catalog.chain(4663)?.markets ?? [];
    if (!other) throw new Error('no market');
    await w.run('lending-state:4663');
    await w.run('prices');
    w.positions = new Map([[4663, [position(2, { marketId: other.id })]]]);
    await w.run('tvl:4663');
    const both = tvl();
    expect(both).toMatchObject({ total: { positions: 3, users: 2 }, chains: [{ chainId: 1 }, { chainId: 4663 }] });
    const sum = both?.chains.reduce((total, chain) => total.plus(chain.tvlUsd), both.total.tvlUsd.times(0));
    expect(sum?.eq(both?.total.tvlUsd ?? 'NaN')).toBe(true);
    expect(tvl()).toBe(both);
  });
});
