import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { feedsOf, oracleSeed } from '../../../devnet/seed/oracles.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { aggregatorAbi } from '../../../src/abi/feeds.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { equityVerbs } from '../../support/equity.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const positionsOf = async (name: string, chainId: number): Promise<Json> => {
  const { address } = seededWallet(name).account;
  const { status, body } = await service.get(`/v1/partner/positions/${address}?chainId=${chainId}`, PARTNER);
  expect(status).toBe(200);
  expect(bodyViolation('walletPositions', body)).toBeNull();
  return body;
};
const openIn = async (name: string, chainId: number): Promise<Json> => {
  const found = (await positionsOf(name, chainId)).positions.find(({ open }: Json) => open);
  expect(found).toBeDefined();
  return found;
};
const newest = async (chainId: number) => {
  const { number, timestamp } = await service.world.chains.on(chainId).client.getBlock();
  return { blockNumber: number.toString(), blockTime: new Date(Number(timestamp) * 1_000).toISOString() };
};

describe.each([
  ['looper', 1],
  ['looper', 4663],
] as const)('positions of %s on chain %i', (name, chainId) => {
  test('are valued at the price of their block, not of the last refresh', async () => {
    const before = await openIn(name, chainId);
    const chain = service.world.chains.on(chainId);
    await chain.moveOracle(before.strategyId, '-4');
    const after = await openIn(name, chainId);
    const expected = new Decimal(before.ltvPct).div('0.96');
    expect(new Decimal(after.ltvPct).minus(expected).abs().lte('0.02')).toBe(true);
    expect(after.readAt).toEqual(await newest(chainId));
    expect(after.freshness.oracle.asOf).toBe(after.readAt.blockTime);
    expect(after.freshness.borrow.asOf).toBe(after.readAt.blockTime);
    const { address } = seededWallet(name).account;
    const { body } = await service.graphql(
      `query($a: Address!, $c: ChainId!) { wallet(address: $a, chainIds: [$c]) { positions(statuses: OPEN) { nodes { id: positionIndex ltvPct oraclePriceAsOf readAt { blockNumber blockTime: blockAt } } } } }`,
      { a: address, c: chainId },
      PARTNER,
    );
    expect(body.data.wallet.positions.nodes.find(({ id }: Json) => id === after.id)).toEqual({
      id: after.id,
      ltvPct: after.ltvPct,
      oraclePriceAsOf: after.oraclePriceAsOf ?? null,
      readAt: after.readAt,
    });
  });
});

describe('oraclePriceAsOf', () => {
  test('is the date of the oldest feed, null without a feed, and absent if unknown', async () => {
    const observed = new Set<string>();
    for (const [name, chainId] of [
      ['looper', 1],
      ['speculator', 1],
      ['speculator', 4663],
    ] as const) {
      for (const position of (await positionsOf(name, chainId)).positions) {
        if (!position.open) continue;
        const chain = service.world.chains.on(chainId);
        const market = chain.market(position.strategyId);
        const seed = oracleSeed(market);
        observed.add(seed.kind);
        if (seed.kind === 'rate') expect(position.oraclePriceAsOf).toBeNull();
        if (seed.kind === 'opaque') expect(position).not.toHaveProperty('oraclePriceAsOf');
        if (seed.kind !== 'feed') continue;
        const { base, quote } = feedsOf(market);
        const feeds = seed.quoteHeartbeatSec === undefined ? [base] : [base, quote];
        const dates = await Promise.all(
          feeds.map((address) =>
            chain.client.readContract({ address, abi: aggregatorAbi, functionName: 'latestRoundData' }),
          ),
        );
        const oldest = Math.min(...dates.map(([, , , updatedAt]) => Number(updatedAt)));
        expect(position.oraclePriceAsOf).toBe(new Date(oldest * 1_000).toISOString());
      }
    }
    expect([...observed].sort()).toEqual(['feed', 'opaque', 'rate']);
  });

  test('is absent while a feed returns an implausible date', async () => {
    const position = await openIn('looper', 4663);
    const chain = service.world.chains.on(4663);
    for (const absurd of [0n, 2n ** 255n, BigInt(Math.floor(Date.now() / 1_000)) + 10n * 365n * 86_400n]) {
      await chain.dateFeed(position.strategyId, absurd);
      expect(await openIn('looper', 4663)).not.toHaveProperty('oraclePriceAsOf');
    }
    await chain.unfreezeFeed(position.strategyId);
    expect((await openIn('looper', 4663)).oraclePriceAsOf).toBe((await newest(4663)).blockTime);
  });
});

test('strategies and markets show the age of the oracle price like positions', async () => {
  await service.refresh('lending-state:1', 'lending-state:4663');
  const visited = new Set<string>();
  for (const chainId of [1, 4663]) {
    const { chain, client } = service.world.chains.on(chainId);
    const rest = (await service.get(`/v1/strategies?chainId=${chainId}`)).body.strategies;
    const app = (await service.get(`/v1/app/markets?chainId=${chainId}`)).body.markets;
    const graphql = await service.graphql(
      `{ strategies(chainIds: [${chainId}], first: 60) { nodes { id: strategyId oraclePriceAsOf gaps { field reason } market { id: marketId oraclePriceAsOf gaps { field reason } } } } }`,
      {},
      PARTNER,
    );
    const nodes: Json[] = graphql.body.data.strategies.nodes;
    for (const shown of rest) {
      const node = nodes.find(({ id }) => id === shown.id);
      const market = chain.markets.find(({ id }) => id === node?.market.id);
      if (!market) throw new Error(`no market of ${shown.id}`);
      const { kind, quoteHeartbeatSec } = { quoteHeartbeatSec: undefined, ...oracleSeed(market) };
      visited.add(kind);
      const inApp = app.find(({ id }: Json) => id === market.id);
      if (kind === 'opaque') {
        expect(shown).not.toHaveProperty('oraclePriceAsOf');
        expect(inApp).not.toHaveProperty('oraclePriceAsOf');
        continue;
      }
      const { base, quote } = feedsOf(market);
      const { timestamp } = await client.getBlock();
      const dates = await Promise.all(
        (quoteHeartbeatSec === undefined ? [base] : [base, quote]).map(async (address) =>
          kind === 'feed'
            ? (await client.readContract({ address, abi: aggregatorAbi, functionName: 'latestRoundData' }))[3]
            : timestamp,
        ),
      );
      const reason = kind === 'rate' ? [{ field: 'oraclePriceAsOf', reason: 'NOT_APPLICABLE' }] : [];
      const oldest = Math.min(...dates.map(Number)) * 1_000;
      const asOf = kind === 'rate' ? null : new Date(oldest).toISOString();
      for (const each of [node, node?.market]) {
        expect(each.oraclePriceAsOf).toBe(asOf);
        expect(each.gaps.filter(({ field }: Json) => field === 'oraclePriceAsOf')).toEqual(reason);
      }
      expect([shown.oraclePriceAsOf, inApp.oraclePriceAsOf]).toEqual([asOf, asOf]);
    }
  }
  expect([...visited].sort()).toEqual(['feed', 'opaque', 'rate']);
});

test('a portfolio of the ops surface has the block of every position', async () => {
  const { address } = seededWallet('looper').account;
  const { body } = await service.get(`/v1/ops/portfolio/${address}?chainId=1`, OPS);
  const [position] = body.positions;
  expect(position?.readAt).toEqual(await newest(1));
});

test('an exit values the vault at its own block, and pays as shown', async () => {
  const vaults = equityVerbs(service);
  const vault = vaults.vault('SPY');
  const { account } = seededWallet('shareholder');
  const before = await vaults.post('/v1/partner/equity/exit/build', {
    userAddress: account.address,
    strategyId: vault.id,
  });
  expect(before.status).toBe(200);
  await vaults.local.moveOracle(vault.yieldMarket, '-3');
  await vaults.local.moveOracle(vault.stockMarket, '-3');
  const { status, body } = await vaults.post('/v1/partner/equity/exit/build', {
    userAddress: account.address,
    strategyId: vault.id,
  });
  expect(status).toBe(200);
  expect(body.meta.position.readAt).toEqual(await newest(4663));
  expect(
    new Decimal(body.meta.position.netValueUsd).lt(new Decimal(before.body.meta.position.netValueUsd).times('0.95')),
  ).toBe(true);
  const held = await vaults.balance(vault.depositToken.address, account.address);
  await vaults.sendAtomically(account.address, body.calls);
  const paid = (await vaults.balance(vault.depositToken.address, account.address)) - held;
  const received = new Decimal(paid.toString()).shiftedBy(-vault.depositToken.decimals);
  const shown = new Decimal(body.meta.position.netValueUsd);
  expect(received.minus(shown).abs().div(shown).lte('0.02')).toBe(true);
});
