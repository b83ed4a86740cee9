import { erc20Abi } from 'viem';
import { describe, expect, test } from 'vitest';
import { execute, type Plan, type Progress, type TransactionBundle } from '../../packages/client/src/index.ts';
import { account, failureOf, market, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, injectedWallet, viemWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, positionOf } = world;

const wallet = () => viemWallet(local(), account);
const positions = async () => (await world.client.walletPositions({ address: user })).positions;
/** An amount for each test: the chain goes back after a test, and the plans that were started stay so. */
const borrowPlan = (positionId: string, amount: string) =>
  world.client.manageBuild({ positionId, userAddress: user, action: 'borrow', amount });
async function openedId(): Promise<string> {
  const { outcome } = await execute(await openPlan(), wallet(), options());
  return outcome.positions[0]?.positionId ?? '';
}
const loanBalance = () =>
  local().client.readContract({ address: market.loan.address, abi: erc20Abi, functionName: 'balanceOf', args: [user] });
/** The request of the plan, for a copy that no client of this process has built. */
const asRequested = (positionId: string, amount: string) => ({
  request: { row: 'manageBuild', input: { positionId, userAddress: user, action: 'borrow', amount } } as const,
});
const refused = { code: 'already_started', retryable: false };

describe('a plan is started once', () => {
  test('error: called twice at once, a borrow is executed once', async () => {
    const plan = await borrowPlan(await openedId(), '5');
    const before = await loanBalance();
    const [first, second] = await Promise.allSettled([
      execute(plan, wallet(), options()),
      execute(plan, wallet(), options()),
    ]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: { ...refused, isRunning: true, sent: [] } });
    expect((await loanBalance()) - before).toBe(5_000_000n);
  });

  test('error: called again afterwards, with copies too, it is refused with the hashes that were sent', async () => {
    const positionId = await openedId();
    const plan = await borrowPlan(positionId, '6');
    const { receipts } = await execute(plan, wallet(), options());
    const before = await loanBalance();
    const earlier = receipts.map(({ transactionHash }) => transactionHash);
    const proof = asRequested(positionId, '6');
    const altered = { ...plan.tx, to: plan.tx.to.toLowerCase(), data: plan.tx.data.toUpperCase().replace('0X', '0x') };
    for (const [copy, more] of [
      [plan, {}],
      [{ ...plan }, { proof }],
      [structuredClone(plan), { proof: 'none' }],
      [JSON.parse(JSON.stringify(plan)), { proof }],
      [{ ...plan, tx: altered }, { proof: 'none' }],
    ] as const) {
      const error = await failureOf(execute(copy, wallet(), options(more)));
      expect(error).toMatchObject({ ...refused, isRunning: false, earlier, sent: [] });
      expect(error.message).toContain('client.rebuild');
    }
    expect(await loanBalance()).toBe(before);
  });

  test('behavior: a copy started first blocks the plan, and another build of the same request is another plan', async () => {
    const positionId = await openedId();
    const [plan, another] = [await borrowPlan(positionId, '7'), await borrowPlan(positionId, '7')];
    const before = await loanBalance();
    await execute(another, wallet(), options());
    await execute(await world.client.rebuild(another), wallet(), options());
    await execute(structuredClone(plan), wallet(), options({ proof: 'none', startAgain: true }));
    expect(await failureOf(execute(plan, wallet(), options()))).toMatchObject(refused);
    expect((await loanBalance()) - before).toBe(21_000_000n);
  });

  test('behavior: startAgain executes a plan once more', async () => {
    const plan = await borrowPlan(await openedId(), '8');
    const before = await loanBalance();
    await execute(plan, wallet(), options());
    await execute(plan, wallet(), options({ startAgain: true }));
    expect((await loanBalance()) - before).toBe(16_000_000n);
  });

  test('behavior: startAgain sends a plan with its approvals again, and opens a second position', async () => {
    const plan = await openPlan({ amount: '100' });
    await execute(plan, wallet(), options());
    const { outcome } = await execute(plan, wallet(), options({ startAgain: true }));
    expect(outcome.positions).toMatchObject([{ event: 'LeveragePositionOpened', index: 1n }]);
  });

  test('error: an expired plan that was built again is started too, and so is the plan in its place', async () => {
    const plan = await openPlan();
    world.service.clock.advance(61_000);
    const again = options({ rebuild: world.client.rebuild, maxWorsePct: 1 });
    const [first, second] = await Promise.allSettled([execute(plan, wallet(), again), execute(plan, wallet(), again)]);
    expect(second).toMatchObject({ status: 'rejected', reason: refused });
    if (first.status === 'rejected') throw first.reason;
    const rebuilt = first.value.plan;
    for (const started of [plan, rebuilt, structuredClone(rebuilt)]) {
      expect(await failureOf(execute(started, wallet(), { ...again, proof: 'none' }))).toMatchObject(refused);
    }
    expect(await positions()).toHaveLength(1);
  });

  test('error: a rebuild that returns a plan of another execution is refused', async () => {
    const shared = openPlan();
    const lapsed = async (): Promise<TransactionBundle> => {
      const plan = await openPlan();
      return Object.assign(plan, { meta: { ...plan.meta, expiresAt: new Date(0).toISOString() } });
    };
    const again = options({ rebuild: () => shared as Promise<Plan>, maxWorsePct: Number.POSITIVE_INFINITY });
    const plans = [await lapsed(), await lapsed()] as const;
    const done = await Promise.allSettled(plans.map((plan) => execute(plan, wallet(), again)));
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(done.find(({ status }) => status === 'rejected')).toMatchObject({ reason: refused });
    expect((await positionOf(0n)).open).toBe(true);
    expect(await positions()).toHaveLength(1);
  });
});

describe('the plan may be started again', () => {
  test.each([
    ['the user has refused the first request', { eth_sendTransaction: walletFailure(4001, 'denied') }, 'rejected'],
    ['its first call would revert', { eth_estimateGas: walletFailure(3, 'reverted') }, 'would_revert'],
    ['the wallet is on another chain', { eth_chainId: () => '0x1237' }, 'wrong_chain'],
  ])('behavior: where %s', async (_, methods, code) => {
    const plan = await openPlan();
    const refusing = injectedWallet(local(), methods);
    expect(await failureOf(execute(plan, refusing, options({ account: user })))).toMatchObject({ code, sent: [] });
    await execute(plan, wallet(), options());
  });

  test('behavior: where the user has refused the batch', async () => {
    const plan = await openPlan();
    const { provider } = await batchingWallet(local(), user);
    let asked = 0;
    const once = {
      request: (call: Json) => {
        if (call.method !== 'wallet_sendCalls' || asked++ > 0) return provider.request(call as never);
        return walletFailure(4001, 'denied')();
      },
    };
    expect(await failureOf(execute(plan, once, options()))).toMatchObject({ code: 'rejected' });
    expect(await execute(plan, once, options())).toMatchObject({ mode: 'batch' });
  });
});

describe('error: the plan is not started again', () => {
  test.each([
    ['the wallet gave no hash', { eth_sendTransaction: () => null }, 'wallet_failed'],
    ['the wallet failed', { eth_sendTransaction: walletFailure(-32_603, 'internal') }, 'wallet_failed'],
  ])('where %s', async (_, methods, code) => {
    const plan = await openPlan();
    const failing = injectedWallet(local(), methods);
    expect(await failureOf(execute(plan, failing, options({ account: user })))).toMatchObject({ code, sent: [] });
    expect(await failureOf(execute(plan, wallet(), options()))).toMatchObject({ ...refused, earlier: [] });
  });

  test('where an approval was sent before the user refused', async () => {
    const plan = await openPlan();
    const error = await failureOf(execute(plan, refusingAt(1), options({ account: user })));
    expect(error).toMatchObject({ code: 'rejected', sent: [expect.any(String)] });
    expect(await failureOf(execute(plan, wallet(), options()))).toMatchObject({ ...refused, earlier: error.sent });
    await execute(await world.client.rebuild(plan), wallet(), options());
    expect(await positions()).toHaveLength(1);
  });

  test('where the caller has left while the wallet shows the request', async () => {
    const plan = await openPlan();
    const abort = new AbortController();
    const open = injectedWallet(local(), { eth_sendTransaction: () => new Promise(() => {}) });
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'signing') setImmediate(() => abort.abort(new Error('left')));
    };
    const leaving = execute(plan, open, options({ account: user, signal: abort.signal, onProgress }));
    expect(await failureOf(leaving)).toMatchObject({ message: 'left' });
    expect(await failureOf(execute(plan, wallet(), options()))).toMatchObject(refused);
  });
});

/** A wallet whose user refuses its request of a number, from 0. */
function refusingAt(index: number) {
  let asked = 0;
  return injectedWallet(local(), {
    eth_sendTransaction: ([call]) =>
      asked++ === index
        ? walletFailure(4001, 'denied')()
        : local().client.request({ method: 'eth_sendTransaction', params: [call] } as never),
  });
}

describe('allowances', () => {
  test('behavior: after a refusal at the second call the error names the allowance that is left', async () => {
    const plan = await openPlan();
    const error = await failureOf(execute(plan, refusingAt(1), options({ account: user })));
    const token = market.collateral.address.toLowerCase();
    const amount = 1_000n * 10n ** 18n;
    const spender = plan.tx.to.toLowerCase();
    expect(error.allowances).toMatchObject([{ chainId: 1, token, spender, amount, call: { from: user } }]);
    expect(error.message).toContain(`${amount}`);
    const [{ call, check }] = error.allowances;
    const left = () =>
      local().client.request({ method: 'eth_call', params: [check, 'latest'] } as never) as Promise<`0x${string}`>;
    expect(BigInt(await left())).toBe(amount);
    const hash: `0x${string}` = await local().client.request({
      method: 'eth_sendTransaction',
      params: [call],
    } as never);
    await local().client.waitForTransactionReceipt({ hash });
    expect(BigInt(await left())).toBe(0n);
  });

  test('behavior: none is named where nothing was approved, or where it was spent', async () => {
    const nothing = await failureOf(execute(await openPlan(), refusingAt(0), options({ account: user })));
    expect(nothing).toMatchObject({ code: 'rejected', allowances: [] });
    const vault = world.vaults.vault('SPY');
    await world.vaults.fund(user, vault, 5_000_000_000n);
    const plan = await world.client.equityDepositBuild({ strategyId: vault.id, amount: '5000', userAddress: user });
    let asked = 0;
    const chain = world.vaults.local;
    const last = injectedWallet(chain, {
      eth_sendTransaction: ([call]) =>
        asked++ === plan.calls.length - 1
          ? walletFailure(4001, 'denied')()
          : chain.client.request({ method: 'eth_sendTransaction', params: [call] } as never),
    });
    const spent = await failureOf(execute(plan, last, options({ account: user })));
    expect(spent).toMatchObject({ code: 'rejected', isRevoked: false, allowances: [] });
  });

  test('behavior: one of an approval that is still pending is named, and one that the node does not tell', async () => {
    const silent = injectedWallet(local(), { eth_getTransactionReceipt: () => null });
    const pending = await failureOf(execute(await openPlan(), silent, options({ account: user, receiptTimeoutMs: 1 })));
    const amount = 1_000n * 10n ** 18n;
    expect(pending).toMatchObject({ code: 'receipt_timeout', allowances: [{ amount }] });
  });

  test('behavior: one that the node does not tell is named', async () => {
    let isMined = false;
    const lost = injectedWallet(local(), {
      eth_sendTransaction: ([call]) => {
        if (isMined) return walletFailure(4001, 'denied')();
        isMined = true;
        return local().client.request({ method: 'eth_sendTransaction', params: [call] } as never);
      },
      eth_call: ([call]) =>
        call.data.startsWith('0xdd62ed3e')
          ? walletFailure(-32_000, 'down')()
          : local().client.request({ method: 'eth_call', params: [call, 'latest'] } as never),
    });
    const untold = await failureOf(execute(await openPlan({ amount: '900' }), lost, options({ account: user })));
    expect(untold).toMatchObject({ code: 'rejected', allowances: [{ amount: 900n * 10n ** 18n }] });
  });

  test('behavior: the reason of a signal has them too', async () => {
    const abort = new AbortController();
    const left = new Error('left');
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'mined') abort.abort(left);
    };
    const plan = await openPlan();
    const leaving = execute(plan, wallet(), options({ signal: abort.signal, onProgress }));
    expect(await failureOf(leaving)).toBe(left);
    expect(left).toMatchObject({ allowances: [{ amount: 1_000n * 10n ** 18n }] });
  });

  test('behavior: a part of a batch that has approved only leaves one', async () => {
    const { provider } = await batchingWallet(local(), user);
    const partly = {
      async request(call: Json) {
        if (call.method === 'wallet_sendCalls') {
          const [batch] = call.params;
          return provider.request({ ...call, params: [{ ...batch, calls: batch.calls.slice(0, 1) }] } as never);
        }
        const answer = (await provider.request(call as never)) as Json;
        return call.method === 'wallet_getCallsStatus' ? { ...answer, status: 600 } : answer;
      },
    };
    const error = await failureOf(execute(await openPlan(), partly, options()));
    expect(error).toMatchObject({ code: 'reverted', allowances: [{ amount: 1_000n * 10n ** 18n }] });
  });
});
