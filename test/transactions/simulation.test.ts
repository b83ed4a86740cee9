import {
  type AbiParameter,
  concat,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  keccak256,
  numberToHex,
  pad,
  zeroHash,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { WALLET_EXECUTOR_CODE } from '../../src/abi/generated/wallet-executor.ts';
import { walletExecutorAbi } from '../../src/abi/wallet-executor.ts';
import type { Reading } from '../../src/chain/reading.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Session } from '../../src/chain/rpc/session.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { SimulationRevertedError } from '../../src/transactions/errors.ts';
import { readOf } from '../../src/transactions/read/reads.ts';
import { createBalanceSlots } from '../../src/transactions/simulate/balance-slot.ts';
import { createSimulator, type SimulationInput } from '../../src/transactions/simulate/simulate.ts';
import type { BuiltCall, PayToken } from '../../src/transactions/types.ts';

const USER: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TOKEN: Address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const OTHER: Address = '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8';
const token: PayToken = { address: TOKEN, symbol: 'USDC', decimals: 6, isNative: false, resetsApproval: false };

interface Node {
  readonly simulateV1?: 'works' | 'missing';
  readonly stateOverrides?: 'works' | 'missing';
  /** Answers of `eth_simulateV1` and of calls of the executor; an error is thrown. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** What reads a balance with overridden slots; `undefined` = nothing. */
  readonly balance?: (stateDiff: Readonly<Record<Hex, Hex>>) => unknown;
}

/** A simulator on one node, with all that it is asked. */
function simulatorOn({ simulateV1 = 'works', stateOverrides = 'works', answers = {}, balance }: Node) {
  const asked: { readonly method: string; readonly params: readonly never[] }[] = [];
  const [ways, distrusted]: [string[], string[]] = [[], []];
  const reading = {
    at: '0x10',
    capabilities: async () => ({ simulateV1, stateOverrides }),
    distrust: (method: string) => distrusted.push(method),
    client: {
      request: async ({ method, params }: { readonly method: string; readonly params: readonly never[] }) => {
        asked.push({ method, params });
        const [call, , overrides] = params as readonly { readonly to?: Address }[];
        const isProbe = method === 'eth_call' && call?.to !== USER;
        const answer = isProbe
          ? balance?.(
              (overrides as Record<Address, { stateDiff: Record<Hex, Hex> }>)[call?.to ?? TOKEN]?.stateDiff ?? {},
            )
          : answers[method];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  } as unknown as Reading;
  const session = { run: <T>(work: (on: Reading) => Promise<T>) => work(reading) } as unknown as Session;
  const slots = createBalanceSlots();
  const simulator = createSimulator(session, slots, (way) => ways.push(way));
  return { simulator, slots, reading, asked, ways, distrusted };
}

const call = (data: Hex, value = 0n): BuiltCall => ({ to: OTHER, data, value, action: { type: 'x', args: {} } });
const decimals = readOf(TOKEN, erc20Abi, 'decimals', []);
const symbol = readOf(TOKEN, erc20Abi, 'symbol', []);
const word = (value: bigint | number) => pad(numberToHex(value), { size: 32 });
const input = (more: Partial<SimulationInput> = {}): SimulationInput => ({
  ...{ user: USER, calls: [call('0xaa', 3n), call('0xbb', 4n)], nativeBalance: 7n },
  observations: [
    { afterCalls: 0, read: decimals },
    { afterCalls: 2, read: symbol },
    { afterCalls: 1, read: decimals },
  ],
  ...more,
});
const done = (returnData: Hex, gasUsed = 100, more: object = {}) => ({
  ...{ status: '0x1', returnData, gasUsed: numberToHex(gasUsed), logs: [] },
  ...more,
});
const text = encodeAbiParameters([{ type: 'string' }] as const satisfies readonly AbiParameter[], ['USDC']);
/** Of the steps: read, call, read, call, read. */
const BLOCK = [
  {
    timestamp: '0x64',
    calls: [done(word(6), 1), done('0x', 1_000), done(word(7), 2), done('0x', 2_000), done(text, 4)],
  },
];
const withCall = (at: number, change: object) => [
  { ...BLOCK[0], calls: BLOCK[0]?.calls.map((one, i) => (i === at ? { ...one, ...change } : one)) },
];
const simulateV1 = (answer: unknown, more: Node = {}) =>
  simulatorOn({ ...more, answers: { ...more.answers, eth_simulateV1: answer } });

describe('by the simulation of the node', () => {
  test('default: reads between the calls, the gas of the calls alone, and the time of the block', async () => {
    const { simulator, asked, ways } = simulateV1(BLOCK);
    const simulation = await simulator.simulate(input());
    expect(simulation).toEqual({
      ...{ simulated: true, way: 'simulate_v1', gasUsed: 3_000n, timestamp: 100n },
      movements: { fills: [], repaid: [] },
      answers: [7, 'USDC', 7],
    });
    const step = (to: Address, data: Hex, value: Hex) => ({ from: USER, to, data, value });
    expect(asked).toEqual([
      {
        method: 'eth_simulateV1',
        params: [
          {
            blockStateCalls: [
              {
                stateOverrides: {},
                calls: [
                  step(TOKEN, decimals.data, '0x0'),
                  step(OTHER, '0xaa', '0x3'),
                  step(TOKEN, decimals.data, '0x0'),
                  step(OTHER, '0xbb', '0x4'),
                  step(TOKEN, symbol.data, '0x0'),
                ],
              },
            ],
          },
          '0x10',
        ],
      },
    ]);
    expect(ways).toEqual(['simulate_v1']);
  });

  test('behavior: a read that reverts, or that cannot be decoded, has no answer', async () => {
    const { simulator } = simulateV1(withCall(4, { status: '0x0', returnData: '0x1234' }));
    expect(await simulator.simulate(input())).toMatchObject({ simulated: true, answers: [7, undefined, 7] });
    const damaged = simulateV1(withCall(4, { returnData: '0x12' }));
    expect(await damaged.simulator.simulate(input())).toMatchObject({ answers: [7, undefined, 7] });
  });

  test.each([
    ['the first call', 1, 0, {}],
    ['the second call, whose data stand in its error', 3, 1, { returnData: '0x', error: { data: '0xdeadbeef' } }],
    ['a call with data in both places', 1, 0, { returnData: '0x11111111', error: { data: '0xdeadbeef' } }],
  ])('error: SimulationReverted names %s', async (_, at, callIndex, more) => {
    const { simulator, ways } = simulateV1(withCall(at, { status: '0x0', returnData: '0xdeadbeef', ...more }));
    const error = await simulator.simulate(input()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SimulationRevertedError);
    expect(error).toMatchObject({
      details: { reason: 'unknown', args: [{ name: 'selector', value: '0xdeadbeef' }], callIndex },
    });
    expect(ways).toEqual(['simulate_v1']);
  });

  const LOG = { address: TOKEN.toLowerCase(), topics: [zeroHash], data: '0x' };
  test.each([
    ['no list', {}],
    ['a block without calls', [{ timestamp: '0x64' }]],
    ['a call too few', [{ timestamp: '0x64', calls: BLOCK[0]?.calls.slice(1) }]],
    ['no time', [{ calls: BLOCK[0]?.calls }]],
    ['a time that is none', [{ timestamp: 100, calls: BLOCK[0]?.calls }]],
    ['events that are no list', withCall(1, { logs: {} })],
    ['an event of nobody', withCall(1, { logs: [{ ...LOG, address: '0x12' }] })],
    ['an event whose topics are no list', withCall(1, { logs: [{ ...LOG, topics: zeroHash }] })],
    ['an event with a topic that is none', withCall(1, { logs: [{ ...LOG, topics: ['x'] }] })],
    ['an event without data', withCall(1, { logs: [{ ...LOG, data: undefined }] })],
  ])('error: malformed for %s', async (_, answer) => {
    const { simulator } = simulateV1(answer, { stateOverrides: 'missing' });
    await expect(simulator.simulate(input())).rejects.toMatchObject({ reason: 'malformed' });
  });

  test('behavior: events of reads and of what reverted are not looked at', async () => {
    const { simulator } = simulateV1(withCall(0, { logs: 'nothing' }), { stateOverrides: 'missing' });
    expect(await simulator.simulate(input())).toMatchObject({ simulated: true });
  });

  test('behavior: gas that is not reported counts as none', async () => {
    const { simulator } = simulateV1(withCall(1, { gasUsed: 5 }));
    expect(await simulator.simulate(input())).toMatchObject({ gasUsed: 2_000n });
  });
});

describe('what the wallet lacks', () => {
  const pays = (balance: bigint) => ({ token, amount: 10n, balance });
  /** The token keeps balances in the n-th candidate slot. */
  const keptAt = (at: number) => (stateDiff: Readonly<Record<Hex, Hex>>) => Object.values(stateDiff)[at];
  const overridesOf = (asked: ReturnType<typeof simulatorOn>['asked']) => {
    const found = asked.find(({ method }) => method === 'eth_simulateV1')?.params[0] as unknown as {
      readonly blockStateCalls: readonly {
        readonly stateOverrides: Record<Address, { stateDiff?: Record<Hex, Hex> }>;
      }[];
    };
    return found?.blockStateCalls[0]?.stateOverrides;
  };

  test('behavior: native tokens are lent up to what the calls send, and not beyond', async () => {
    for (const [nativeBalance, lent] of [
      [7n, {}],
      [6n, { [USER]: { balance: '0x7' } }],
    ] as const) {
      const { simulator, asked } = simulateV1(BLOCK);
      await simulator.simulate(input({ nativeBalance }));
      expect(overridesOf(asked)).toEqual(lent);
    }
  });

  test('behavior: a token is lent exactly where it keeps the balance of the wallet', async () => {
    const { simulator, asked } = simulateV1(BLOCK, { balance: keptAt(9) });
    await simulator.simulate(input({ pays: pays(9n) }));
    const slot = keccak256(concat([pad(USER, { size: 32 }), word(9)]));
    const [found] = Object.entries(overridesOf(asked)?.[TOKEN]?.stateDiff ?? {});
    expect(found).toEqual([slot, word(10)]);
    expect(asked.filter(({ method }) => method === 'eth_call')).toHaveLength(1);
  });

  test.each([
    ['that the wallet has', pays(10n)],
    ['that is native', { ...pays(9n), token: { ...token, isNative: true } }],
  ])('behavior: nothing is looked up for a token %s', async (_, paid) => {
    const { simulator, asked } = simulateV1(BLOCK);
    await simulator.simulate(input({ pays: paid }));
    expect([overridesOf(asked), asked.length]).toEqual([{}, 1]);
  });

  test('behavior: nothing is simulated where a token cannot be lent', async () => {
    const { simulator, asked, ways } = simulateV1(BLOCK, { balance: () => word(5) });
    expect(await simulator.simulate(input({ pays: pays(9n) }))).toEqual({ simulated: false, because: 'token' });
    expect([overridesOf(asked), ways]).toEqual([undefined, []]);
  });

  test('behavior: a node that does not answer lends nothing', async () => {
    const { simulator } = simulateV1(BLOCK, { balance: () => new ChainReadError('timeout') });
    expect(await simulator.prepare(token)).toBeUndefined();
    expect(await simulator.simulate(input({ pays: pays(9n) }))).toEqual({ simulated: false, because: 'token' });
  });
});

describe('balance slots', () => {
  const find = async (balance: Node['balance']) => {
    const { slots, reading, asked } = simulatorOn(balance ? { balance } : {});
    return { slot: await slots.find(reading, TOKEN), slots, reading, asked };
  };
  const kept = (at: number) => (stateDiff: Readonly<Record<Hex, Hex>>) => Object.values(stateDiff)[at];

  test('behavior: knows 60 slots of Solidity, 60 of Vyper and two of libraries, each by a value of its own', async () => {
    const found = new Set<Hex | undefined>();
    for (let at = 0; at < 122; at += 1) found.add((await find(kept(at))).slot?.(USER));
    expect([found.size, found.has(undefined)]).toEqual([122, false]);
    expect((await find(kept(122))).slot).toBeUndefined();
    const { asked } = await find(kept(0));
    const [, , overrides = {}] = (asked[0]?.params ?? []) as readonly Record<
      Address,
      { stateDiff: Record<Hex, Hex> }
    >[];
    const values = Object.values(overrides[TOKEN]?.stateDiff ?? {});
    expect([values.length, new Set(values).size]).toEqual([122, 122]);
  });

  test.each([
    ['nothing', '0x'],
    ['a word below the marks', word(0x5b1a_7e00_0000_0000n - 1n)],
    ['a word above the marks', word(0x5b1a_7e00_0000_0000n + 122n)],
  ])('behavior: %s names no slot', async (_, answer) => {
    expect((await find(() => answer)).slot).toBeUndefined();
  });

  test('behavior: is asked once while it is known, and again where none was found', async () => {
    const known = await find(kept(3));
    const again = await known.slots.find(known.reading, TOKEN);
    expect([again, known.asked.length]).toEqual([known.slot, 1]);
    const none = await find(() => '0x');
    await none.slots.find(none.reading, TOKEN);
    expect(none.asked).toHaveLength(2);
    const failing = await find(() => new ChainReadError('timeout'));
    expect(failing.slot).toBeUndefined();
    await failing.slots.find(failing.reading, TOKEN);
    expect(failing.asked).toHaveLength(2);
  });
});

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
      ...{ simulated: true, way: 'executor', timestamp: 100n, answers: [7, 7, 'USDC'] },
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
      ...{ simulateV1: 'works', stateOverrides, answers: { eth_simulateV1: new ChainReadError(reason) } },
    });
    await expect(simulator.simulate(input())).rejects.toMatchObject({ reason });
    expect(ways).toEqual(['simulate_v1']);
  });

  test('behavior: a node with neither simulates nothing, and is asked nothing', async () => {
    const { simulator, asked, ways } = simulatorOn({ simulateV1: 'missing', stateOverrides: 'missing' });
    const pays = { token, amount: 10n, balance: 0n };
    expect(await simulator.simulate(input({ pays }))).toEqual({ simulated: false, because: 'node' });
    expect([asked, ways]).toEqual([[], ['none']]);
  });
});
