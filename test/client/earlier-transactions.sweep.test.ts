import { expect, test } from 'vitest';
import { type Eip1193Provider, execute } from '../../packages/client/src/index.ts';
import { failureOf, useExecution, user } from '../support/execution.ts';
import { batchingWallet, injectedWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan } = world;
const borrowPlan = () => world.client.manageBuild({ id: 0, userAddress: user, action: 'borrow', amount: '5' });

test('error: a wallet that sends nothing, and names an equal batch of the newest block', async () => {
  const { provider } = await batchingWallet(local(), user);
  let batches = 0;
  const wallet: Eip1193Provider = {
    async request(call) {
      if (call.method !== 'wallet_sendCalls') return provider.request(call);
      batches += 1;
      return batches === 2 ? { id: '0xba7c4' } : provider.request(call);
    },
  };
  await execute(await openPlan(), wallet, options({ mode: 'batch' }));
  const again = await failureOf(execute(await openPlan(), wallet, options({ mode: 'batch' })));
  expect(again).toMatchObject({ code: 'wallet_failed', sent: ['0xba7c4'] });
  expect(again.message).toContain('mined before the batch was sent');
});

test('error: a wallet that sends nothing, and gives the hash of an equal transaction of the newest block', async () => {
  let hash: unknown;
  let isSent = true;
  const wallet = injectedWallet(local(), {
    eth_accounts: () => [user],
    eth_sendTransaction: async ([call]) => {
      if (isSent) hash = await local().client.request({ method: 'eth_sendTransaction', params: [call] } as never);
      return hash;
    },
  });
  await execute(await openPlan(), wallet, options());
  await execute(await borrowPlan(), wallet, options());
  isSent = false;
  const again = await failureOf(execute(await borrowPlan(), wallet, options()));
  expect(again).toMatchObject({ code: 'wallet_failed', sent: [hash] });
  expect(again.message).toContain('mined before the call was sent');
});
