import { encodeFunctionResult } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { WALLET_EXECUTOR_CODE } from '../../src/abi/generated/wallet-executor.ts';
import { walletExecutorAbi } from '../../src/abi/wallet-executor.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Hex } from '../../src/shared/ids.ts';
import {
  call,
  decimals,
  input,
  type Node,
  OTHER,
  simulatorOn,
  symbol,
  TOKEN,
  text,
  token,
  USER,
  word,
} from './simulation-world.ts';

describe('by the executor at the address of the wallet', () => {
  const result = (ok: boolean, data: Hex, gasUsed: bigint) => ({ ok, data, gasUsed });
  const answered = (results: readonly ReturnType<typeof result>[]) =>
    encodeFunctionResult({ abi: walletExecutorAbi, functionName: 'run', result: [100n, [...results]] });
  const RESULTS = [
    result(true, word(6), 1n),
    result(true, '0x', 1_000n),
    result(true, word(7), 2n),
    result(true, '0x', 2_000n),
    result(true, text, 4n),
  ];
  const executor = (answer: unknown, more: Node = {}) =>
    simulatorOn({ simulateV1: 'missing', ...more, answers: { ...more.answers, eth_call: answer } });

  test('default: runs the same steps in one call, and adds the gas of transactions', async () => {
    const { simulator, asked, ways } = executor(answered(RESULTS));
    const calls = [call('0xaa00', 3n), call('0xbb', 4n)];
    const tail = { of: decimals, word: 2 };
    const observations = [
      { afterCalls: 0, read: decimals },
      { afterCalls: 1, read: decimals },
      { afterCalls: 2, read: symbol, tail },
    ];
    const simulation = await simulator.simulate(input({ calls, observations, nativeBalance: 0n }));
    expect(simulation).toMatchObject({
      simulated: true,
      way: 'executor',
      timestamp: 100n,
      answers: [7, 7, 'USDC'],
      // 21,000 each, 4 for a zero byte and 16 for another one.
      gasUsed: 1_000n + 21_000n + 16n + 4n + 2_000n + 21_000n + 16n,
    });
    expect(ways).toEqual(['executor']);
    const [{ data, ...tx } = { data: '0x' as Hex }, at, overrides] = (asked[0]?.params ?? []) as readonly {
      data: Hex;
    }[];
    expect([tx, at, overrides]).toEqual([
      { from: USER, to: USER },
      '0x10',
      { [USER]: { balance: '0x7', code: WALLET_EXECUTOR_CODE } },
    ]);
    const { args } = decodeFunctionData({ abi: walletExecutorAbi, data });
    const none = { tailOf: 0n, tailWord: 0n };
    expect(args[0]).toEqual([
      { to: TOKEN, value: 0n, data: decimals.data, isRead: true, ...none },
      { to: OTHER, value: 3n, data: '0xaa00', isRead: false, ...none },
      { to: TOKEN, value: 0n, data: decimals.data, isRead: true, ...none },
      { to: OTHER, value: 4n, data: '0xbb', isRead: false, ...none },
      // The latest place of the read whose answer it continues, from 1.
      { to: TOKEN, value: 0n, data: symbol.data, isRead: true, tailOf: 3n, tailWord: 2n },
    ]);
  });

  test('error: SimulationReverted ends the run', async () => {
    const { simulator } = executor(
      answered([...RESULTS.slice(0, 3), result(false, '0xdeadbeef', 1n), ...RESULTS.slice(4)]),
    );
    await expect(simulator.simulate(input())).rejects.toMatchObject({ details: { callIndex: 1 } });
  });

  test.each([
    ['rubbish', '0x1234'],
    ['a result too few', answered(RESULTS.slice(1))],
  ])('error: malformed for %s', async (_, answer) => {
    await expect(executor(answer).simulator.simulate(input())).rejects.toMatchObject({ reason: 'malformed' });
  });

  test('behavior: takes over where the simulation of the node fails, which is not asked again', async () => {
    for (const reason of ['server_error', 'malformed'] as const) {
      const { simulator, ways, distrusted } = executor(answered(RESULTS), {
        simulateV1: 'works',
        answers: { eth_simulateV1: new ChainReadError(reason) },
      });
      expect(await simulator.simulate(input())).toMatchObject({ simulated: true, way: 'executor' });
      expect([ways, distrusted]).toEqual([['simulate_v1', 'executor'], ['simulateV1']]);
    }
  });

  test('behavior: the simulation of the node is trusted while the executor fails as well, or is not needed', async () => {
    const both = executor(new ChainReadError('timeout'), {
      simulateV1: 'works',
      answers: { eth_simulateV1: new ChainReadError('server_error') },
    });
    await expect(both.simulator.simulate(input())).rejects.toMatchObject({ reason: 'timeout' });
    const alone = executor(answered(RESULTS));
    await alone.simulator.simulate(input());
    expect([both.distrusted, alone.distrusted]).toEqual([[], []]);
  });

  test.each([
    ['a node that does not answer', 'timeout', 'works'],
    ['a node without overrides', 'server_error', 'missing'],
  ] as const)('error: that of %s', async (_, reason, stateOverrides) => {
    const { simulator, ways } = executor(answered(RESULTS), {
      simulateV1: 'works',
      stateOverrides,
      answers: { eth_simulateV1: new ChainReadError(reason) },
    });
    await expect(simulator.simulate(input())).rejects.toMatchObject({ reason });
    expect(ways).toEqual(['simulate_v1']);
  });

  test('behavior: a node with neither simulates nothing, and is asked nothing', async () => {
    const { simulator, asked, ways } = simulatorOn({ simulateV1: 'missing', stateOverrides: 'missing' });
    const pays = { token, amount: 10n, balance: 0n };
    expect(await simulator.simulate(input({ pays }))).toEqual({ simulated: false, lacking: 'node' });
    expect([asked, ways]).toEqual([[], ['none']]);
  });
});
