import type { Address } from 'viem';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { World } from '../contracts/world.ts';
import { MARKET } from './world.ts';

/** Values of holdings as the product's contract computes them, at a block or now. */
const at = (world: World, blockNumber: bigint | undefined) => ({
  address: world.flashLeverage,
  abi: flashLeverageAbi,
  blockNumber: blockNumber as bigint,
});

/** Collateral and borrow shares of an account. */
export const heldAt = (world: World, account: Address, blockNumber?: bigint) =>
  world.client.readContract({
    ...at(world, blockNumber),
    functionName: 'getMorphoPosition',
    args: [account, marketParams(world.market(MARKET))],
  });

/** Debt of shares with interest. */
export const debtOf = (world: World, shares: bigint, blockNumber?: bigint) =>
  world.client.readContract({
    ...at(world, blockNumber),
    functionName: 'getSharesValueInLoanToken',
    args: [marketParams(world.market(MARKET)), shares],
  });

export async function equityAt(world: World, account: Address, blockNumber?: bigint) {
  const { collateral, borrowShares } = await heldAt(world, account, blockNumber);
  const value = await world.client.readContract({
    ...at(world, blockNumber),
    functionName: 'getCollateralValueInLoanToken',
    args: [marketParams(world.market(MARKET)), collateral],
  });
  const debt = await debtOf(world, borrowShares, blockNumber);
  return { collateral, debt, equity: value - debt };
}
