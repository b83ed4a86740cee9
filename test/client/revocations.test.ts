import { describe, expect, test } from 'vitest';
import { execute } from '../../packages/client/src/index.ts';
import { failureOf, useExecution, user } from '../support/execution.ts';
import { injectedWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { options } = world;
const chain = () => world.vaults.local;
const sign = (call: unknown) => chain().client.request({ method: 'eth_sendTransaction', params: [call] } as never);

async function depositPlan() {
  const vault = world.vaults.vault('SPY');
  await world.vaults.fund(user, vault, 5_000_000_000n);
  return world.client.equityDepositBuild({ strategyId: vault.id, amount: '5000', userAddress: user });
}

describe('a wallet without batches', () => {
  test.each([Number.POSITIVE_INFINITY, 3_000_000_000])(
    'behavior: the authorization is revoked with receiptTimeoutMs %d',
    async (receiptTimeoutMs) => {
      const plan = await depositPlan();
      const asked: number[] = [];
      const wallet = injectedWallet(chain(), {
        eth_sendTransaction: ([call]) => {
          const index = plan.calls.findIndex(({ data }) => data === call.data);
          asked.push(index);
          return index === 2 ? walletFailure(4001, 'denied')() : sign(call);
        },
      });
      const error = await failureOf(execute(plan, wallet, options({ account: user, receiptTimeoutMs })));
      expect(asked).toEqual([0, 1, 2, 3]);
      expect(error).toMatchObject({ code: 'rejected', isRevoked: true });
      expect(await world.vaults.isAuthorized(user)).toBe(false);
    },
  );
});
