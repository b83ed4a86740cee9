import { fetchMarket } from '@morpho-org/blue-sdk-viem';
import { parseUnits } from 'viem';
import { describe, expect, test } from 'vitest';
import { accounts } from '../../devnet/chain/index.ts';
import type { Chain } from '../../src/catalog/index.ts';
import { createChainReader, type LendingReading } from '../../src/chain/reader.ts';
import { borrowApyPctFromRate } from '../../src/domain/apy/rates.ts';
import { accrue } from '../../src/domain/market/accrue.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { catalog, sdkId, useChains } from '../devnet/world.ts';
import { fixedNode } from './fixed-node.ts';

/** Later than any block: these chains are moved ahead by days. */
const LATE = { now: () => Number.MAX_SAFE_INTEGER };

const on = useChains();
const [, , , borrower] = accounts.map(({ address }) => address);
const WAD = 10n ** 18n;

describe.each(catalog.chains.map((chain) => ({ chainId: chain.chainId, chain })))(
  'readLendingState on chain $chainId',
  ({ chainId, chain }) => {
    const read = async (): Promise<{ reading: LendingReading; requests: number }> => {
      let requests = 0;
      const nodes = fixedNode({
        chainId,
        rpcUrl: on(chainId).rpcUrl,
        clock: LATE,
        onRequest: () => {
          requests += 1;
        },
      });
      return {
        reading: await createChainReader({ nodes, chain, clock: LATE }).readLendingState(chain.markets),
        requests,
      };
    };

    test('behavior: totals, rates, utilization and APY equal the SDK to the wei, before and after time and a borrow', async () => {
      if (borrower === undefined) throw new Error('There are ten development accounts');
      await expectEqual();
      await on(chainId).increaseTime(7 * 86_400 + 13);
      await expectEqual();
      for (const market of chain.markets.slice(0, 3)) {
        const unit = parseUnits('1', market.loan.decimals);
        await on(chainId).supply(market, 3_000n * unit);
        const collateral = (20_000n * unit * 10n ** 36n) / (await on(chainId).oraclePrice(market));
        await on(chainId).openMorphoPosition(market, { account: borrower, collateral, borrowed: 4_000n * unit });
      }
      await expectEqual();
      await on(chainId).increaseTime(3_600);
      await expectEqual();
    });

    async function expectEqual(): Promise<void> {
      const { reading, requests } = await read();
      expect(requests).toBeLessThanOrEqual(3);
      expect([reading.lending.failures.size, reading.oracle.failures.size]).toEqual([0, 0]);
      const { client } = on(chainId);
      const block = await client.getBlock();
      expect(reading.block).toEqual({ number: block.number, timestamp: block.timestamp });
      for (const market of (chain as Chain).markets) {
        const state = reading.lending.values.get(market.id);
        if (state === undefined) throw new Error(market.id);
        const stored = await fetchMarket(sdkId(market), client, { chainId, blockNumber: block.number });
        expect({ ...state }).toMatchObject({
          totalSupplyAssets: stored.totalSupplyAssets,
          totalSupplyShares: stored.totalSupplyShares,
          totalBorrowAssets: stored.totalBorrowAssets,
          totalBorrowShares: stored.totalBorrowShares,
          lastUpdate: stored.lastUpdate,
          fee: stored.fee,
          rateAtTarget: stored.rateAtTarget,
          // The SDK calls the rate that the model gives for the time since the last update the average one.
          borrowRate: stored.getAvgBorrowRate(block.timestamp),
        });
        expect(reading.oracle.values.get(market.oracle)?.price).toBe(stored.price);
        const accrued = stored.accrueInterest(block.timestamp);
        const ours = accrue(state);
        expect(ours).toEqual({
          totalSupplyAssets: accrued.totalSupplyAssets,
          totalSupplyShares: accrued.totalSupplyShares,
          totalBorrowAssets: accrued.totalBorrowAssets,
          totalBorrowShares: accrued.totalBorrowShares,
        });
        expect((ours.totalBorrowAssets * WAD) / ours.totalSupplyAssets).toBe(accrued.utilization);
        const apy = stored.getAvgBorrowApy(block.timestamp);
        expect(borrowApyPctFromRate(state.borrowRate).eq(new Decimal(apy).shiftedBy(2))).toBe(true);
      }
    }
  },
);
