import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Eip1193Provider, type ExecuteOptions, execute, type Plan } from '../../packages/client/src/index.ts';
import { tokenOf } from '../e2e/leverage/support.ts';
import { account, failureOf, market, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, injectedWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, hasPosition } = world;
const never = () => new Promise<never>(() => {});
const reason = new Error('left');

afterEach(() => void vi.restoreAllMocks());

function deferred() {
  let settle: (value: unknown) => void = () => {};
  const promise = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

/** The timers of 30 s, which limit a read of a wallet: those that were started and not cleared. */
function watchReadTimers(): () => number {
  const started: unknown[] = [];
  const start = vi.spyOn(globalThis, 'setTimeout');
  const stop = vi.spyOn(globalThis, 'clearTimeout');
  return () => {
    started.push(...start.mock.results.filter((_, i) => start.mock.calls[i]?.[1] === 30_000).map(({ value }) => value));
    const stopped = new Set<unknown>(stop.mock.calls.map(([timer]) => timer));
    return started.filter((timer) => !stopped.has(timer)).length;
  };
}

/** A wallet that is silent from the `nth` request of a method on; the signal aborts when that request comes. */
function silentFrom(provider: Eip1193Provider, method: string, nth = 1) {
  const abort = new AbortController();
  let asked = 0;
  const silent: Eip1193Provider = {
    async request(call) {
      if (call.method !== method) return provider.request(call);
      asked += 1;
      if (asked < nth) return provider.request(call);
      setImmediate(() => abort.abort(reason));
      return never();
    },
  };
  return { silent, signal: abort.signal, asked: () => asked };
}

async function expectEnd(plan: Plan, provider: Eip1193Provider, method: string, nth?: number, more?: ExecuteOptions) {
  const { silent, signal, asked } = silentFrom(provider, method, nth);
  const timersLeft = watchReadTimers();
  expect(await failureOf(execute(plan, silent, options({ signal, ...more })))).toBe(reason);
  expect(asked()).toBeGreaterThanOrEqual(nth ?? 1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(timersLeft()).toBe(0);
}

describe('a request that the wallet never answers ends with the signal', () => {
  test.each([
    ['eth_accounts', 1],
    ['eth_accounts', 2],
    ['eth_chainId', 1],
    ['eth_chainId', 2],
    ['net_version', 1],
    ['eth_getBlockByNumber', 1],
    ['eth_call', 1],
    ['eth_call', 3],
    ['eth_getCode', 1],
    ['eth_estimateGas', 1],
    ['eth_getTransactionCount', 1],
    ['eth_blockNumber', 1],
    ['eth_sendTransaction', 1],
    ['eth_getTransactionReceipt', 1],
    ['eth_getTransactionByHash', 1],
  ])('%s, request %i, of a wallet without batches', async (method, nth) => {
    await expectEnd(await openPlan(), injectedWallet(local(), { eth_accounts: () => [user] }), method, nth);
    expect(await hasPosition()).toBe(false);
  });

  test('eth_getBalance, of a plan that pays in the native currency', async () => {
    const plan = await openPlan({ payToken: tokenOf(1, 'ETH').address, amount: '0.3' });
    const wallet = injectedWallet(local(), { eth_accounts: () => [user] });
    await expectEnd(plan, wallet, 'eth_getBalance', 1, { proof: 'none' });
  });

  test.each(['wallet_getCapabilities', 'wallet_sendCalls', 'wallet_getCallsStatus', 'eth_getTransactionReceipt'])(
    '%s, of a wallet with batches',
    async (method) => {
      const { provider } = await batchingWallet(local(), user);
      for (const mode of ['auto', 'batch'] as const) {
        const snapshot = await local().snapshot();
        await expectEnd(await openPlan(), provider, method, 1, { mode });
        await local().revert(snapshot);
      }
    },
  );

  test('a transaction of a viem client', async () => {
    const abort = new AbortController();
    const wallet = viemWallet(local(), account);
    const silent = {
      account: wallet.account,
      request: (call: never) => wallet.request(call),
      sendTransaction: () => {
        setImmediate(() => abort.abort(reason));
        return never();
      },
    };
    expect(await failureOf(execute(await openPlan(), silent, options({ signal: abort.signal })))).toBe(reason);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  test('rebuild, acceptWorse, worth and the own check of the caller', async () => {
    const past = new Date(world.service.clock.now() - 1_000).toISOString();
    const lapsed = (plan: Json) => ({ ...plan, meta: { ...plan.meta, expiresAt: past } }) as Plan;
    const ofEth = await openPlan({ payToken: tokenOf(1, 'ETH').address, amount: '0.3' });
    const worse = async () => {
      const plan: Json = await openPlan();
      const { positionPreview } = plan.meta;
      const worstCase = { ...positionPreview.worstCase, equity: '1' };
      return { ...plan, meta: { ...plan.meta, positionPreview: { ...positionPreview, worstCase } } } as Plan;
    };
    const open = await openPlan();
    const wallet = injectedWallet(local());
    for (const [plan, optionsOf] of [
      [open, (silent) => ({ check: silent })],
      [lapsed(open), (silent) => ({ rebuild: silent })],
      [lapsed(open), (silent) => ({ rebuild: worse, acceptWorse: silent })],
      [ofEth, (silent) => ({ proof: { worth: silent } })],
    ] as const satisfies readonly (readonly [Plan, (silent: () => Promise<never>) => ExecuteOptions])[]) {
      const abort = new AbortController();
      const silent = () => {
        setImmediate(() => abort.abort(reason));
        return never();
      };
      const more = { account: user, signal: abort.signal, ...optionsOf(silent) };
      expect(await failureOf(execute(plan, wallet, options(more)))).toBe(reason);
      expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    }
  });
});

test('behavior: a revocation that the wallet never answers is not waited for longer than a receipt', async () => {
  const chain = world.vaults.local;
  const vault = world.vaults.vault('SPY');
  await world.vaults.fund(user, vault, 5_000_000_000n);
  const plan = await world.client.equityDepositBuild({ strategyId: vault.id, amount: '5000', userAddress: user });
  const abort = new AbortController();
  const left = new Error('left');
  const wallet = injectedWallet(chain, {
    eth_sendTransaction: ([call]) =>
      call.data === plan.calls.at(-1)?.data
        ? never()
        : chain.client.request({ method: 'eth_sendTransaction', params: [call] } as never),
  });
  const onProgress = ({ kind, index }: { readonly kind: string; readonly index?: number }) => {
    if (kind === 'mined' && index === 1) abort.abort(left);
  };
  const more = { account: user, onProgress, signal: abort.signal, receiptTimeoutMs: 100 };
  const stopped = await failureOf(execute(plan, wallet, options(more)));
  expect(stopped).toBe(left);
  expect(stopped.isRevoked).toBe(false);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

test('behavior: leaves no listener and no timer behind after an execution to its end', async () => {
  const { signal } = new AbortController();
  const timersLeft = watchReadTimers();
  await execute(await openPlan(), viemWallet(local(), account), options({ signal }));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(timersLeft()).toBe(0);
});

test('behavior: the wait of the caller may ignore the signal', async () => {
  const abort = new AbortController();
  const wallet = injectedWallet(local(), { eth_getTransactionReceipt: () => null });
  const wait = async () => abort.abort(reason);
  const waiting = execute(await openPlan(), wallet, options({ account: user, signal: abort.signal, wait }));
  expect(await failureOf(waiting)).toBe(reason);
});

test('behavior: a wait of the caller that never ends ends with the signal', async () => {
  const { provider } = await batchingWallet(local(), user, { status: 100 });
  const unmined = injectedWallet(local(), { eth_getTransactionReceipt: () => null });
  for (const [wallet, mode] of [
    [provider, 'batch'],
    [unmined, 'transactions'],
  ] as const) {
    const abort = new AbortController();
    const wait = () => {
      setImmediate(() => abort.abort(reason));
      return never();
    };
    const waiting = execute(await openPlan(), wallet, options({ account: user, signal: abort.signal, wait, mode }));
    expect(await failureOf(waiting)).toBe(reason);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  }
});

test('behavior: a batch that is signed after the signal has aborted is reported', async () => {
  const abort = new AbortController();
  const { provider } = await batchingWallet(local(), user);
  const { promise: signed, settle: sign } = deferred();
  const { promise: reported, settle: report } = deferred();
  const wallet: Eip1193Provider = {
    async request(call) {
      if (call.method !== 'wallet_sendCalls') return provider.request(call);
      setImmediate(() => abort.abort(reason));
      await signed;
      return provider.request(call);
    },
  };
  const onProgress = (progress: { readonly kind: string }) => {
    if (progress.kind === 'batch_sent') report(progress);
  };
  const leaving = execute(await openPlan(), wallet, options({ signal: abort.signal, onProgress }));
  expect(await failureOf(leaving)).toBe(reason);
  sign(undefined);
  expect(await reported).toEqual({ kind: 'batch_sent', id: '0xba7c4' });
  expect(await hasPosition()).toBe(true);
});

test('behavior: a hash is reported whenever the signal aborts after the wallet has given it', async () => {
  const hash = `0x${'1'.repeat(64)}`;
  for (let depth = 0; depth < 14; depth += 1) {
    const abort = new AbortController();
    const later = (left: number): void => {
      if (left === 0) abort.abort(reason);
      else queueMicrotask(() => later(left - 1));
    };
    const wallet = injectedWallet(local(), {
      eth_sendTransaction: async () => {
        later(depth);
        return hash;
      },
    });
    const { promise: reported, settle: report } = deferred();
    const onProgress = (progress: { readonly kind: string }) => {
      if (progress.kind === 'sent') report(progress);
    };
    const leaving = execute(await openPlan(), wallet, options({ account: user, signal: abort.signal, onProgress }));
    expect(await failureOf(leaving)).toBe(reason);
    const missed = new Promise((resolve) => setImmediate(() => resolve(`not reported at ${depth}`)));
    expect(await Promise.race([reported, missed])).toEqual({ kind: 'sent', hash, index: 0 });
  }
});

test('behavior: a listener that fails, also an async one, changes nothing', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  try {
    for (const onProgress of [
      () => Promise.reject(new Error('display')),
      () => {
        throw new Error('display');
      },
    ]) {
      const plan = await openPlan();
      const { outcome } = await execute(plan, viemWallet(local(), account), options({ onProgress }));
      expect(outcome.positions).toMatchObject([{ event: 'LeveragePositionOpened' }]);
    }
    // Unhandled rejections are reported after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
});

test('behavior: a transaction that is signed after the signal has aborted is reported', async () => {
  const abort = new AbortController();
  const { promise: signed, settle: sign } = deferred();
  const { promise: reported, settle: report } = deferred();
  const wallet = injectedWallet(local(), {
    eth_sendTransaction: () => {
      setImmediate(() => abort.abort(reason));
      return signed;
    },
  });
  const onProgress = (progress: { readonly kind: string }) => {
    if (progress.kind === 'sent') report(progress);
  };
  const leaving = execute(await openPlan(), wallet, options({ account: user, signal: abort.signal, onProgress }));
  expect(await failureOf(leaving)).toBe(reason);
  const hash = `0x${'1'.repeat(64)}`;
  sign(hash);
  expect(await reported).toEqual({ kind: 'sent', hash, index: 0 });
});

test('behavior: the signal ends before a wallet is asked where it never reads', async () => {
  const asked: string[] = [];
  const wallet: Eip1193Provider = {
    async request({ method }) {
      asked.push(method);
      return never();
    },
  };
  const plan = await openPlan({ strategyId: market.id });
  expect(await failureOf(execute(plan, wallet, options({ signal: AbortSignal.abort(reason) })))).toBe(reason);
  expect(asked).toEqual([]);
});

test.each(['dead', 'abc', '0x', ''])('behavior: a network that is no number (%j) says nothing', async (version) => {
  const wallet = injectedWallet(local(), { net_version: () => version });
  expect((await execute(await openPlan(), wallet, options({ account: user }))).receipts).not.toEqual([]);
});
