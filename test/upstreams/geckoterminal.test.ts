import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { createGeckoterminal } from '../../src/upstreams/geckoterminal/client.ts';
import { type FakeProvider, startFakeProvider } from './support/server.ts';
import { at, change, ethereum, fixture, type Json, NOW_MS, type TestDeps, testDeps, token } from './support/world.ts';

let provider: FakeProvider;
let deps: TestDeps;
beforeEach(async () => {
  provider = await startFakeProvider();
  deps = testDeps(provider.url);
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});

const weth = token('WETH').address;
const pools = fixture('geckoterminal-pools');
const reserve = (i: number) => ['data', i, 'attributes', 'reserve_in_usd'] as const;
const path = `GET /networks/eth/tokens/${weth.toLowerCase()}/pools`;
const deepest = () => createGeckoterminal(deps).deepestPool(ethereum, weth);

describe('deepestPool', () => {
  it.each(['0.0', '0', 0, null])('behavior: pools with the reserve %j are no pools', async (value) => {
    const count = (at(pools, ['data']) as Json[]).length;
    const emptied = Array.from({ length: count }, (_, i) => i).reduce(
      (json, i) => change(json, reserve(i), value),
      pools,
    );
    provider.respond({ [path]: emptied });
    expect(await deepest()).toBeNull();
  });

  it('error: UpstreamError `malformed` when a pool that cannot be read may be the one', async () => {
    const [first] = at(pools, ['data']) as [Json];
    const data = [change(first, ['attributes', 'reserve_in_usd'], null), { id: 'eth_0x' }];
    provider.respond({ [path]: { data } });
    await expect(deepest()).rejects.toMatchObject({ reason: 'malformed' });
  });

  it('behavior: 404 in the form of the provider means no pool; any other 404 is no fact', async () => {
    provider.respond({ [path]: pools });
    provider.fault({ status: 404, body: { errors: [{ status: '404' }] } });
    expect(await deepest()).toBeNull();
    for (const other of [
      { headers: { 'content-type': 'text/html' } },
      { body: { message: 'no Route matched with those values' } },
      { body: {} },
      { body: { errors: [{ status: '401' }] } },
    ]) {
      provider.fault({ status: 404, ...other });
      await expect(deepest()).rejects.toMatchObject({ reason: 'rejected' });
    }
  });
});

describe('candles', () => {
  const pool = { address: `0x${'12'.repeat(20)}`, name: 'A / B', dex: 'x', side: 'base' } as const;
  const marks = async (reserveUsd: number, rows: readonly (readonly number[])[]) => {
    const newest = NOW_MS / 1_000 - 3_600;
    const list = rows.map((row, i) => [newest - i * 3_600, ...row]);
    provider.respond({
      [`GET /networks/eth/pools/${pool.address}/ohlcv/hour`]: { data: { attributes: { ohlcv_list: list } } },
    });
    const query = { timeframe: 'hour', aggregate: 1, limit: 100 } as const;
    const { candles } = await createGeckoterminal(deps).candles(
      ethereum,
      { ...pool, reserveUsd: new Decimal(reserveUsd) },
      query,
    );
    return candles.toReversed().map(({ c, v, isUnbacked }) => [c, v, isUnbacked]);
  };

  it('behavior: a move on dust and the flat hours after it are marked, with their raw values', async () => {
    const rows = [
      [900, 900, 900, 900, 0],
      [761, 900, 760.5, 900, 180.2],
      [760, 762, 759, 761, 51_234.2],
    ];
    expect(await marks(8_500_000, rows)).toEqual([
      [900, 0, true],
      [900, 180.2, true],
      [761, 51_234.2, false],
    ]);
  });

  it.each([
    ['a volume of 0.01 % of the reserve', [100, 100, 100, 100, 100], false],
    ['a smaller volume', [100, 100, 100, 100, 99], true],
    ['a move of 10 % on a tenth of a percent of the reserve', [100, 110, 100, 110, 1_001], false],
    ['a move of 10 % on less', [100, 110, 100, 110, 999], true],
    ['a fall of a half on one percent of the reserve', [100, 100, 50, 50, 10_000], false],
    ['a spike within the candle on less', [100, 200, 100, 100, 9_999], true],
  ])('behavior: %s', async (_name, row, expected) => {
    expect((await marks(1_000_000, [row]))[0]?.[2]).toBe(expected);
  });

  it('behavior: a gap to the close before is a move as well, and a jump that volume follows is backed', async () => {
    const rows = [
      [120, 121, 119, 120, 50_000],
      [120, 120, 120, 120, 150],
      [100, 101, 99, 100, 50_000],
    ];
    expect((await marks(1_000_000, rows)).map(([, , isUnbacked]) => isUnbacked)).toEqual([false, true, false]);
  });
});
