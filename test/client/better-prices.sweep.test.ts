import { zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import type { LocalChain } from '../../devnet/chain/index.ts';
import { execute, type Plan, prove, type TransactionBundle } from '../../packages/client/src/index.ts';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import type { Market } from '../../src/catalog/types.ts';
import { account, failureOf, market, useExecution, user } from '../support/execution.ts';
import { batchingWallet, injectedWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan } = world;

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

  test.each([
    ['0.8', 5, 0.005],
    ['1.2', 1.1, 0.005],
    ['2', 1.3, 0.01],
  ])('default: an opening at %s % and %s x is proven and executed', async (percent, leverage, slippage) => {
    await sellBelowOracle(local(), market, percent);
    await local().mint(market.loan, user, 1_000_000_000n);
    const { proof } = await execute(await opening(leverage, slippage), viemWallet(local(), account), options());
    expect(proof).toMatchObject({ action: 'open_leverage' });
    expect(await world.hasPosition()).toBe(true);
  });

  test.each([
    ['stockMarket', '1.7', 0.01],
    ['stockMarket', '1', 0.002],
    ['yieldMarket', '1.7', 0.01],
  ] as const)('default: a deposit whose %s trades at %s % is proven and executed', async (leg, percent, slippage) => {
    const { local: chain, vault } = world.vaults;
    const spy = vault('SPY');
    await sellBelowOracle(chain, spy[leg], percent);
    await world.vaults.fund(user, spy, 5_000_000_000n);
    const deposit = { strategyId: spy.id, amount: '5000', userAddress: user, slippage };
    const { provider } = await batchingWallet(chain, user);
    const { proof } = await execute(await world.client.equityDepositBuild(deposit), provider, options());
    expect(proof).toMatchObject({ action: 'equity_deposit' });
  });

  test('error: a loan that is smaller than the deposit carries', async () => {
    const { local: chain, vault } = world.vaults;
    const spy = vault('SPY');
    await sellBelowOracle(chain, spy.stockMarket, '1.7');
    const asked = { strategyId: spy.id, amount: '5000', userAddress: user, stockLtvPct: '50' };
    const plan = await world.client.equityDepositBuild({ ...asked, stockLtvPct: '49.8' });
    const request = { row: 'equityDepositBuild', input: asked } as const;
    const refused = prove(plan as Plan, injectedWallet(chain), { account: user, request });
    expect(await failureOf(refused)).toMatchObject({ code: 'unproven', cause: { code: 'loan' } });
  });
});

describe('a market that pays less than the oracle', () => {
  test.each([
    ['1.4', 0.005],
    ['2.5', 0.01],
  ])('default: a full repayment at %s % is sized for the loss that its request accepts', async (percent, slippage) => {
    await execute(await openPlan(), viemWallet(local(), account), options());
    await sellBelowOracle(local(), market, percent);
    await local().mint(market.collateral, user, 5_000n * 10n ** 18n);
    const repayment = { action: 'repay', full: true, id: 0, userAddress: user, slippage, maxSwapLossPct: 10 } as const;
    const plan = await world.client.manageBuild({ ...repayment, payToken: market.collateral.address });
    const { proof } = await execute(plan, viemWallet(local(), account), options());
    expect(proof).toMatchObject({ action: 'repay' });
  });
});
