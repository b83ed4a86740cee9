import type { AccrualPosition, MarketId as SdkMarketId } from '@morpho-org/blue-sdk';
import { fetchAccrualPosition } from '@morpho-org/blue-sdk-viem';
import { encodeFunctionData, erc20Abi, parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketByKey, planLeverage } from '../../../devnet/chain/seed-plans.ts';
import { marketKey } from '../../../devnet/seed/markets.ts';
import { seededWallets } from '../../../devnet/seed/wallets.ts';
import { seedRegistrations } from '../../../devnet/seed-database.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { createDatabase } from '../../../src/database/client.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Address, MarketId } from '../../../src/shared/ids.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';
import { addressOf, CHAIN_IDS, pathOf } from './paths.ts';

const DAY_SEC = 86_400;

let service: TestService;
const proxies = new Map<number, RpcProxy>();
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      for (const chainId of CHAIN_IDS) proxies.set(chainId, await startRpcProxy(world.chains.on(chainId).rpcUrl));
      return Object.fromEntries([...proxies].map(([chainId, { url }]) => [`RPC_URL_${chainId}`, url]));
    },
  });
});
afterAll(async () => {
  await service?.stop();
  for (const proxy of proxies.values()) await proxy.stop();
});
const read = async (name: string, chainId: number): Promise<Json> => {
  const { status, body } = await service.get(pathOf(addressOf(name), chainId), PARTNER);
  expect(status).toBe(200);
  return body;
};
const chain = (chainId: number) => service.world.chains.on(chainId);

/** A proxy's position by the protocol's SDK, read from the chain and accrued to the newest block. */
async function sdkPosition(chainId: number, marketId: MarketId, account: Address): Promise<AccrualPosition> {
  const { client } = chain(chainId);
  const { number: blockNumber, timestamp } = await client.getBlock();
  const position = await fetchAccrualPosition(account, marketId as string as SdkMarketId, client, {
    chainId,
    blockNumber,
  });
  return position.accrueInterest(timestamp);
}

const arrayOf = (chainId: number, user: Address) =>
  chain(chainId).client.readContract({
    address: chain(chainId).chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePositions',
    args: [user],
  });

describe.each(CHAIN_IDS)('GET /v1/partner/positions/{address} on chain %i', (chainId) => {
  const here = seededWallets
    .map((wallet) => ({ ...wallet, entries: wallet.entries.filter((entry) => entry.chainId === chainId) }))
    .map(({ name, entries, vaults }) => ({ name, entries, vaults: vaults.filter((each) => each.chainId === chainId) }));

  test.each(here)('$name has the seeded positions, newest first', async ({ name, entries, vaults }) => {
    const body = await read(name, chainId);
    expect(body).toMatchObject({ chainId, userAddress: addressOf(name) });
    expect(bodyViolation('walletPositions', body)).toBeNull();
    const owned = vaults.flatMap(({ match, yieldLoopIds }) => (match === 'basis' ? yieldLoopIds : []));
    const expected = entries.flatMap((entry, id) =>
      owned.includes(id) ? [] : [`${id} ${entry.kind === 'loop' ? entry.status : 'open'}`],
    );
    expect(body.positions.map(({ id, status }: Json) => `${id} ${status}`)).toEqual(expected.reverse());
    for (const position of body.positions) {
      const entry = entries[position.id];
      expect(position.positionId).toBe(`${chainId}-${position.strategyId}-${position.id}`);
      if (entry?.kind !== 'loop') continue;
      expect(marketKey(chain(chainId).market(position.strategyId))).toBe(entry.market);
    }
    expect(
      body.equityPositions.map(({ stock, yieldLoopMatch, yieldLoops, ambiguousYieldLoopIds }: Json) => ({
        stock: stock.symbol,
        match: yieldLoopMatch,
        yieldLoopIds: ambiguousYieldLoopIds ?? yieldLoops.map(({ id }: Json) => id).reverse(),
      })),
    ).toEqual(vaults.map(({ stock, match, yieldLoopIds }) => ({ stock, match, yieldLoopIds })));
  });

  test("every open position equals the SDK's", async () => {
    for (const { name } of here) {
      const body = await read(name, chainId);
      const proxiesOf = await arrayOf(chainId, addressOf(name));
      for (const position of [...body.positions, ...body.equityPositions.flatMap((each: Json) => each.yieldLoops)]) {
        if (!position.open) continue;
        const market = chain(chainId).market(position.strategyId);
        const sdk = await sdkPosition(chainId, market.id, proxiesOf[position.id]?.userProxy as Address);
        const whole = (units: bigint, decimals: number) => new Decimal(units.toString()).shiftedBy(-decimals);
        expect(position.amountLeveragedCollateral).toBe(whole(sdk.collateral, market.collateral.decimals).toFixed());
        expect(position.ltvPct).toBe(whole(sdk.ltv ?? 0n, 16).toFixed(2));
        const debt = whole(sdk.borrowAssets, market.loan.decimals);
        expect(debt.minus(position.amountLoan).div(debt).abs().lt('0.000000001')).toBe(true);
        const price = whole(sdk.liquidationPrice ?? 0n, 36 + market.loan.decimals - market.collateral.decimals);
        expect(price.minus(position.liquidationPrice).div(price).abs().lt('0.000000001')).toBe(true);
      }
    }
  });

  test('any number of wallets takes as many RPC requests as one', async () => {
    const proxy = proxies.get(chainId);
    const query = `query($a: [Address!]!, $c: ChainId!) {
      wallets(addresses: $a, chainIds: [$c]) { address positions { nodes { id status strategy { id: strategyId } } } equityPositions { strategyId } }
    }`;
    proxy?.taken();
    const counts: (number | undefined)[] = [];
    for (const count of [1, seededWallets.length]) {
      const a = seededWallets.slice(0, count).map(({ account }) => account.address);
      const { body } = await service.graphql(query, { a, c: chainId }, PARTNER);
      expect(body.errors).toBeUndefined();
      expect(body.data.wallets).toHaveLength(count);
      counts.push(proxy?.taken());
    }
    expect(counts).toEqual([4, 4]);
  });
});

describe('GET /v1/partner/positions/{address}', () => {
  test('a wallet without positions has empty lists; chain 1 is the default', async () => {
    const nobody = '0x000000000000000000000000000000000000dEaD';
    const { status, body } = await service.get(pathOf(nobody.toLowerCase()), OPS);
    expect(status).toBe(200);
    expect(body).toEqual({
      chainId: 1,
      userAddress: nobody,
      positions: [],
      equityPositions: [],
      leftAuthorizations: [],
    });
  });

  test('the net value of a wallet in GraphQL is the sum of what it holds', async () => {
    const query =
      'query ($address: Address!) { wallet(address: $address) { id netValueUsd positions(statuses: [OPEN]) { nodes { netValueUsd } } equityPositions { netValueUsd } } }';
    for (const [name, isVault] of [
      ['looper', false],
      ['shareholder', true],
    ] as const) {
      const { body } = await service.graphql(query, { address: addressOf(name) }, PARTNER);
      const { wallet } = body.data;
      const held: Json[] = [...wallet.positions.nodes, ...wallet.equityPositions];
      const cents = held.reduce((sum, { netValueUsd }) => sum + Math.round(Number(netValueUsd) * 100), 0);
      expect([name, wallet.equityPositions.length > 0, Math.round(Number(wallet.netValueUsd) * 100)]).toEqual([
        ...[name, isVault, cents],
      ]);
      // A wallet is named by its global id too.
      const again = await service.graphql(query, { address: wallet.id }, PARTNER);
      expect(again.body.data.wallet).toEqual(wallet);
    }
    const nobody = await service.graphql(query, { address: `0x${'d'.repeat(40)}` }, PARTNER);
    expect(nobody.body.data.wallet.netValueUsd).toBe('0.00');
  });

  test.each([
    ['not an address', '/v1/partner/positions/0x12'],
    ['an unknown chain', `/v1/partner/positions/0x${'1'.repeat(40)}?chainId=5`],
    ['a chain that is no number', `/v1/partner/positions/0x${'1'.repeat(40)}?chainId=one`],
  ])('error: 400 for %s', async (_what, path) => {
    const { status, body } = await service.get(path, PARTNER);
    expect([status, body.error.code]).toEqual([400, 'bad_request']);
  });

  test.each([
    ['no key', {}],
    ['an unknown key', { authorization: 'Bearer nobody' }],
  ])('error: 401 with %s', async (_what, headers: Record<string, string>) => {
    const { status, body } = await service.get(pathOf(addressOf('looper')), headers);
    expect([status, body.error.code]).toEqual([401, 'unauthorized']);
  });

  test('error: 503 while the chain does not answer, then recovery; the other chain still answers', async () => {
    proxies.get(1)?.set({ kind: 'status', status: 500 });
    try {
      const { status, body } = await service.get(pathOf(addressOf('looper')), PARTNER);
      expect([status, body.error.code]).toEqual([503, 'upstream_unavailable']);
      expect((await service.get(pathOf(addressOf('looper'), 4663), PARTNER)).status).toBe(200);
    } finally {
      proxies.get(1)?.set({ kind: 'pass' });
    }
    expect((await service.get(pathOf(addressOf('looper')), PARTNER)).status).toBe(200);
  });

  test('a registration decides which of two loops belongs to the vault', async () => {
    const before = await read('ambiguous', 4663);
    const [vault] = before.equityPositions;
    const db = createDatabase({
      url: service.world.overrides.env.DATABASE_URL ?? '',
      poolSize: 1,
      statementTimeoutMs: 5_000,
    });
    const loop = before.positions.find(({ id }: Json) => id === 0);
    const row = {
      wallet: addressOf('ambiguous'),
      chainId: 4663,
      marketId: loop.strategyId,
      positionIndex: 0,
      isOpen: true,
      equityVaultId: vault.strategyId,
      ...NOTHING_REGISTERED,
    };
    await seedRegistrations(db, [row]);
    const after = await read('ambiguous', 4663);
    await db.deleteFrom('position_registrations').execute();
    await db.destroy();
    expect(after.positions.map(({ id }: Json) => id)).toEqual([1]);
    expect(after.equityPositions).toMatchObject([{ yieldLoopMatch: 'tagged', yieldLoops: [{ id: 0 }] }]);
    expect(after.equityPositions[0]).toHaveProperty('netValueUsd');
  });
});

describe('GET /v1/tvl', () => {
  /** Recompute a chain from the seed table and the chain alone, with the SDK. */
  async function recomputed(chainId: number, users: readonly Address[]) {
    const { body: prices } = await service.get(`/v1/prices?chainId=${chainId}`);
    let [gross, borrowed, badDebt, positions] = [new Decimal(0), new Decimal(0), new Decimal(0), 0];
    const holders = new Set<Address>();
    for (const user of users) {
      for (const { open, marketId, userProxy } of await arrayOf(chainId, user)) {
        const market = chain(chainId).market(marketId);
        const sdk = await sdkPosition(chainId, market.id, userProxy);
        if (!open || sdk.collateral === 0n) continue;
        positions += 1;
        holders.add(user);
        const usd = (assets: bigint) =>
          new Decimal(assets.toString()).shiftedBy(-market.loan.decimals).times(prices.prices[market.loan.address]);
        gross = gross.plus(usd(sdk.collateralValue ?? 0n));
        borrowed = borrowed.plus(usd(sdk.borrowAssets));
        badDebt = badDebt.plus(Decimal.max(usd(sdk.borrowAssets - (sdk.collateralValue ?? 0n)), 0));
      }
    }
    const [grossUsd, borrowedUsd] = [gross.decimalPlaces(2), borrowed.decimalPlaces(2)];
    return {
      chainId,
      grossTvlUsd: grossUsd.toNumber(),
      borrowedUsd: borrowedUsd.toNumber(),
      badDebtUsd: badDebt.decimalPlaces(2).toNumber(),
      tvlUsd: grossUsd.minus(borrowedUsd).toNumber(),
      positions,
      users: holders.size,
    };
  }
  const seeded = seededWallets.map(({ account }) => account.address);

  async function pass(seconds: number): Promise<void> {
    service.clock.advance(seconds * 1_000);
    for (const chainId of CHAIN_IDS) await chain(chainId).increaseTime(seconds);
    await service.refresh('lending-state', 'prices', 'tvl');
  }

  test('equals the SDK to the cent, after a month of interest', async () => {
    await pass(30 * DAY_SEC);
    const { status, body } = await service.get('/v1/tvl');
    expect(status).toBe(200);
    const expected = await Promise.all(CHAIN_IDS.map((chainId) => recomputed(chainId, seeded)));
    const near = { divergentUsd: 0, oracleDivergences: [] };
    expect(body.chains).toEqual(expected.map((row) => ({ ...row, ...near, asOf: expect.any(String), stale: false })));
    const sum = (field: 'tvlUsd' | 'grossTvlUsd' | 'borrowedUsd') =>
      expected.reduce((total, row) => total.plus(row[field]), new Decimal(0));
    expect(body.total.tvlUsd).toBe(sum('tvlUsd').toNumber());
    expect(sum('tvlUsd').plus(sum('borrowedUsd')).eq(sum('grossTvlUsd'))).toBe(true);
    for (const row of [body.total, ...body.chains]) {
      expect(new Decimal(row.tvlUsd).plus(row.borrowedUsd).eq(row.grossTvlUsd)).toBe(true);
    }
    expect(body.total.users).toBe(5);
    expect(body.asOf).toBe(body.chains.map(({ asOf }: Json) => asOf).sort()[0]);
  });

  test('finds a new wallet by its proxy at the next refresh', async () => {
    const local = chain(1);
    const [, stranger] = (await import('../../../devnet/seed/accounts.ts')).accounts;
    if (!stranger) throw new Error('an account expected');
    const market = marketByKey(local.chain, 'sUSDe/PYUSD 91.5');
    const amount = parseUnits('1000', market.collateral.decimals);
    const { flashLeverage } = local.chain.contracts;
    await local.mint(market.collateral, stranger.address, amount);
    await local.send({
      from: stranger.address,
      to: market.collateral.address,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [flashLeverage, amount] }),
    });
    const params = await planLeverage(local, market, amount, amount, '80');
    await local.send({
      from: stranger.address,
      to: flashLeverage,
      data: encodeFunctionData({ abi: flashLeverageAbi, functionName: 'leverage', args: [stranger.address, params] }),
    });
    const before = await service.get('/v1/tvl');
    proxies.get(1)?.taken();
    await service.refresh('tvl:1');
    expect(proxies.get(1)?.taken()).toBeLessThanOrEqual(5);
    const after = await service.get('/v1/tvl');
    expect(after.body.total.users).toBe(before.body.total.users + 1);
    expect(after.body.chains[0].positions).toBe(before.body.chains[0].positions + 1);
    await pass(60);
    const { body } = await service.get('/v1/tvl');
    expect(body.chains[0]).toMatchObject(await recomputed(1, [...seeded, stranger.address]));
  });

  test('while a chain does not answer its last value becomes stale; the other continues', async () => {
    const { body: before } = await service.get('/v1/tvl');
    proxies.get(1)?.set({ kind: 'down' });
    service.clock.advance(901_000);
    await chain(4663).increaseTime(901);
    await service.refresh('lending-state:4663', 'prices', 'tvl').catch(() => {});
    const { body: after } = await service.get('/v1/tvl');
    proxies.get(1)?.set({ kind: 'pass' });
    expect(after.chains[0]).toEqual({ ...before.chains[0], stale: true });
    expect(after.chains[1]).toMatchObject({ chainId: 4663, stale: false });
    expect(after).toMatchObject({ stale: true, asOf: before.chains[0].asOf });
  });

  test('a restart keeps the last value, with its age', async () => {
    await pass(60);
    const { body: before } = await service.get('/v1/tvl');
    for (const proxy of proxies.values()) proxy.set({ kind: 'down' });
    await service.restart();
    const { status, body: after } = await service.get('/v1/tvl');
    for (const proxy of proxies.values()) proxy.set({ kind: 'pass' });
    expect(status).toBe(200);
    expect(after.chains).toEqual(before.chains);
  });
});

const NOTHING_REGISTERED = {
  depositedUsd: new Decimal(1),
  addedUsd: new Decimal(0),
  removedUsd: new Decimal(0),
  returnedUsd: new Decimal(0),
  collateralApyPctAtOpen: null,
  borrowApyPctAtOpen: null,
  leverageApyPctAtOpen: null,
  desiredLtvPct: null,
  entryPrice: null,
  exitPrice: null,
  createdAtMs: 1_000,
  updatedAtMs: 1_000,
  closedAtMs: null,
};
