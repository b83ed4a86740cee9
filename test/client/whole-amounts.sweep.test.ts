import { describe, expect, test } from 'vitest';
import { execute, prove } from '../../packages/client/src/index.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { account, failureOf, market, useExecution, user } from '../support/execution.ts';
import { injectedWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, positionOf } = world;
const run = async (plan: Parameters<typeof execute>[0]) => execute(plan, viemWallet(local(), account), options());
const close = (amount?: string) =>
  world.client.manageBuild({ action: 'close', id: 0, userAddress: user, amount } as never);

/** All collateral of the position of the user, whole tokens. */
async function collateralHeld(): Promise<string> {
  const { client, chain } = local();
  const { userProxy } = await client.readContract({
    address: chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePosition',
    args: [user, 0n],
  });
  const [, , collateral] = await client.readContract({
    address: chain.contracts.morphoBlue,
    abi: morphoBlueAbi,
    functionName: 'position',
    args: [market.id, userProxy],
  });
  const digits = String(collateral).padStart(19, '0');
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`;
}

describe('a close whose amount is all collateral', () => {
  test('default: is proven and executed as a whole close', async () => {
    await run(await openPlan());
    const { proof } = await run(await close(await collateralHeld()));
    expect(proof).toMatchObject({ action: 'close' });
    expect((await positionOf(0n)).open).toBe(false);
  });

  test('error: a service that closes all where a part was asked for', async () => {
    await run(await openPlan());
    const input = { action: 'close', id: 0, userAddress: user, amount: '4000' } as const;
    const request = { row: 'manageBuild', input } as const;
    const refused = prove(await close(), injectedWallet(local()), { account: user, request });
    expect(await failureOf(refused)).toMatchObject({ code: 'unproven', cause: { code: 'amount' } });
  });
});
