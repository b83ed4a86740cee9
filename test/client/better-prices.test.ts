import { zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import type { LocalChain } from '../../devnet/chain/index.ts';
import type { TransactionBundle } from '../../packages/client/src/index.ts';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import type { Market } from '../../src/catalog/types.ts';
import { market, useExecution } from '../support/execution.ts';

const world = useExecution();
const { local, openPlan } = world;

/** From now on the venues sell the collateral of a market for so many percent less than its oracle says. */
async function sellBelowOracle(chain: LocalChain, market: Market, percent: string): Promise<void> {
  const { collateral, loan } = market;
  for (const router of Object.values(chain.chain.swapRouters).flat()) {
    const read = { address: router, abi: swapVenueAbi } as const;
    const args = [collateral.address] as const;
    const usdPerToken = await chain.client.readContract({ ...read, functionName: 'priceOf', args });
    const depthUsd = await chain.client.readContract({ ...read, functionName: 's_depthUsd', args });
    const owner = await chain.client.readContract({ ...read, functionName: 'i_owner' });
    const prices = [{ token: collateral.address, usdPerToken, depthUsd }];
    await chain.call(owner, router, 'SwapVenue', 'setPrices', [prices]);
    const followed = [{ base: collateral.address, quote: loan.address, oracle: zeroAddress }];
    await chain.call(owner, router, 'SwapVenue', 'followOracles', [followed]);
  }
  await chain.moveOracle(market, percent);
}

describe('a market that pays more than the oracle', () => {
  const opening = (leverage: number, slippage?: number) =>
    openPlan({ payToken: market.loan.address, amount: '1000', leverage, slippage });

  test('default: the call of an opening names the minimum of its payment as the collateral', async () => {
    await sellBelowOracle(local(), market, '0.8');
    const { tx } = (await opening(3)) as TransactionBundle;
    const { args } = decodeFunctionData({ abi: flashLeverageRouterAbi, data: tx.data as `0x${string}` });
    const [, , , minTokenOut, params] = args as readonly [...unknown[], bigint, { readonly amountCollateral: bigint }];
    expect(params).toMatchObject({ amountCollateral: minTokenOut });
  });
});
