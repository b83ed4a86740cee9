import { blueAbi, fetchAccrualPosition, fetchMarket } from '@morpho-org/blue-sdk-viem';
import { parseUnits } from 'viem';
import { describe, expect, it } from 'vitest';
import { accounts } from '../../devnet/chain/index.ts';
import { catalog, sdkId, useChains } from './world.ts';

const on = useChains();
const DAYS_30 = 30 * 86_400;
const [, , , borrower] = accounts.map(({ address }) => address);

describe.each(catalog.chains.map(({ chainId }) => ({ chainId })))('interest on chain $chainId', ({ chainId }) => {
  it('behavior: 30 days after a supply and a borrow, every market equals the SDK to the wei', async () => {
    const { client, chain, ...verbs } = on(chainId);
    if (borrower === undefined) throw new Error('There are ten development accounts');
    for (const market of chain.markets.slice(0, 4)) {
      const unit = parseUnits('1', market.loan.decimals);
      await verbs.supply(market, 5_000n * unit);
      const collateral = (20_000n * unit * 10n ** 36n) / (await verbs.oraclePrice(market));
      await verbs.openMorphoPosition(market, { account: borrower, collateral, borrowed: 5_000n * unit });
    }
    const before = await Promise.all(chain.markets.map((market) => fetchMarket(sdkId(market), client, { chainId })));
    await verbs.increaseTime(DAYS_30);

    for (const [index, market] of chain.markets.entries()) {
      const receipt = await verbs.accrue(market);
      const { timestamp } = await client.getBlock({ blockNumber: receipt.blockNumber });
      const expected = before[index]?.accrueInterest(timestamp);
      const onChain = await fetchMarket(sdkId(market), client, { chainId });
      expect(totals(onChain)).toEqual(totals(expected));
      expect(onChain.rateAtTarget).toBe(expected?.rateAtTarget);
      expect(onChain.totalBorrowAssets).toBeGreaterThan(before[index]?.totalBorrowAssets ?? 0n);
      expect(onChain.borrowApy).toBe(expected?.borrowApy);
    }
  });

  it('behavior: the debt of a position equals the cost of repaying its shares', async () => {
    const { client, chain, ...verbs } = on(chainId);
    const [market] = chain.markets;
    if (market === undefined || borrower === undefined) throw new Error('The catalog has markets');
    await verbs.increaseTime(86_400);
    await verbs.accrue(market);
    const position = await fetchAccrualPosition(borrower, sdkId(market), client, { chainId });
    const [, borrowShares] = await client.readContract({
      address: chain.contracts.morphoBlue,
      abi: blueAbi,
      functionName: 'position',
      args: [market.id, borrower],
    });
    expect(position.borrowShares).toBe(borrowShares);
    expect(position.borrowAssets).toBeGreaterThan(parseUnits('5000', market.loan.decimals));
    expect(position.isHealthy).toBe(true);
  });
});

function totals(market: Awaited<ReturnType<typeof fetchMarket>> | undefined) {
  return {
    supplyAssets: market?.totalSupplyAssets,
    supplyShares: market?.totalSupplyShares,
    borrowAssets: market?.totalBorrowAssets,
    borrowShares: market?.totalBorrowShares,
    lastUpdate: market?.lastUpdate,
  };
}
