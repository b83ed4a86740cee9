import type { Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import {
  type Eip1193Provider,
  execute,
  ReceiptTimeoutError,
  type Revocation,
} from '../../packages/client/src/index.ts';
import { verify } from '../../packages/client/src/verify/index.ts';
import { failureOf, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, injectedWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { options } = world;
const chain = () => world.vaults.local;
const ask = (method: string, params: readonly unknown[]) => chain().client.request({ method, params } as never);
/** Send a call and wait until it is mined. */
async function send({ from, to, data }: Json): Promise<Hex> {
  const { transactionHash } = await chain().send({ from, to, data });
  return transactionHash;
}
const soon = { receiptTimeoutMs: 1 };

async function depositPlan() {
  const vault = world.vaults.vault('SPY');
  await world.vaults.fund(user, vault, 5_000_000_000n);
  return world.client.equityDepositBuild({ strategyId: vault.id, amount: '5000', userAddress: user });
}

/** A wallet whose batch is pending until `run` executes its first calls. */
async function pendingWallet() {
  const { provider } = await batchingWallet(chain(), user);
  const batches: Json[] = [];
  const wallet: Eip1193Provider = {
    async request(call) {
      if (call.method === 'wallet_sendCalls') {
        batches.push(...((call.params ?? []) as Json[]));
        return { id: '0xba7c4' };
      }
      const answer = (await provider.request(call)) as Json;
      return call.method === 'wallet_getCallsStatus' ? { ...answer, status: 100 } : answer;
    },
  };
  const run = (calls: number) => {
    const [batch] = batches;
    return provider.request({ method: 'wallet_sendCalls', params: [{ ...batch, calls: batch.calls.slice(0, calls) }] });
  };
  return { wallet, run };
}

/** A wallet that keeps one call of a plan, and gives a hash for it. */
function keepingWallet({ calls }: { readonly calls: readonly { readonly data: string }[] }, kept: number) {
  const hash = `0x${'1'.repeat(64)}`;
  let pending: Json;
  const wallet = injectedWallet(chain(), {
    eth_sendTransaction: ([call]) => {
      if (call.data !== calls[kept]?.data) return send(call);
      pending = call;
      return hash;
    },
  });
  return { wallet, hash, mine: () => send(pending) };
}

/** Read whether the authorization stands, as a caller does who follows the execution. */
const isLeft = async ({ check }: Revocation) => BigInt((await ask('eth_call', [check, 'latest'])) as string);

async function expectRevokes(revocation: Revocation) {
  expect(await world.vaults.isAuthorized(user)).toBe(true);
  expect(await isLeft(revocation)).toBe(1n);
  await send(revocation.call);
  expect(await world.vaults.isAuthorized(user)).toBe(false);
  expect(await isLeft(revocation)).toBe(0n);
}

describe(ReceiptTimeoutError, () => {
  test('default: of a pending batch has the call that revokes the authorization which it leaves later', async () => {
    const plan = await depositPlan();
    const { wallet, run } = await pendingWallet();
    const error = await failureOf(execute(plan, wallet, options(soon)));
    expect(error).toMatchObject({ code: 'receipt_timeout', id: '0xba7c4', isBatch: true, sent: ['0xba7c4'] });
    expect(error.isRevoked).toBe(undefined);
    const { to = '', data = '' } = plan.calls.at(-1) ?? {};
    expect(error.revocation).toMatchObject({ chainId: 4663, call: { from: user, to, data } });
    expect(await isLeft(error.revocation)).toBe(0n);
    await run(2);
    await expectRevokes(error.revocation);
  });

  test('behavior: its call is proven to revoke, and nothing else', async () => {
    const error = await failureOf(execute(await depositPlan(), (await pendingWallet()).wallet, options(soon)));
    const { chainId, call } = error.revocation as Revocation;
    const { from, ...revocation } = call;
    const intent = { action: 'revoke_authorization', chainId, owner: from, authorized: world.vaults.router } as const;
    const proof = verify({ chainId, calls: [{ ...revocation, value: '0' }] } as never, intent);
    expect(proof).toMatchObject({ authorizes: [], spendsAtMost: [] });
  });

  test('behavior: of a batch that is executed as a whole later leaves nothing to revoke', async () => {
    const { wallet, run } = await pendingWallet();
    const error = await failureOf(execute(await depositPlan(), wallet, options(soon)));
    await run(4);
    expect(await isLeft(error.revocation)).toBe(0n);
  });

  test('behavior: of a batch whose transaction has too few confirmations names the transaction', async () => {
    const { provider } = await batchingWallet(chain(), user);
    const error = await failureOf(execute(await depositPlan(), provider, options({ ...soon, confirmations: 3 })));
    expect(error).toMatchObject({ code: 'receipt_timeout', isBatch: false, sent: ['0xba7c4'] });
    expect(await chain().client.getTransactionReceipt({ hash: error.id })).toMatchObject({ status: 'success' });
    expect(await isLeft(error.revocation)).toBe(0n);
  });

  test('behavior: of a pending grant has the call that revokes it once it is mined', async () => {
    const plan = await depositPlan();
    const { wallet, hash, mine } = keepingWallet(plan, 1);
    const error = await failureOf(execute(plan, wallet, options({ account: user, ...soon })));
    expect(error).toMatchObject({ code: 'receipt_timeout', id: hash, isBatch: false, isRevoked: false });
    expect(await isLeft(error.revocation)).toBe(0n);
    await mine();
    await expectRevokes(error.revocation);
  });

  test('behavior: of a pending revocation says that it is not revoked, and has its call', async () => {
    const plan = await depositPlan();
    const { wallet, hash } = keepingWallet(plan, 3);
    const error = await failureOf(execute(plan, wallet, options({ account: user, ...soon })));
    expect(error).toMatchObject({ code: 'receipt_timeout', id: hash, isRevoked: false });
    await expectRevokes(error.revocation);
  });

  test('behavior: of a pending approval has none', async () => {
    const plan = await depositPlan();
    const { wallet, hash } = keepingWallet(plan, 0);
    const error = await failureOf(execute(plan, wallet, options({ account: user, ...soon })));
    expect(error).toMatchObject({ code: 'receipt_timeout', id: hash, isRevoked: undefined, revocation: undefined });
  });

  test('behavior: of a batch has none for an authorization from before it', async () => {
    const plan = await depositPlan();
    const { to, data } = plan.calls[1] ?? {};
    await send({ from: user, to, data });
    const error = await failureOf(execute(plan, (await pendingWallet()).wallet, options(soon)));
    expect(error).toMatchObject({ code: 'receipt_timeout', isRevoked: undefined, revocation: undefined });
  });
});

describe('other failures', () => {
  test('error: a refused revocation is reported as not revoked, is not asked for twice, and is handed out', async () => {
    const plan = await depositPlan();
    const asked: number[] = [];
    const wallet = injectedWallet(chain(), {
      eth_sendTransaction: ([call]) => {
        const index = plan.calls.findIndex(({ data }) => data === call.data);
        asked.push(index);
        return index === 3 ? walletFailure(4001, 'denied')() : send(call);
      },
    });
    const error = await failureOf(execute(plan, wallet, options({ account: user })));
    expect(error).toMatchObject({ code: 'rejected', isRevoked: false });
    expect(asked).toEqual([0, 1, 2, 3]);
    await expectRevokes(error.revocation);
  });

  test('error: an authorization that a batch has left and that is not revoked is handed out', async () => {
    const { wallet, run } = await pendingWallet();
    const refusing: Eip1193Provider = {
      async request(call) {
        if (call.method === 'eth_sendTransaction') return walletFailure(4001, 'denied')();
        const answer = (await wallet.request(call)) as Json;
        if (call.method === 'wallet_sendCalls') await run(2);
        return call.method === 'wallet_getCallsStatus' ? { ...answer, status: 600 } : answer;
      },
    };
    const error = await failureOf(execute(await depositPlan(), refusing, options()));
    expect(error).toMatchObject({ code: 'reverted', isRevoked: false });
    await expectRevokes(error.revocation);
  });

  test('behavior: the reason of a signal has the call while the prompt of a batch is open', async () => {
    const abort = new AbortController();
    const left = new Error('left');
    const { wallet } = await pendingWallet();
    const silent: Eip1193Provider = {
      request(call) {
        if (call.method !== 'wallet_sendCalls') return wallet.request(call);
        setImmediate(() => abort.abort(left));
        return new Promise(() => {});
      },
    };
    const plan = await depositPlan();
    const reason = await failureOf(execute(plan, silent, options({ signal: abort.signal })));
    expect(reason).toBe(left);
    const { to, data } = plan.calls[1] ?? {};
    await send({ from: user, to, data });
    await expectRevokes(reason.revocation);
  });

  test('behavior: the reason of a signal has the call while a batch is pending', async () => {
    const abort = new AbortController();
    const left = new Error('left');
    const { wallet, run } = await pendingWallet();
    const onProgress = ({ kind }: { readonly kind: string }) => {
      if (kind === 'batch_sent') setImmediate(() => abort.abort(left));
    };
    // The pending batch is not followed afterwards, so that only the caller revokes.
    const following = { onProgress, signal: abort.signal, ...soon };
    const reason = await failureOf(execute(await depositPlan(), wallet, options({ ...following, wait: endless })));
    expect(reason).toBe(left);
    await run(2);
    await expectRevokes(reason.revocation);
  });
});

/** A pause that ends with its signal only. */
const endless = (_ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
