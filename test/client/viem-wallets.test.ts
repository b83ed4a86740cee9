import { createWalletClient, custom, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { createRpc } from '../../packages/client/src/execute/wallet.ts';
import type { Json } from '../support/service.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const call = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: 7n };
const HASH = `0x${'33'.repeat(32)}`;

/** A client of viem over a provider of which methods are replaced, and everything that the provider was asked. */
function viemClient(of: Json, methods: Readonly<Record<string, (params: Json) => unknown>> = {}) {
  const asked: Json[] = [];
  const request = async ({ method, params }: Json) => {
    asked.push({ method, params });
    const own = methods[method];
    if (own !== undefined) return own(params);
    if (method === 'eth_getBlockByNumber') return { number: '0x1', timestamp: '0x1', baseFeePerGas: '0x1' };
    if (method === 'eth_fillTransaction') throw Object.assign(new Error('no such method'), { code: -32601 });
    return '0x1';
  };
  return { client: createWalletClient({ account: of, transport: custom({ request }) }), asked };
}

const failing = (failure: object) => () => Promise.reject(Object.assign(new Error('took too long'), failure));
const countOf = (asked: readonly Json[], method: string) => asked.filter((each) => each.method === method).length;

describe('a client of viem', () => {
  test.each([
    ['an internal error', { code: -32603 }],
    ['a failure without a code', {}],
  ])('error: a batch that the wallet may have executed is not asked for again after %s', async (_, failure) => {
    const { client, asked } = viemClient(account, { wallet_sendCalls: failing(failure) });
    const sent = createRpc(client).request('wallet_sendCalls', [{}]);
    await expect(sent).rejects.toMatchObject({ code: 'wallet_failed' });
    expect(countOf(asked, 'wallet_sendCalls')).toBe(1);
  });

  test('behavior: a transaction that the wallet signs is asked for once, with the chain of its plan', async () => {
    const { client, asked } = viemClient(account.address, { eth_sendTransaction: failing({ code: -32603 }) });
    await expect(createRpc(client).send(account.address, call, 100_000n, 4663)).rejects.toMatchObject({
      code: 'wallet_failed',
    });
    const sent = asked.filter(({ method }) => method === 'eth_sendTransaction');
    expect(sent.map(({ params }) => params)).toEqual([[expect.objectContaining({ chainId: '0x1237', value: '0x7' })]]);
  });

  test('behavior: a local account signs for the chain of the plan, even if the node names another chain', async () => {
    const signed: Json[] = [];
    const { client } = viemClient(account, {
      eth_chainId: () => '0x1237',
      eth_sendRawTransaction: ([raw]) => {
        signed.push(parseTransaction(raw));
        return HASH;
      },
    });
    expect(await createRpc(client).send(account.address, call, 100_000n, 1)).toBe(HASH);
    expect(signed).toMatchObject([{ ...call, chainId: 1 }]);
  });

  test('error: nothing is signed for a chain that the node fills in', async () => {
    const filled = { chainId: '0x1237', nonce: '0x0', gas: '0x5208', maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x1' };
    const { client, asked } = viemClient(account, {
      eth_fillTransaction: ([given]) => ({ raw: '0x', tx: { ...given, ...filled, type: '0x2', input: given.data } }),
    });
    const refused = createRpc(client).send(account.address, call, 100_000n, 1);
    await expect(refused).rejects.toMatchObject({ code: 'wrong_chain', expected: 1 });
    expect(countOf(asked, 'eth_sendRawTransaction')).toBe(0);
  });
});
