import { describe, expect, test } from 'vitest';
import { type Eip1193Provider, execute } from '../../packages/client/src/index.ts';
import { account, failureOf, otherAccount, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, injectedWallet, viemWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan } = world;

describe('vaults', () => {
  const chain = () => world.vaults.local;
  const depositPlan = async () => {
    const vault = world.vaults.vault('SPY');
    await world.vaults.fund(user, vault, 5_000_000_000n);
    return world.client.equityDepositBuild({ strategyId: vault.id, amount: '5000', userAddress: user });
  };

  test('default: a wallet with batches deposits in one transaction; one without exits in order', async () => {
    const plan = await depositPlan();
    const { provider, requests } = await batchingWallet(chain(), user);
    const done = await execute(plan, provider, options());
    expect(done).toMatchObject({ mode: 'batch', account: user });
    expect(done.receipts).toHaveLength(1);
    expect(requests).toMatchObject([{ version: '2.0.0', chainId: '0x1237', from: user, atomicRequired: true }]);
    expect(done.outcome.positions).toMatchObject([{ event: 'LeveragePositionOpened', index: 0n }]);
    expect(done.outcome.tokens).toContainEqual(expect.objectContaining({ out: 5_000_000_000n }));
    expect(await world.vaults.isAuthorized(user)).toBe(false);

    const exiting = { strategyId: plan.strategyId, userAddress: user, maxSwapLossPct: 5, minAmountOut: '5000' };
    const exit = await world.client.equityExitBuild(exiting);
    const more = { row: 'equityExitBuild', input: { ...exiting, minAmountOut: '50000' } } as const;
    const demanding = execute(exit, viemWallet(chain(), account), options({ proof: { request: more } }));
    expect(await failureOf(demanding)).toMatchObject({ code: 'unproven', cause: { code: 'minimum' }, sent: [] });
    const left = await execute(exit, viemWallet(chain(), account), options({ reader: injectedWallet(chain()) }));
    expect(left).toMatchObject({ mode: 'transactions', proof: { readings: 'node' } });
    expect(left.outcome.positions.map(({ event }) => event)).toContain('LeveragePositionClosed');
    expect((await world.vaults.loops(user)).some(({ open }) => open)).toBe(false);
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });

  test('behavior: an exit without a list leaves a position of the wallet on the market of its loops', async () => {
    const { provider } = await batchingWallet(chain(), user);
    await execute(await depositPlan(), provider, options());
    const vault = world.vaults.vault('SPY');
    const { yieldMarket } = vault;
    await chain().mint(yieldMarket.collateral, user, 10n ** BigInt(yieldMarket.collateral.decimals + 2));
    const open = { strategyId: yieldMarket.id, payToken: yieldMarket.collateral.address, amount: '100', leverage: 2 };
    const own = await world.client.leverageBuild({ ...open, userAddress: user });
    await execute(own, viemWallet(chain(), account), options());
    const exit = await world.client.equityExitBuild({ strategyId: vault.id, userAddress: user, maxSwapLossPct: 5 });
    const { proof } = await execute(exit, viemWallet(chain(), account), options());
    expect(proof?.assumptions.join(' ')).toContain('those that the plan closes are all of them (0)');
    expect((await world.vaults.loops(user)).map(({ open }) => open)).toEqual([false, true]);
  });

  test('behavior: after a failure the authorization is revoked before the error is thrown', async () => {
    const plan = await depositPlan();
    const failing = plan.calls.map((call, i) => (i === 2 ? { ...call, data: '0xdeadbeef' } : call));
    const unproven = options({ proof: 'none' });
    const failed = await failureOf(execute({ ...plan, calls: failing }, viemWallet(chain(), account), unproven));
    expect(failed).toMatchObject({ code: 'would_revert', isRevoked: true });
    expect(failed.sent).toHaveLength(3);
    expect(await world.vaults.isAuthorized(user)).toBe(false);
    const refusing = injectedWallet(chain(), {
      eth_sendTransaction: ([call]) =>
        call.to === plan.calls[2]?.to
          ? walletFailure(4001, 'denied')()
          : chain().client.request({ method: 'eth_sendTransaction', params: [call] } as never),
    });
    const again = await failureOf(execute(plan, refusing, options({ account: user })));
    expect(again).toMatchObject({ code: 'rejected', isRevoked: true });
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });

  test('behavior: nothing is revoked, or said to be open, when the grant itself was refused', async () => {
    const plan = await depositPlan();
    const asked: string[] = [];
    const grant = plan.calls.findIndex(({ data }) => data.startsWith('0xeecea000'));
    const refusing = injectedWallet(chain(), {
      eth_sendTransaction: ([call]) => {
        asked.push(call.data.slice(0, 10));
        return asked.length > grant
          ? walletFailure(4001, 'denied')()
          : chain().client.request({ method: 'eth_sendTransaction', params: [call] } as never);
      },
    });
    const refused = await failureOf(execute(plan, refusing, options({ account: user })));
    expect(refused).toMatchObject({ code: 'rejected', isRevoked: undefined });
    expect(asked).toHaveLength(grant + 1);
  });

  test('behavior: says that the authorization is still given when quotes lapse and its revocation fails', async () => {
    const plan = await depositPlan();
    const last = plan.calls.at(-1)?.data;
    const wallet = injectedWallet(chain(), {
      eth_sendTransaction: ([call]) =>
        call.data === last
          ? walletFailure(4001, 'denied')()
          : chain().client.request({ method: 'eth_sendTransaction', params: [call] } as never),
    });
    let mined = 0;
    const onProgress = ({ kind }: { readonly kind: string }) => {
      if (kind === 'mined') mined += 1;
      if (kind === 'mined' && mined === 2) world.service.clock.advance(61_000);
    };
    const expired = await failureOf(execute(plan, wallet, options({ account: user, onProgress })));
    expect(expired).toMatchObject({ code: 'expired', isRevoked: false });
    expect(await world.vaults.isAuthorized(user)).toBe(true);
  });

  test('behavior: a revocation that is not mined at once is waited for after the caller has aborted', async () => {
    const plan = await depositPlan();
    const abort = new AbortController();
    const reason = Object.freeze(new Error('left'));
    const onProgress = ({ kind, index }: { readonly kind: string; readonly index?: number }) => {
      if (kind === 'mined' && index === 1) abort.abort(reason);
    };
    let unknown = 2;
    const late = injectedWallet(chain(), {
      eth_getTransactionReceipt: ([hash]) => {
        if (abort.signal.aborted && unknown > 0) {
          unknown -= 1;
          return null;
        }
        return chain().client.request({ method: 'eth_getTransactionReceipt', params: [hash] } as never);
      },
    });
    const left = execute(plan, late, options({ account: user, onProgress, signal: abort.signal }));
    await expect(left).rejects.toBe(reason);
    expect(unknown).toBe(0);
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });

  test('error: a batch of another id, of another chain, and one whose transaction is older than it', async () => {
    const older = await chain().client.request({
      method: 'eth_sendTransaction',
      params: [{ from: user, to: user, value: '0x0' }],
    } as never);
    await chain().client.mine({ blocks: 1 });
    for (const [status, code] of [
      [{ status: 200, id: '0xother' }, 'wallet_failed'],
      [{ status: 100, id: '0xother' }, 'wallet_failed'],
      [{ status: 100, id: undefined }, 'wallet_failed'],
      [{ status: 100, id: 7 }, 'wallet_failed'],
      [{ status: 100, chainId: '0x1' }, 'wrong_chain'],
      [{ status: 100, chainId: undefined }, 'wallet_failed'],
      [{ status: 100, chainId: 4663 }, 'wallet_failed'],
      [{ status: 100, chainId: '4663' }, 'wallet_failed'],
      [{ status: 200, chainId: '0x1' }, 'wrong_chain'],
      [{ status: 200, receipts: [{ transactionHash: older }] }, 'wallet_failed'],
    ] as const) {
      const { provider } = await batchingWallet(chain(), user, status);
      expect(await failureOf(execute(await depositPlan(), provider, options()))).toMatchObject({ code });
    }
  });

  test('error: the transaction of somebody else, and one that is named twice', async () => {
    const plan = await depositPlan();
    const foreign = async () => {
      const params = [{ from: otherAccount.address, to: otherAccount.address, value: '0x1' }];
      return chain().client.request({ method: 'eth_sendTransaction', params } as never) as Promise<string>;
    };
    const status: Json = { status: 200, receipts: [] };
    const { provider } = await batchingWallet(chain(), user, status);
    const naming: Eip1193Provider = {
      async request(call) {
        if (call.method === 'wallet_sendCalls') status.receipts.push({ transactionHash: await foreign() });
        return provider.request(call);
      },
    };
    const lacking = await failureOf(execute(plan, naming, options()));
    expect(lacking).toMatchObject({ code: 'unexpected_outcome', sent: ['0xba7c4'] });
    expect(lacking.missing).toEqual(['the event LeveragePositionOpened', 'the payment of 5000 USDG']);
    expect(lacking.outcome).toEqual({ positions: [], lending: [], tokens: [], gasPaid: undefined });

    const honest = await batchingWallet(chain(), user);
    const twice: Eip1193Provider = {
      async request(call) {
        const answer = (await honest.provider.request(call)) as Json;
        if (call.method !== 'wallet_getCallsStatus') return answer;
        const [{ transactionHash }] = answer.receipts;
        const capitals = `0x${transactionHash.slice(2).toUpperCase()}`;
        return { ...answer, receipts: [...answer.receipts, { transactionHash: capitals }] };
      },
    };
    const done = await execute(plan, twice, options({ startAgain: true }));
    expect(done.receipts).toHaveLength(1);
    // Another account has sent the transaction, and has paid its gas.
    expect(done.outcome).toMatchObject({ positions: [{ index: 0n }], gasPaid: undefined });
    const [paid] = done.outcome.tokens.filter(({ out }) => out > 0n);
    expect(paid?.out).toBe(5_000_000_000n);
  });

  test('behavior: a node behind that of the wallet is asked again, and confirmations count for batches', async () => {
    const { provider } = await batchingWallet(chain(), user);
    let missing = 2;
    const reader = injectedWallet(chain(), {
      eth_getTransactionReceipt: ([hash]) => {
        missing -= 1;
        return missing >= 0
          ? null
          : chain().client.request({ method: 'eth_getTransactionReceipt', params: [hash] } as never);
      },
    });
    let waits = 0;
    const wait = async () => {
      waits += 1;
      if (missing < 0) await chain().client.mine({ blocks: 1 });
    };
    const done = await execute(await depositPlan(), provider, options({ reader, confirmations: 3, wait }));
    expect([done.mode, waits]).toEqual(['batch', 4]);
  });

  test.each([
    [{ status: 400 }, { code: 'wallet_failed' }],
    [{ status: 299.5 }, { code: 'wallet_failed', message: expect.stringContaining('status 299.5') }],
    [{ status: 'done' }, { code: 'wallet_failed', message: expect.stringContaining('status "done"') }],
    [
      { status: 200, atomic: 'false' },
      { code: 'wallet_failed', message: expect.stringContaining('atomic "false"') },
    ],
    [{ status: 500 }, { code: 'reverted', isPartial: false }],
    [{ status: 600 }, { code: 'reverted', isPartial: true }],
    [{ status: 100 }, { code: 'receipt_timeout', id: '0xba7c4' }],
    [
      { status: 200, atomic: undefined },
      { code: 'wallet_failed', message: expect.stringContaining('no atomic') },
    ],
    [
      { status: 100, atomic: undefined },
      { code: 'receipt_timeout', id: '0xba7c4' },
    ],
    [
      { status: 500, atomic: undefined },
      { code: 'reverted', isPartial: false },
    ],
    [
      { status: 100, atomic: null },
      { code: 'receipt_timeout', id: '0xba7c4' },
    ],
    [
      { status: 110, atomic: 'no' },
      { code: 'wallet_failed', message: expect.stringContaining('atomic "no"') },
    ],
    [{ status: null }, { code: 'wallet_failed', message: expect.stringContaining('status null') }],
    [
      { status: 200, receipts: undefined },
      { code: 'wallet_failed', message: expect.stringContaining('no receipts') },
    ],
    [
      { status: 200, receipts: {} },
      { code: 'wallet_failed', message: expect.stringContaining('no receipts') },
    ],
    [
      { status: 200, receipts: [] },
      { code: 'wallet_failed', message: expect.stringContaining('0 transactions') },
    ],
    [
      { status: 200, receipts: [null] },
      { code: 'wallet_failed', message: expect.stringContaining('no hash') },
    ],
    [
      { status: 200, receipts: [{ status: '0x1' }] },
      { code: 'wallet_failed', message: expect.stringContaining('no hash') },
    ],
    [
      { status: 200, receipts: [{ transactionHash: '0x1', status: '0x1' }] },
      { code: 'wallet_failed', message: expect.stringContaining('no hash') },
    ],
    [
      { status: 200, receipts: ['1', '2'].map((digit) => ({ transactionHash: `0x${digit.repeat(64)}` })) },
      { code: 'wallet_failed', message: expect.stringContaining('2 transactions') },
    ],
    [
      { status: 200, receipts: [{ transactionHash: `0x${'2'.repeat(64)}`, status: '0x0' }] },
      { code: 'wallet_failed', message: expect.stringContaining('status "0x0"') },
    ],
    [{ status: 200, receipts: [{ transactionHash: `0x${'2'.repeat(64)}` }] }, { code: 'wallet_failed' }],
  ])('error: a batch with %j', async (status, expected) => {
    const { provider } = await batchingWallet(chain(), user, status);
    const more = { receiptTimeoutMs: 20, wait: async () => {} };
    expect(await failureOf(execute(await depositPlan(), provider, options(more)))).toMatchObject(expected);
  });
});

test('error: an answer about a batch that is none, and one without a status', async () => {
  for (const [answer, said] of [
    [null, 'null'],
    ['CONFIRMED', '"CONFIRMED"'],
    [[], 'a list'],
    [{ id: '0xba7c4', chainId: '0x1', atomic: true }, 'no status'],
  ] as const) {
    const { provider } = await batchingWallet(local(), user, { status: 100 });
    const absurd: Eip1193Provider = {
      request: async (call) => (call.method === 'wallet_getCallsStatus' ? answer : provider.request(call)),
    };
    const more = { receiptTimeoutMs: 20, wait: async () => {} };
    const error = await failureOf(execute(await openPlan(), absurd, options(more)));
    expect(error).toMatchObject({ code: 'wallet_failed', sent: ['0xba7c4'], message: expect.stringContaining(said) });
  }
});
