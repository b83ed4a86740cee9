import { describe, expect, test, vi } from 'vitest';
import {
  type Eip1193Provider,
  type ExecuteOptions,
  execute,
  type Plan,
  type Progress,
  type TransactionBundle,
} from '../../packages/client/src/index.ts';
import { account, failureOf, market, otherAccount, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { injectedWallet, viemWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, positionOf, hasPosition } = world;

/** The plan with quotes that lapsed a second ago. */
const lapsed = <P extends TransactionBundle>(plan: P): P => ({
  ...plan,
  meta: { ...plan.meta, expiresAt: new Date(world.service.clock.now() - 1_000).toISOString() },
});
describe('one transaction for each call', () => {
  test('default: opens with a viem wallet, closes with an injected one, and reports the outcome', async () => {
    const kinds: Progress['kind'][] = [];
    const plan = await openPlan();
    const done = await execute(
      plan,
      viemWallet(local(), account),
      options({ onProgress: ({ kind }) => kinds.push(kind) }),
    );
    expect(done).toMatchObject({ plan, account: user, mode: 'transactions', proof: { action: 'open_leverage' } });
    expect(kinds).toEqual(['proven', 'checked', ...plan.approvals.flatMap(() => STEP), ...STEP]);
    const [change] = done.outcome.positions;
    const { userProxy } = await positionOf(0n);
    expect(change).toMatchObject({
      event: 'LeveragePositionOpened',
      index: 0n,
      positionId: `1-${market.id}-0`,
      marketId: market.id,
      proxy: userProxy.toLowerCase(),
    });
    const paid = { token: market.collateral.address.toLowerCase(), in: 0n, out: 1_000n * 10n ** 18n };
    expect(done.outcome.tokens).toEqual([paid]);
    expect(done.outcome.gasPaid).toBeGreaterThan(0n);

    const close = await world.client.manageBuild({
      positionId: change?.positionId ?? '',
      userAddress: user,
      action: 'close',
    });
    const closed = await execute(close, injectedWallet(local()), options({ account: user }));
    expect(closed.outcome.positions.map(({ event }) => event)).toContain('LeveragePositionClosed');
    const [loan] = closed.outcome.tokens;
    expect(loan?.token).toBe(market.loan.address.toLowerCase());
    expect(loan?.in).toBeGreaterThan(0n);
    expect((await positionOf(0n)).open).toBe(false);
  });
  const STEP = ['signing', 'sent', 'mined'] as const;

  test('behavior: an expired plan is built again with the same input, and the new one is reported and executed', async () => {
    const plan = await openPlan();
    world.service.clock.advance(61_000);
    const reports: Progress[] = [];
    const done = await execute(
      plan,
      viemWallet(local(), account),
      options({ rebuild: world.client.rebuild, maxWorsePct: 1, onProgress: (progress) => reports.push(progress) }),
    );
    expect(done.plan).not.toBe(plan);
    expect(reports[0]).toMatchObject({ kind: 'rebuilt', comparison: { worsePct: expect.any(Number) } });
    expect(await hasPosition()).toBe(true);
  });

  test('behavior: quotes that lapse between approval and transaction are renewed', async () => {
    const plan = await openPlan();
    expect(plan.approvals.length).toBeGreaterThan(0);
    const kinds: string[] = [];
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'mined' && !kinds.includes('mined')) world.service.clock.advance(61_000);
      kinds.push(kind);
    };
    await execute(
      plan,
      viemWallet(local(), account),
      options({ rebuild: world.client.rebuild, maxWorsePct: 1, onProgress }),
    );
    const once = ['proven', 'checked', 'signing', 'sent', 'mined'];
    expect(kinds).toEqual([...once, 'rebuilt', ...once]);
    expect(await hasPosition()).toBe(true);
  });

  test('error: a rebuilt plan that is worse is not sent unless it is accepted', async () => {
    const plan = lapsed(await openPlan());
    const worse = async (): Promise<Plan> => {
      const fresh = await openPlan();
      const preview = { ...fresh.meta.positionPreview, worstCase: { equity: '1000', ltv: '80' } };
      return { ...fresh, meta: { ...fresh.meta, positionPreview: preview } };
    };
    const wallet = viemWallet(local(), account);
    const refused = await failureOf(execute(plan, wallet, options({ rebuild: worse })));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
    expect(refused.comparison.worse).toMatchObject([{ what: 'worstCase.equity', after: '1000' }]);
    expect(refused.comparison.worsePct).toBeGreaterThan(10);
    const accepting = options({ rebuild: worse, acceptWorse: ({ worsePct }) => worsePct < 20, proof: 'none' });
    await execute(plan, wallet, accepting);
    expect(await hasPosition()).toBe(true);
  });

  test.each<[string, (plan: TransactionBundle) => Promise<Plan>, string]>([
    ['another chain', async (plan) => ({ ...plan, chainId: 4663 }), 'invalid_plan'],
    ['another action', async (plan) => ({ ...plan, action: 'close' }), 'invalid_plan'],
    [
      'a larger approval',
      async (plan) => ({ ...plan, approvals: [...plan.approvals, ...plan.approvals] }),
      'worse_plan',
    ],
    [
      'another target',
      async (plan) => ({ ...plan, approvals: [], tx: { ...plan.tx, to: otherAccount.address } }),
      'invalid_plan',
    ],
    [
      'a spender of its own',
      async (plan) => ({ ...plan, tx: { ...plan.tx, to: otherAccount.address } }),
      'invalid_plan',
    ],
    [
      'a higher LTV',
      async (plan) => {
        const { positionPreview } = plan.meta as Json;
        const worstCase = { ...positionPreview.worstCase, ltv: '95' };
        return { ...plan, meta: { ...plan.meta, positionPreview: { ...positionPreview, worstCase } } };
      },
      'worse_plan',
    ],
    ['native value', async (plan) => ({ ...plan, tx: { ...plan.tx, value: '1' } }), 'worse_plan'],
    ['the same plan again', async (plan) => plan, 'expired'],
  ])('error: a rebuilt plan with %s is refused', async (_, rebuild, code) => {
    const plan = lapsed(await openPlan());
    const refused = await failureOf(
      execute(plan, viemWallet(local(), account), options({ rebuild: () => rebuild(plan) })),
    );
    expect(refused).toMatchObject({ code, sent: [] });
  });
});

describe('checks before anything is sent', () => {
  const check = async (methods: Parameters<typeof injectedWallet>[1], more: ExecuteOptions = {}, plan?: Plan) =>
    failureOf(
      execute(
        plan === undefined ? await openPlan() : plan,
        injectedWallet(local(), methods),
        options({ account: user, ...more }),
      ),
    );
  const nothing = { sent: [] };

  test.each<[string, Parameters<typeof injectedWallet>[1], object]>([
    ['a wallet on another chain', { eth_chainId: () => '0x1237' }, { code: 'wrong_chain', expected: 1 }],
    ['a wallet that contradicts its node', { net_version: () => '4663' }, { code: 'wrong_chain' }],
    ['a chain id that is no number', { eth_chainId: () => 'mainnet' }, { code: 'wallet_failed' }],
    ['a node without the contracts', { eth_getCode: () => '0x' }, { code: 'no_code' }],
    ['a node that reads nothing', { eth_call: () => '0x0' }, { code: 'wallet_failed' }],
    ['a node that estimates nonsense', { eth_estimateGas: () => 'much' }, { code: 'wallet_failed' }],
    ['a call that would revert', { eth_estimateGas: walletFailure(3, 'reverted') }, { code: 'would_revert' }],
    ['a user who refuses', { eth_sendTransaction: walletFailure(4001, 'denied') }, { code: 'rejected' }],
    ['a wallet that fails', { eth_sendTransaction: walletFailure(-32603, 'internal') }, { code: 'wallet_failed' }],
    ['a wallet that gives no hash', { eth_sendTransaction: () => null }, { code: 'wallet_failed' }],
  ])('error: %s', async (_, methods, expected) => {
    expect(await check(methods)).toMatchObject({ ...expected, ...nothing });
    expect(await hasPosition()).toBe(false);
  });

  test('error: a reader of your own that is on another chain, and a wallet without an account', async () => {
    const reader = injectedWallet(world.vaults.local);
    expect(await check({}, { reader })).toMatchObject({ code: 'wrong_chain', ...nothing });
    const plan = await openPlan();
    const closed = injectedWallet(local(), { eth_accounts: () => [] });
    expect(await failureOf(execute(plan, closed, options()))).toMatchObject({ code: 'wallet_failed' });
  });

  test('error: a plan for another account, a viem client of another account, and a wallet that changes its chain', async () => {
    const stranger = otherAccount.address;
    expect(await check({}, { account: stranger })).toMatchObject({ code: 'invalid_plan', ...nothing });
    const foreign = execute(await openPlan(), viemWallet(local(), account), options({ account: stranger }));
    expect(await failureOf(foreign)).toMatchObject({ code: 'wallet_failed', ...nothing });
    let asked = 0;
    const eth_chainId = () => {
      asked += 1;
      return asked === 1 ? '0x1' : '0x1237';
    };
    expect(await check({ eth_chainId })).toMatchObject({ code: 'wrong_chain', ...nothing });
    expect(await hasPosition()).toBe(false);
  });

  test('error: an expired plan without rebuild, also by the clock of the chain alone', async () => {
    const plan = lapsed(await openPlan());
    const expired = { code: 'expired', retryable: true, ...nothing };
    expect(await check({}, {}, plan)).toMatchObject(expired);
    const { timestamp } = await local().client.getBlock();
    const byBlock = { ...plan, meta: { ...plan.meta, expiresAt: new Date(Number(timestamp) * 1_000).toISOString() } };
    expect(await check({}, { now: () => 0 }, byBlock)).toMatchObject(expired);
  });

  test('error: the own check of the caller, an aborted signal, and malformed plans', async () => {
    const mine = new Error('not what I asked for');
    expect(await check({}, { check: () => Promise.reject(mine) })).toBe(mine);
    const reason = new Error('left');
    expect(await check({}, { signal: AbortSignal.abort(reason) })).toBe(reason);
    const plan = await openPlan();
    for (const broken of [
      null,
      {},
      { ...plan, chainId: '1' },
      { ...plan, tx: { to: '0x1', data: '0x' } },
      { ...plan, calls: [plan.tx] },
      { ...plan, tx: { ...plan.tx, to: otherAccount.address } },
      { ...plan, approvals: [], tx: { ...plan.tx, to: user } },
      { ...plan, tx: { ...plan.tx, data: '0xabc' } },
      { ...plan, tx: { ...plan.tx, value: '-1' } },
      { ...plan, approvals: Array(51).fill(plan.tx) },
      { ...plan, meta: { expiresAt: 'soon' } },
    ]) {
      expect(await check({}, {}, broken as never)).toMatchObject({ code: 'invalid_plan', ...nothing });
    }
    expect(await hasPosition()).toBe(false);
  });
});

describe('the fate of a transaction', () => {
  const without = async (): Promise<TransactionBundle> => ({ ...(await openPlan()), approvals: [] });
  const sending = (methods: Parameters<typeof injectedWallet>[1]) => injectedWallet(local(), methods);
  const fees = (gwei: number) => ({
    maxFeePerGas: `0x${(gwei * 1e9).toString(16)}`,
    maxPriorityFeePerGas: `0x${(gwei * 1e9).toString(16)}`,
  });
  /** A wallet whose user replaces the transaction before it is mined. */
  const replacing = (change: (sent: Json) => Json): Eip1193Provider =>
    sending({
      eth_sendTransaction: async ([sent]) => {
        const { client: node } = local();
        const send = (tx: Json) => node.request({ method: 'eth_sendTransaction', params: [tx] } as never);
        await node.setAutomine(false);
        const nonce = `0x${(await node.getTransactionCount({ address: user })).toString(16)}`;
        const hash = await send({ ...sent, nonce, ...fees(3) });
        await send({ ...change(sent), nonce, ...fees(30) });
        await node.mine({ blocks: 1 });
        await node.setAutomine(true);
        return hash;
      },
    });
  const run = (plan: Plan, wallet: Eip1193Provider, more: ExecuteOptions = {}) =>
    execute(plan, wallet, options({ account: user, ...more }));

  test('error: RevertedError, with the hash', async () => {
    const plan = await without();
    const wallet = sending({ eth_estimateGas: () => '0x4c4b40' });
    const reverted = await failureOf(run(plan, wallet, { proof: 'none' }));
    expect(reverted).toMatchObject({ code: 'reverted', hash: expect.stringMatching(/^0x/) });
    expect(reverted.sent).toEqual([reverted.hash]);
  });

  test('error: ReplacedError with the other transaction; a raised fee is followed', async () => {
    const plan = await openPlan();
    const cancelled = await failureOf(
      run(
        plan,
        replacing(({ from }) => ({ from, to: from, value: '0x0' })),
      ),
    );
    expect(cancelled).toMatchObject({ code: 'replaced', replacement: expect.stringMatching(/^0x/) });
    expect(cancelled.replacement).not.toBe(cancelled.hash);
    const kinds: string[] = [];
    await run(
      plan,
      replacing((sent) => sent),
      { startAgain: true, onProgress: ({ kind }) => kinds.push(kind) },
    );
    expect(kinds).toContain('repriced');
    expect(await hasPosition()).toBe(true);
  });

  test('error: ReceiptTimeoutError when no receipt comes, or only lies', async () => {
    const plan = await openPlan();
    const hash = `0x${'1'.repeat(64)}`;
    for (const answer of [() => null, () => ({ status: '0x1' }), walletFailure(-32000, 'node down')]) {
      const lost = { eth_getTransactionReceipt: answer, eth_sendTransaction: () => hash };
      const more = { startAgain: true, receiptTimeoutMs: 20, wait: async () => {} };
      const error = await failureOf(run(plan, sending(lost), more));
      expect(error).toMatchObject({ code: 'receipt_timeout', id: hash, sent: [hash] });
    }
  });

  test('error: the hash of another transaction, of the account or not, and of one from before', async () => {
    const plan = await openPlan();
    const node = local().client;
    const send = (tx: Json) =>
      node.request({ method: 'eth_sendTransaction', params: [tx] } as never) as Promise<string>;
    const before = await send({ from: user, to: user, value: '0x1' });
    await node.mine({ blocks: 1 });
    for (const answer of [
      () => before,
      () => send({ from: user, to: user, value: '0x2' }),
      ([sent]: readonly Json[]) => send({ ...sent, from: otherAccount.address }),
    ]) {
      const error = await failureOf(run(plan, sending({ eth_sendTransaction: answer }), { startAgain: true }));
      expect(error).toMatchObject({ code: 'wallet_failed', sent: [expect.stringMatching(/^0x/)] });
      expect(error.message).toContain(error.sent[0]);
    }
    expect(await hasPosition()).toBe(false);
  });

  test('error: the account is switched between approval and transaction', async () => {
    const shown = [user];
    const wallet = sending({ eth_accounts: () => shown });
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'mined') shown[0] = otherAccount.address;
    };
    const error = await failureOf(run(await openPlan(), wallet, { onProgress }));
    expect(error).toMatchObject({ code: 'wallet_failed', sent: [expect.stringMatching(/^0x/)] });
    expect(error.message).toContain(otherAccount.address);
  });

  test('behavior: the time of slow reads counts as time of waiting', async () => {
    let reads = 0;
    let nowMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const slow = () => {
      reads += 1;
      nowMs += 15_000;
      return null;
    };
    const wallet = sending({ eth_getTransactionReceipt: slow, eth_sendTransaction: () => `0x${'1'.repeat(64)}` });
    const error = await failureOf(run(await openPlan(), wallet, { receiptTimeoutMs: 60_000 }));
    clock.mockRestore();
    expect(error).toMatchObject({ code: 'receipt_timeout' });
    expect(reads).toBeLessThan(10);
  });

  test('behavior: waits for the requested confirmations', async () => {
    const plan = await openPlan();
    let waits = 0;
    const wait = async () => {
      waits += 1;
      await local().client.mine({ blocks: 1 });
    };
    await run(plan, sending({}), { confirmations: 3, wait });
    expect(waits).toBe(2 * (plan.approvals.length + 1));
  });
});
