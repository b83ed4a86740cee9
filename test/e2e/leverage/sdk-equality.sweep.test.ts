import type { MarketId as SdkMarketId } from '@morpho-org/blue-sdk';
import { fetchMarket } from '@morpho-org/blue-sdk-viem';
import { BigNumber } from 'bignumber.js';
import { parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../../devnet/chain/index.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { allNodes, CHAIN_IDS } from '../known.ts';

/** Answers over HTTP equal the protocol SDK's arithmetic on chain state, to the wei. */
let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const MARKETS = `query ($chainId: ChainId!, $first: Int!, $after: String) { markets(chainIds: [$chainId], first: $first, after: $after) { pageInfo { hasNextPage endCursor } nodes {
  id: marketId lltv: lltvWad oracle { price: priceE36 }
  state { totalSupplyAssets totalSupplyShares totalBorrowAssets totalBorrowShares lastUpdate: lastAccrualAt fee: feeWad rateAtTarget: rateAtTargetWad borrowRate: borrowRateWad readAt { blockNumber blockTime: blockAt } }
  totalSupplyAssets totalSupplyShares totalBorrowAssets totalBorrowShares liquidityAssets utilization: utilizationWad borrowApyPct
} } }`;

async function expectEqual(chainId: number): Promise<void> {
  await service.refresh(`lending-state:${chainId}`);
  const nodes = await allNodes(service, MARKETS, 'markets', { chainId });
  const { chain, client } = service.world.chains.on(chainId);
  expect(nodes.map(({ id }: Json) => id).sort()).toEqual(chain.markets.map(({ id }) => id).sort());
  for (const market of nodes) {
    const blockNumber = BigInt(market.state.readAt.blockNumber);
    const { timestamp } = await client.getBlock({ blockNumber });
    // A block that is a little ahead of the service's clock is of now.
    expect(Date.parse(market.state.readAt.blockTime)).toBe(Math.min(Number(timestamp) * 1_000, service.clock.now()));
    const stored = await fetchMarket(market.id as string as SdkMarketId, client, { chainId, blockNumber });
    const accrued = stored.accrueInterest(timestamp);
    expect(market).toEqual({
      id: market.id,
      lltv: String(stored.params.lltv),
      oracle: { price: String(stored.price) },
      state: {
        totalSupplyAssets: String(stored.totalSupplyAssets),
        totalSupplyShares: String(stored.totalSupplyShares),
        totalBorrowAssets: String(stored.totalBorrowAssets),
        totalBorrowShares: String(stored.totalBorrowShares),
        lastUpdate: new Date(Number(stored.lastUpdate) * 1_000).toISOString(),
        fee: String(stored.fee),
        rateAtTarget: String(stored.rateAtTarget),
        borrowRate: String(stored.getAvgBorrowRate(timestamp)),
        readAt: market.state.readAt,
      },
      totalSupplyAssets: String(accrued.totalSupplyAssets),
      totalSupplyShares: String(accrued.totalSupplyShares),
      totalBorrowAssets: String(accrued.totalBorrowAssets),
      totalBorrowShares: String(accrued.totalBorrowShares),
      liquidityAssets: String(accrued.liquidity),
      utilization: String(accrued.utilization),
      borrowApyPct: new BigNumber(stored.getBorrowApy(timestamp)).shiftedBy(2).toFixed(),
    });
  }
}

describe.each(CHAIN_IDS)('chain %i', (chainId) => {
  test('equal at the start, after time, after a supply and a borrow, and after time again', async () => {
    const chain = service.world.chains.on(chainId);
    const borrower = accounts[4]?.address;
    if (borrower === undefined) throw new Error('There are ten development accounts');
    await expectEqual(chainId);
    service.clock.advance(9 * 86_400_000);
    await chain.increaseTime(9 * 86_400 + 17);
    await expectEqual(chainId);
    const before = await allNodes(service, MARKETS, 'markets', { chainId });
    const lent = chain.chain.markets.slice(0, 4);
    for (const market of lent) {
      const unit = parseUnits('1', market.loan.decimals);
      await chain.supply(market, 700n * unit);
      const collateral = (9_000n * unit * 10n ** 36n) / (await chain.oraclePrice(market));
      await chain.openMorphoPosition(market, { account: borrower, collateral, borrowed: 650n * unit });
    }
    await expectEqual(chainId);
    const after = await allNodes(service, MARKETS, 'markets', { chainId });
    for (const { id } of lent) {
      const borrowed = (nodes: Json[]) => BigInt(nodes.find((market) => market.id === id).totalBorrowAssets);
      expect(borrowed(after)).toBeGreaterThan(borrowed(before));
    }
    service.clock.advance(3_600_000);
    await chain.increaseTime(3_600);
    await expectEqual(chainId);
  });
});
