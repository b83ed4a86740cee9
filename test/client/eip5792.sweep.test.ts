import { describe, expect, test } from 'vitest';
import { type Eip1193Provider, execute } from '../../packages/client/src/index.ts';
import { account, failureOf, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, viemWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan } = world;

describe('EIP-5792', () => {
  const answering = (
    provider: Eip1193Provider,
    change: (method: string, answer: Json) => unknown,
  ): Eip1193Provider => ({
    request: async (call) => change(call.method, await provider.request(call)),
  });
  const notAtomic = (provider: Eip1193Provider) =>
    answering(provider, (method, answer) =>
      method === 'wallet_getCallsStatus' ? { ...answer, atomic: false } : answer,
    );

  test('error: an executed batch of several calls that says that it is not atomic is not called reverted', async () => {
    const { provider } = await batchingWallet(local(), user);
    const error = await failureOf(execute(await openPlan(), notAtomic(provider), options()));
    expect(error).toMatchObject({ code: 'wallet_failed', sent: ['0xba7c4'] });
    expect(error.message).toContain('look at the account');
  });

  test('behavior: of a batch of one call, atomic says nothing', async () => {
    await execute(await openPlan(), viemWallet(local(), account), options());
    const plan = await world.client.manageBuild({ id: 0, userAddress: user, action: 'borrow', amount: '5' });
    const { provider } = await batchingWallet(local(), user);
    const done = await execute(plan, notAtomic(provider), options({ mode: 'batch' }));
    expect(done.outcome.positions).toMatchObject([{ event: 'AdditionalBorrowed' }]);
  });

  test('error: a batch that reverted completely is not called partial', async () => {
    const { provider } = await batchingWallet(local(), user, { status: 500, atomic: false });
    expect(await failureOf(execute(await openPlan(), provider, options()))).toMatchObject({
      code: 'reverted',
      isPartial: false,
    });
  });

  test.each([
    ['of all chains', { '0x0': { atomic: { status: 'supported' } } }, 'batch'],
    [
      'of this chain before those of all',
      { '0x0': { atomic: { status: 'supported' } }, '0x1': { atomic: { status: 'unsupported' } } },
      'transactions',
    ],
    [
      'of this chain beside those of all',
      { '0x0': { atomic: { status: 'ready' } }, '0x1': { paymasterService: {} } },
      'batch',
    ],
  ])('behavior: capabilities %s are read', async (_, capabilities, mode) => {
    const { provider } = await batchingWallet(local(), user);
    const wallet = answering(provider, (method, answer) =>
      method === 'wallet_getCapabilities' ? capabilities : answer,
    );
    expect(await execute(await openPlan(), wallet, options())).toMatchObject({ mode });
  });

  test('error: RejectedError where the user refuses the upgrade of the account', async () => {
    const { provider } = await batchingWallet(local(), user);
    const wallet: Eip1193Provider = {
      request: (call) =>
        call.method === 'wallet_sendCalls' ? walletFailure(5750, 'rejected upgrade')() : provider.request(call),
    };
    expect(await failureOf(execute(await openPlan(), wallet, options()))).toMatchObject({ code: 'rejected' });
  });
});
