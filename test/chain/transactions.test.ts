import { getAddress, type Hex, numberToHex, pad } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHeadReader, type ReadHead } from '../../src/chain/transactions.ts';
import { fixedNode } from './fixed-node.ts';
import { type ScriptedNode, startScriptedNode } from './scripted-node.ts';

const HASH: Hex = `0x${'12'.repeat(32)}`;
const SENDER = getAddress(pad('0x5e', { size: 20 }));
const blockHash = (number: bigint) => numberToHex(number, { size: 32 });

let node: ScriptedNode;
let read: ReadHead;
const answer = (method: string, result: unknown) => node.methods.set(method, () => result);
const receiptAt = (number: bigint, more: object = {}) =>
  answer('eth_getTransactionReceipt', {
    transactionHash: HASH,
    blockHash: blockHash(number),
    blockNumber: numberToHex(number),
    status: '0x1',
    ...more,
  });
beforeEach(async () => {
  node = await startScriptedNode(getAddress(pad('0xca11', { size: 20 })), () => 'revert');
  node.blockNumber = 100n;
  read = createHeadReader(fixedNode({ rpcUrl: node.url }));
  answer('eth_getTransactionReceipt', null);
  answer('eth_getTransactionByHash', null);
  node.methods.set('eth_getBlockByNumber', ([number]) => ({ hash: blockHash(BigInt(String(number))) }));
});
afterEach(() => node.close());
const stateOf = async (slot?: { from: Hex; nonce: bigint }) => {
  const { transactions } = await read([{ hash: HASH, slot: slot as never }]);
  return transactions.get(HASH);
};

describe('createHeadReader', () => {
  test('default: the newest block, without a transaction', async () => {
    const { block, transactions } = await read([]);
    expect([block.number, transactions.size]).toEqual([100n, 0]);
  });

  test('behavior: an included one with its block and outcome', async () => {
    receiptAt(100n);
    expect(await stateOf()).toEqual({ kind: 'included', blockNumber: 100n, succeeded: true });
    receiptAt(100n, { status: '0x0' });
    expect(await stateOf()).toEqual({ kind: 'included', blockNumber: 100n, succeeded: false });
  });

  test('behavior: a block that the node has not reached yet is not looked up', async () => {
    receiptAt(103n);
    expect(await stateOf()).toEqual({ kind: 'included', blockNumber: 103n, succeeded: true });
  });

  test('behavior: a receipt of a block that a reorganization has removed does not count', async () => {
    receiptAt(100n, { blockHash: blockHash(9_999n) });
    expect(await stateOf()).toEqual({ kind: 'unknown' });
    answer('eth_getTransactionByHash', { hash: HASH, from: SENDER, nonce: '0x7' });
    expect(await stateOf()).toEqual({ kind: 'pending', from: SENDER, nonce: 7n });
  });

  test('behavior: replaced when its nonce is used by another one, unknown as long as it is not', async () => {
    const slot = { from: SENDER, nonce: 7n };
    answer('eth_getTransactionCount', '0x7');
    expect(await stateOf(slot)).toEqual({ kind: 'unknown' });
    answer('eth_getTransactionCount', '0x8');
    expect(await stateOf(slot)).toEqual({ kind: 'replaced' });
  });

  test.each([
    ['a receipt of another transaction', () => receiptAt(100n, { transactionHash: `0x${'34'.repeat(32)}` })],
    ['a receipt without a status', () => receiptAt(100n, { status: undefined })],
    ['a block number beyond any chain', () => receiptAt(100n, { blockNumber: `0x${'f'.repeat(40)}` })],
    [
      'a transaction that is another one',
      () => answer('eth_getTransactionByHash', { hash: `0x${'34'.repeat(32)}`, from: SENDER, nonce: '0x7' }),
    ],
    ['a text', () => answer('eth_getTransactionReceipt', 'included')],
  ])('error: ChainReadError for %s', async (_name, arrange) => {
    arrange();
    await expect(stateOf()).rejects.toMatchObject({ code: 'upstream_unavailable', reason: 'malformed' });
  });
});
