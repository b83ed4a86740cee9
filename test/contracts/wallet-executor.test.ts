import { decodeFunctionResult, type Hex, pad, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/chain/anvil.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { WALLET_EXECUTOR_CODE } from '../../src/abi/generated/wallet-executor.ts';
import { walletExecutorAbi } from '../../src/abi/wallet-executor.ts';

const START_SEC = 1_700_000_000;
const [WALLET, TARGET, OTHER] = (['0xcafe1', '0xcafe2', '0xcafe3'] as const).map((end) => pad(end, { size: 20 })) as [
  Hex,
  Hex,
  Hex,
];
/** Returns sender, origin, value and the first word of its data; counts in slot 0. */
const TELLS: Hex = '0x335f5232602052346040525f356060525f54600101805f5560805260a05ff3';
/** Reverts with the word 7. */
const REVERTS: Hex = '0x60075f5260205ffd';

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, timestamp: START_SEC, history: 10 });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [{ timestamp: START_SEC + 12 }] });
  await fetch(anvil.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
});
afterAll(() => anvil?.stop());

interface Step {
  readonly to: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly isRead?: boolean;
  readonly tailOf?: bigint;
  readonly tailWord?: bigint;
}

async function call(params: object): Promise<{ result?: Hex; error?: { message: string } }> {
  const overrides = {
    [WALLET]: { code: WALLET_EXECUTOR_CODE, balance: '0xffff' },
    [TARGET]: { code: TELLS },
    [OTHER]: { code: REVERTS },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [params, 'latest', overrides] });
  const answer = await fetch(anvil.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return (await answer.json()) as { result?: Hex };
}

async function run(steps: readonly Step[]) {
  const full = steps.map(({ data = '0x', value = 0n, isRead = false, tailOf = 0n, tailWord = 0n, to }) => ({
    to,
    data,
    value,
    isRead,
    tailOf,
    tailWord,
  }));
  const data = encodeFunctionData({ abi: walletExecutorAbi, functionName: 'run', args: [full] });
  const { result } = await call({ from: WALLET, to: WALLET, data });
  return decodeFunctionResult({ abi: walletExecutorAbi, functionName: 'run', data: result ?? '0x' });
}

const words = (data: Hex): readonly bigint[] =>
  (data.slice(2).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`));

describe('WalletExecutor', () => {
  it('default: the wallet is sender and origin, and calls share state', async () => {
    const [timestamp, [first, second]] = await run([
      { to: TARGET, data: pad('0x05'), value: 9n },
      { to: TARGET, data: pad('0x06') },
    ]);
    expect(timestamp).toBe(BigInt(START_SEC + 12));
    expect([first?.ok, words(first?.data ?? '0x')]).toEqual([true, [BigInt(WALLET), BigInt(WALLET), 9n, 5n, 1n]]);
    expect(words(second?.data ?? '0x')).toEqual([BigInt(WALLET), BigInt(WALLET), 0n, 6n, 2n]);
    expect(Number(first?.gasUsed)).toBeGreaterThan(20_000);
  });

  it('behavior: stops after a reverting call; a read may revert and changes nothing', async () => {
    const [, results] = await run([
      { to: TARGET, isRead: true },
      { to: OTHER, isRead: true },
      { to: TARGET },
      { to: OTHER },
      { to: TARGET },
    ]);
    expect(results.map(({ ok }) => ok)).toEqual([false, false, true, false, false]);
    expect(words(results[2]?.data ?? '0x').at(-1)).toBe(1n);
    expect([words(results[3]?.data ?? '0x'), results[4]?.data]).toEqual([[7n], '0x']);
  });

  it('behavior: a word of an earlier answer is appended to the data', async () => {
    const [, results] = await run([
      { to: TARGET, data: pad('0x2a') },
      // The second word from the end: the sent value.
      { to: TARGET, tailOf: 1n, tailWord: 2n },
      { to: TARGET, tailOf: 1n, tailWord: 6n },
      // The fifth of five: the sender.
      { to: TARGET, tailOf: 1n, tailWord: 5n },
    ]);
    expect(words(results[1]?.data ?? '0x')[3]).toBe(42n);
    // There is no sixth word: nothing is made up.
    expect(words(results[2]?.data ?? '0x')[3]).toBe(0n);
    expect(words(results[3]?.data ?? '0x')[3]).toBe(BigInt(WALLET));
  });

  it('behavior: only the wallet itself can run it, and transfers to the wallet arrive', async () => {
    const data = encodeFunctionData({ abi: walletExecutorAbi, functionName: 'run', args: [[]] });
    expect((await call({ from: OTHER, to: WALLET, data })).error?.message).toContain('revert');
    const other = encodeFunctionData({ abi: parseAbi(['function anything(uint256)']), args: [1n] });
    expect((await call({ from: OTHER, to: WALLET, data: other })).result).toBe('0x');
  });
});
