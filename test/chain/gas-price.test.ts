import { numberToHex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGasPrices } from '../../src/chain/gas-price.ts';
import { fixedNode } from './fixed-node.ts';
import { type ScriptedNode, startScriptedNode } from './scripted-node.ts';

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

let node: ScriptedNode;
let gasPriceOf: ReturnType<typeof createGasPrices>;
beforeEach(async () => {
  node = await startScriptedNode(MULTICALL3, () => 'revert');
  gasPriceOf = createGasPrices(new Map([[1, fixedNode({ rpcUrl: node.url })]]));
});
afterEach(() => node.close());

const say = (price: bigint) => node.methods.set('eth_gasPrice', () => numberToHex(price));

describe('createGasPrices', () => {
  test("default: returns the node's price with one request for many quotes", async () => {
    say(37_123_456_789n);
    expect(await Promise.all([gasPriceOf(1), gasPriceOf(1)])).toEqual([37_123_456_789n, 37_123_456_789n]);
    expect(await gasPriceOf(1)).toBe(37_123_456_789n);
    // Its newest block, and the price.
    expect(node.requests).toBe(2);
  });

  test.each([
    ['zero', 0n],
    ['absurd', 10n ** 30n],
  ])('behavior: unknown for an answer that is %s', async (_, price) => {
    say(price);
    expect(await gasPriceOf(1)).toBeUndefined();
  });

  test('behavior: unknown while the node fails, then requested again', async () => {
    node.broken = { status: 500 };
    expect(await gasPriceOf(1)).toBeUndefined();
    node.broken = null;
    say(5n);
    expect(await gasPriceOf(1)).toBe(5n);
  });

  test('behavior: unknown for a chain without a node', async () => {
    expect(await gasPriceOf(4663)).toBeUndefined();
  });
});
