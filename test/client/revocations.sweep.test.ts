import { describe, expect, test } from 'vitest';
import { type Eip1193Provider, execute, type Progress } from '../../packages/client/src/index.ts';
import { failureOf, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, injectedWallet, walletFailure } from '../support/wallets.ts';

const world = useExecution();
const { options } = world;
const chain = () => world.vaults.local;
const sign = (call: unknown) => chain().client.request({ method: 'eth_sendTransaction', params: [call] } as never);

function promised(): readonly [Promise<void>, () => void] {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return [promise, resolve];
}

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

  test('behavior: a grant that is signed after the signal has aborted is revoked once it is mined', async () => {
    const plan = await depositPlan();
    const abort = new AbortController();
    const left = new Error('left');
    const [approved, approve] = promised();
    const [finished, finish] = promised();
    const wallet = injectedWallet(chain(), {
      eth_sendTransaction: async ([call]) => {
        if (call.data === plan.calls[1]?.data) {
          setImmediate(() => abort.abort(left));
          await approved;
        }
        return sign(call);
      },
    });
    const reports: Progress[] = [];
    const onProgress = (progress: Progress) => {
      reports.push(progress);
      if (progress.kind === 'mined' && progress.index === 3) finish();
    };
    const leaving = execute(plan, wallet, options({ account: user, signal: abort.signal, onProgress }));
    expect(await failureOf(leaving)).toBe(left);
    expect(left).toMatchObject({ isRevoked: false });
    expect(await world.vaults.isAuthorized(user)).toBe(false);
    approve();
    await finished;
    expect(await world.vaults.isAuthorized(user)).toBe(false);
    const late = reports.slice(reports.findIndex(({ kind }) => kind === 'revoking') + 1);
    expect(late.map(({ kind }) => kind)).toEqual(['sent', 'mined', 'revoking', 'signing', 'sent', 'mined']);
  });
});

describe('a wallet that executes a part of a batch', () => {
  /** It runs the first calls of a batch and says what the status says. */
  async function partly(count: number, status: Json, methods: Json = {}): Promise<Eip1193Provider> {
    const { provider } = await batchingWallet(chain(), user);
    return {
      async request(call) {
        if (methods[call.method]) return methods[call.method](call.params);
        if (call.method === 'wallet_sendCalls') {
          const [batch] = call.params as Json[];
          return provider.request({ ...call, params: [{ ...batch, calls: batch.calls.slice(0, count) }] });
        }
        const answer = (await provider.request(call)) as Json;
        return call.method === 'wallet_getCallsStatus' ? { ...answer, ...status } : answer;
      },
    };
  }

  test.each([
    ['says so', 2, { status: 600, atomic: false }, 'reverted'],
    ['is not atomic', 2, { atomic: false }, 'wallet_failed'],
    ['says that all is executed', 2, {}, 'unexpected_outcome'],
    ['says that all is reverted', 2, { status: 500 }, 'reverted'],
  ])('behavior: revokes the authorization that is left, where it %s', async (_, count, status, code) => {
    const error = await failureOf(execute(await depositPlan(), await partly(count, status), options()));
    expect(error).toMatchObject({ code, isRevoked: true });
    expect(error.sent).toEqual(['0xba7c4', expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });

  test('behavior: revokes the authorization where the wallet leaves out the revocation alone', async () => {
    const done = await execute(await depositPlan(), await partly(3, {}), options());
    expect(done.outcome.positions).toMatchObject([{ event: 'LeveragePositionOpened' }]);
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });

  test('error: says that the authorization is left where its revocation is refused', async () => {
    const refusing = { eth_sendTransaction: walletFailure(4001, 'denied') };
    const plan = await depositPlan();
    const error = await failureOf(execute(plan, await partly(2, { status: 600 }, refusing), options()));
    expect(error).toMatchObject({ code: 'reverted', isPartial: true, isRevoked: false });
    expect(await world.vaults.isAuthorized(user)).toBe(true);
  });

  test('behavior: revokes the authorization that a pending batch has left, where the caller aborts', async () => {
    const abort = new AbortController();
    const left = new Error('left');
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'batch_sent') setImmediate(() => abort.abort(left));
    };
    const wallet = await partly(2, { status: 100 });
    const leaving = execute(await depositPlan(), wallet, options({ signal: abort.signal, onProgress }));
    expect(await failureOf(leaving)).toBe(left);
    expect(left).toMatchObject({ isRevoked: true });
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });

  test('error: says that the authorization of a pending batch is left where it is not revoked in time', async () => {
    const plan = await depositPlan();
    const asked: string[] = [];
    const eth_sendTransaction = ([call]: readonly Json[]) => {
      asked.push(call.data);
      return walletFailure(4001, 'denied')();
    };
    const wallet = await partly(2, { status: 100 }, { eth_sendTransaction });
    const error = await failureOf(execute(plan, wallet, options({ receiptTimeoutMs: 1 })));
    expect(error).toMatchObject({ code: 'receipt_timeout', isRevoked: false });
    expect(asked).toEqual([plan.calls.at(-1)?.data]);
    expect(await world.vaults.isAuthorized(user)).toBe(true);
  });

  test('error: says that an authorization may be left where neither the wallet nor the node tells', async () => {
    const eth_call = ([call]: readonly Json[]) =>
      call.data.startsWith('0x65e4ad9e')
        ? walletFailure(-32_000, 'down')()
        : chain().client.request({ method: 'eth_call', params: [call, 'latest'] } as never);
    const wallet = await partly(2, { status: 100 }, { eth_call });
    const error = await failureOf(execute(await depositPlan(), wallet, options({ receiptTimeoutMs: 1 })));
    expect(error).toMatchObject({ code: 'receipt_timeout', isRevoked: false });
  });

  test.each([
    ['signed', 'wallet_sendCalls'],
    ['executed', 'wallet_getCallsStatus'],
  ])('behavior: a part of a batch that is %s after the signal has aborted is revoked', async (_, method) => {
    const abort = new AbortController();
    const left = new Error('left');
    const [approved, approve] = promised();
    const [finished, finish] = promised();
    const partial = await partly(2, { status: 600 });
    let sent: Json;
    const wallet: Eip1193Provider = {
      async request(call) {
        if (call.method === 'wallet_sendCalls') {
          sent = call;
          if (method === call.method) {
            setImmediate(() => abort.abort(left));
            await approved;
            return partial.request(call);
          }
          return { id: '0xba7c4' };
        }
        if (call.method === 'wallet_getCallsStatus' && method === call.method) {
          abort.abort(left);
          await approved;
          if (sent) await partial.request(sent);
          sent = undefined;
        }
        return partial.request(call);
      },
    };
    const reports: Progress[] = [];
    const onProgress = (progress: Progress) => {
      reports.push(progress);
      if (progress.kind === 'mined') finish();
    };
    const leaving = execute(await depositPlan(), wallet, options({ signal: abort.signal, onProgress }));
    expect(await failureOf(leaving)).toBe(left);
    expect(left).toMatchObject({ message: 'left' });
    expect(await world.vaults.isAuthorized(user)).toBe(false);
    approve();
    await finished;
    expect(await world.vaults.isAuthorized(user)).toBe(false);
    expect(reports.map(({ kind }) => kind).slice(-4)).toEqual(['revoking', 'signing', 'sent', 'mined']);
  });

  test('behavior: an authorization from before is not revoked where the batch fails', async () => {
    const plan = await depositPlan();
    const grant = plan.calls[1];
    await sign({ from: user, to: grant?.to, data: grant?.data });
    const asked: string[] = [];
    const eth_sendTransaction = () => asked.push('transaction');
    const methods = { wallet_sendCalls: walletFailure(-32_603, 'failed'), eth_sendTransaction };
    const error = await failureOf(execute(plan, await partly(2, {}, methods), options()));
    expect(error).toMatchObject({ code: 'wallet_failed', isRevoked: undefined });
    expect(asked).toEqual([]);
    expect(await world.vaults.isAuthorized(user)).toBe(true);
  });

  test('error: says that an authorization may be left where the wallet gives no id', async () => {
    const wallet = await partly(2, {}, { wallet_sendCalls: () => ({}) });
    const error = await failureOf(execute(await depositPlan(), wallet, options()));
    expect(error).toMatchObject({ code: 'wallet_failed', isRevoked: false });
  });

  test('behavior: an abort while the prompt of a batch is open ends execute at once, also where the node does not answer', async () => {
    const abort = new AbortController();
    const left = new Error('left');
    let reads = 0;
    const eth_call = ([call]: readonly Json[]) =>
      call.data.startsWith('0x65e4ad9e') && ++reads > 1
        ? new Promise(() => {})
        : chain().client.request({ method: 'eth_call', params: [call, 'latest'] } as never);
    const wallet_sendCalls = () => {
      setImmediate(() => abort.abort(left));
      return new Promise(() => {});
    };
    const wallet = await partly(2, {}, { wallet_sendCalls, eth_call });
    expect(await failureOf(execute(await depositPlan(), wallet, options({ signal: abort.signal })))).toBe(left);
  });

  test('behavior: nothing is revoked where the user refuses the batch', async () => {
    const asked: string[] = [];
    const eth_sendTransaction = () => asked.push('transaction');
    const refusing = await partly(2, {}, { wallet_sendCalls: walletFailure(4001, 'denied'), eth_sendTransaction });
    const error = await failureOf(execute(await depositPlan(), refusing, options()));
    expect(error).toMatchObject({ code: 'rejected', isRevoked: undefined });
    expect(asked).toEqual([]);
  });

  test('behavior: nothing is asked for where no authorization is left', async () => {
    const asked: string[] = [];
    const wallet = await partly(1, { status: 600 }, { eth_sendTransaction: () => asked.push('transaction') });
    const error = await failureOf(execute(await depositPlan(), wallet, options()));
    expect(error).toMatchObject({ code: 'reverted', isRevoked: undefined });
    expect(asked).toEqual([]);
  });

  test('behavior: a batch that is executed as a whole is done, also where the caller aborts or the node fails then', async () => {
    const failing = injectedWallet(chain(), {
      eth_call: ([call]) =>
        call.data.startsWith('0x65e4ad9e')
          ? walletFailure(-32_000, 'down')()
          : chain().client.request({ method: 'eth_call', params: [call, 'latest'] } as never),
    });
    const { provider, requests } = await batchingWallet(chain(), user);
    const abort = new AbortController();
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'mined') abort.abort(new Error('left'));
    };
    const reports: string[] = [];
    const listing = { reader: failing, onProgress: ({ kind }: Progress) => void reports.push(kind) };
    for (const more of [{ signal: abort.signal, onProgress }, listing]) {
      const done = await execute(await depositPlan(), provider, options(more));
      expect(done.receipts).toHaveLength(1);
    }
    expect(requests).toHaveLength(2);
    expect(reports).not.toContain('revoking');
  });

  test('error: the wallet leaves out the revocation, and refuses it', async () => {
    const refusing = { eth_sendTransaction: walletFailure(4001, 'denied') };
    const error = await failureOf(execute(await depositPlan(), await partly(3, {}, refusing), options()));
    expect(error).toMatchObject({ code: 'wallet_failed', isRevoked: false, sent: ['0xba7c4'] });
    expect(await world.vaults.isAuthorized(user)).toBe(true);
  });
});
