import { concat, keccak256, numberToHex, pad, zeroHash } from 'viem';
import { describe, expect, test } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { SimulationRevertedError } from '../../src/transactions/errors.ts';
import {
  decimals,
  input,
  type Node,
  OTHER,
  simulateV1,
  simulatorOn,
  symbol,
  TOKEN,
  text,
  token,
  USER,
  word,
} from './simulation-world.ts';

const done = (returnData: Hex, gasUsed = 100, more: object = {}) => ({
  status: '0x1',
  returnData,
  gasUsed: numberToHex(gasUsed),
  logs: [],
  ...more,
});
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

describe('by the simulation of the node', () => {
  test('default: reads between the calls, the gas of the calls alone, and the time of the block', async () => {
    const { simulator, asked, ways } = simulateV1(BLOCK);
    const simulation = await simulator.simulate(input());
    expect(simulation).toEqual({
      simulated: true,
      way: 'simulate_v1',
      gasUsed: 3_000n,
      timestamp: 100n,
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

  test('behavior: the answer of a call that passes counts, also with an error beside it', async () => {
    const { simulator } = simulateV1(withCall(4, { error: { data: '0xdeadbeef' } }));
    expect(await simulator.simulate(input())).toMatchObject({ answers: [7, 'USDC', 7] });
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

  test('behavior: an address of an event may be written in any capitals', async () => {
    const address = TOKEN.replace('A0b8', 'a0B8');
    const { simulator } = simulateV1(withCall(1, { logs: [{ ...LOG, address }] }), { stateOverrides: 'missing' });
    expect(await simulator.simulate(input())).toMatchObject({ simulated: true });
  });

  test('behavior: events of reads and of reverted calls are ignored', async () => {
    const { simulator } = simulateV1(withCall(0, { logs: 'nothing' }), { stateOverrides: 'missing' });
    expect(await simulator.simulate(input())).toMatchObject({ simulated: true });
  });

  test('behavior: gas that is not reported counts as none', async () => {
    const { simulator } = simulateV1(withCall(1, { gasUsed: 5 }));
    expect(await simulator.simulate(input())).toMatchObject({ gasUsed: 2_000n });
  });
});

describe('missing funds of the wallet', () => {
  const pays = (balance: bigint) => ({ token, amount: 10n, balance });
  /** The token keeps balances in the n-th candidate slot. */
  const balanceSlotAt = (at: number) => (stateDiff: Readonly<Record<Hex, Hex>>) => Object.values(stateDiff)[at];
  const overridesOf = (asked: ReturnType<typeof simulatorOn>['asked']) => {
    const found = asked.find(({ method }) => method === 'eth_simulateV1')?.params[0] as unknown as {
      readonly blockStateCalls: readonly {
        readonly stateOverrides: Record<Address, { stateDiff?: Record<Hex, Hex> }>;
      }[];
    };
    return found?.blockStateCalls[0]?.stateOverrides;
  };

  test('behavior: native tokens are lent up to the amount that the calls send', async () => {
    for (const [nativeBalance, lent] of [
      [7n, {}],
      [6n, { [USER]: { balance: '0x7' } }],
    ] as const) {
      const { simulator, asked } = simulateV1(BLOCK);
      await simulator.simulate(input({ nativeBalance }));
      expect(overridesOf(asked)).toEqual(lent);
    }
  });

  test('behavior: a token is lent exactly in the slot of its balance', async () => {
    const { simulator, asked } = simulateV1(BLOCK, { balance: balanceSlotAt(9) });
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
    expect(await simulator.simulate(input({ pays: pays(9n) }))).toEqual({ simulated: false, lacking: 'token' });
    expect([overridesOf(asked), ways]).toEqual([undefined, []]);
  });

  test('behavior: a node that does not answer lends nothing', async () => {
    const { simulator } = simulateV1(BLOCK, { balance: () => new ChainReadError('timeout') });
    expect(await simulator.prepare(token)).toBeUndefined();
    expect(await simulator.simulate(input({ pays: pays(9n) }))).toEqual({ simulated: false, lacking: 'token' });
  });
});

describe('balance slots', () => {
  const find = async (balance: Node['balance']) => {
    const { slots, reading, asked } = simulatorOn(balance ? { balance } : {});
    return { slot: await slots.find(reading, TOKEN), slots, reading, asked };
  };
  const balanceSlotAt = (at: number) => (stateDiff: Readonly<Record<Hex, Hex>>) => Object.values(stateDiff)[at];

  test('behavior: tries 60 slots of Solidity, 60 of Vyper and two of libraries, each with a different value', async () => {
    const found = new Set<Hex | undefined>();
    for (let at = 0; at < 122; at += 1) found.add((await find(balanceSlotAt(at))).slot?.(USER));
    expect([found.size, found.has(undefined)]).toEqual([122, false]);
    expect((await find(balanceSlotAt(122))).slot).toBeUndefined();
    const { asked } = await find(balanceSlotAt(0));
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
    const known = await find(balanceSlotAt(3));
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
