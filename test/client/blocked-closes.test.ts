import { describe, expect, test } from 'vitest';
import { marketParams, tokenContract } from '../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../devnet/seed/accounts.ts';
import { execute, type Progress } from '../../packages/client/src/index.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { Address } from '../../src/shared/ids.ts';
import { failureOf, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, injectedWallet } from '../support/wallets.ts';

/* A stranger adds one unit of collateral to a position between the signature of its close and its transaction. */

const STRANGER: Address = untouchedAccounts[0]?.address ?? '0x';
const world = useExecution();
const { options } = world;
const vault = () => world.vaults.vault('SPY');

async function attack(): Promise<void> {
  const { local } = world.vaults;
  const { morphoBlue, flashLeverage } = local.chain.contracts;
  const { yieldMarket: market } = vault();
  const positions = await local.client.readContract({
    address: flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePositions',
    args: [user],
  });
  const holder = positions.at(-1)?.userProxy ?? '0x';
  await local.mint(market.collateral, STRANGER, 1n);
  const token = tokenContract(local.chain, market.collateral);
  await local.call(STRANGER, market.collateral.address, token, 'approve', [morphoBlue, 1n]);
  await local.call(STRANGER, morphoBlue, 'Morpho', 'supplyCollateral', [marketParams(market), 1n, holder, '0x']);
}

/** A wallet without batches: the stranger's transaction is mined before each of its own. */
function attacked(): ReturnType<typeof injectedWallet> {
  const wallet = injectedWallet(world.vaults.local);
  return {
    request: async (request) => {
      if (request.method === 'eth_sendTransaction') await attack();
      return wallet.request(request);
    },
  };
}

const entered = async () => {
  await world.vaults.fund(user, vault(), 5_000_000_000n);
  const plan = await world.client.equityDepositBuild({ strategyId: vault().id, amount: '5000', userAddress: user });
  const { provider } = await batchingWallet(world.vaults.local, user);
  await execute(plan, provider, options());
};
const exitPlan = () => world.client.equityExitBuild({ strategyId: vault().id, userAddress: user, maxSwapLossPct: 5 });

describe('an exit that a stranger blocks', () => {
  test('behavior: is built again with exact, and says so', async () => {
    await entered();
    const reports: Progress[] = [];
    const onProgress = (progress: Progress) => reports.push(progress);
    const { rebuild } = world.client;
    const { plan } = await execute(
      await exitPlan(),
      attacked(),
      options({ account: user, rebuild, maxWorsePct: 1, onProgress }),
    );
    expect(reports.map(({ kind }) => kind).filter((kind) => kind === 'blocked' || kind === 'rebuilt')).toEqual([
      'blocked',
      'rebuilt',
    ]);
    expect((plan as Json).meta.instructions).toContain('stays in the position');
    expect((await world.vaults.stockLeg(vault(), user)).borrowShares).toBe(0n);
  });

  test('error: without a way to build it again, the failure names exact', async () => {
    await entered();
    const failure = await failureOf(execute(await exitPlan(), attacked(), options({ account: user })));
    expect(failure).toMatchObject({
      code: 'reverted',
      isBlocked: true,
      message: expect.stringContaining('exact: true'),
    });
  });
});
