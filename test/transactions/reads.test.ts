import { encodeAbiParameters, encodeFunctionResult, getContractAddress, parseAbiParameters, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { aggregatorAbi } from '../../src/abi/feeds.ts';
import { multicall3Abi } from '../../src/abi/multicall3.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { createPositionDirectory } from '../../src/transactions/read/position.ts';
import { datedFeeds, planBuildFeedDates } from '../../src/transactions/read/price-feeds.ts';
import { foldPlans, type LatestReader, planOne, type Read } from '../../src/transactions/read/reads.ts';
import { planOwner, readProxyOwners, refuseProxy } from '../../src/transactions/read/signer.ts';
import { createTokenDirectory } from '../../src/transactions/read/tokens.ts';
import { loopMarket, servedChain, tokenOn, USER } from './model/scene.ts';
import { functionsBySelector } from './model/selectors.ts';

const chain = servedChain(1);
const { flashLeverage } = chain.contracts;
const FOREIGN: Address = '0x00000000000000000000000000000000000000A1';
const PROXY: Address = '0x00000000000000000000000000000000000000b1';

type Answer = (name: string, to: Address, data: Hex) => unknown;

/** A reader whose answers are given by the name of the view; `final` has the answers at the last final block. */
function readerOf(answer: Answer, final?: Answer): LatestReader & { readonly asked: string[][] } {
  const asked: string[][] = [];
  const name = ({ data }: Read<unknown>) => functionsBySelector.get(data.slice(0, 10) as Hex)?.name ?? data;
  const all = (plan: readonly Read<unknown>[], by: Answer) => plan.map((read) => by(name(read), read.to, read.data));
  return {
    asked,
    read: (async (plan: readonly Read<unknown>[]) => {
      asked.push(plan.map(name));
      return { block: { timestamp: 1n, number: 1n }, answers: all(plan, answer) };
    }) as unknown as LatestReader['read'],
    readSettled: (async (plan: readonly Read<unknown>[]) => {
      asked.push(plan.map(name));
      return { answers: all(plan, answer), final: final && all(plan, final) };
    }) as unknown as LatestReader['readSettled'],
  };
}

describe('a token to pay with', () => {
  const of =
    (decimals: unknown, symbol: unknown): Answer =>
    (name) =>
      name === 'decimals' ? decimals : symbol;
  const find = (reader: LatestReader, directory = createTokenDirectory(), address = FOREIGN) =>
    directory.find(reader, chain, address);

  test('behavior: one of the catalog is not read', async () => {
    const reader = readerOf(() => undefined);
    const usdc = tokenOn(1, 'USDC');
    expect(await find(reader, undefined, usdc.address)).toEqual({
      address: usdc.address,
      symbol: 'USDC',
      decimals: 6,
      isNative: false,
      resetsApproval: usdc.resetsApproval,
    });
    expect(reader.asked).toEqual([]);
  });

  test.each([
    [0, 'A', 'A'],
    [36, 'aA0._+-', 'aA0._+-'],
    [18, 'A'.repeat(16), 'A'.repeat(16)],
    [18, 'A'.repeat(17), '0x000000…'],
    [18, 'Claim at evil.example', '0x000000…'],
    [18, '', '0x000000…'],
    [18, undefined, '0x000000…'],
  ])('behavior: one with %s decimals that calls itself %s is called %s', async (decimals, symbol, shown) => {
    expect(await find(readerOf(of(decimals, symbol)))).toEqual({
      address: FOREIGN,
      symbol: shown,
      decimals,
      isNative: false,
      resetsApproval: true,
    });
  });

  test.each([undefined, 37])('error: BadRequest for one with %s decimals', async (decimals) => {
    const directory = createTokenDirectory();
    const refused = directory.find(readerOf(of(decimals, 'A')), chain, FOREIGN, 'sellToken');
    await expect(refused).rejects.toMatchObject({
      code: 'bad_request',
      details: { field: 'sellToken', value: FOREIGN },
      message: `${FOREIGN} is not an ERC-20 token on chain 1. Send a token's address, or ${zeroAddress} for ETH.`,
    });
    await expect(find(readerOf(of(decimals, 'A')))).rejects.toMatchObject({ details: { field: 'payToken' } });
  });

  test.each([
    ['the same', of(18, 'A'), 1],
    ['other decimals', of(6, 'A'), 2],
    ['another symbol', of(18, 'B'), 2],
    ['nothing', undefined, 2],
  ])('behavior: is read again until a final block says the same: %s', async (_, final, reads) => {
    const [directory, reader] = [createTokenDirectory(), readerOf(of(18, 'A'), final)];
    await find(reader, directory);
    await find(reader, directory);
    expect(reader.asked).toHaveLength(reads);
  });

  test('behavior: at most a thousand are remembered', async () => {
    const [directory, reader] = [createTokenDirectory(), readerOf(of(18, 'A'), of(18, 'A'))];
    const at = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}` as Address;
    for (let n = 0; n < 1_000; n += 1) await find(reader, directory, at(n));
    await find(reader, directory, at(0));
    expect(reader.asked).toHaveLength(1_000);
    for (const n of [1_000, 0]) await find(reader, directory, at(n));
    expect(reader.asked).toHaveLength(1_002);
  });
});

describe('a position', () => {
  const market = loopMarket(1, 'sUSDe', 'PYUSD');
  const other = loopMarket(1, 'PT-sUSDe', 'USDC');
  const row = (marketId: string = market.id, userProxy = PROXY) => ({
    open: true,
    marketId,
    userProxy,
    amountDepositedInLoanToken: 1n,
    amountReturnedInLoanToken: 0n,
  });
  const of =
    (found: unknown, owner: unknown = null): Answer =>
    (name) =>
      name === 'getUserLeveragePosition' ? found : name === 's_user' ? owner : [];

  test('default: its market, with any capitals in its id, and its contract', async () => {
    const reader = readerOf(of(row(market.id.toUpperCase().replace('X', 'x'))));
    expect(await createPositionDirectory().bind(reader, chain, USER, 3)).toEqual({ market, proxy: PROXY });
  });

  test.each([
    ['the same', of(row()), 1],
    ['another market', of(row(other.id)), 2],
    ['another contract', of(row(market.id, FOREIGN)), 2],
    ['no position', of(undefined), 2],
    ['nothing', undefined, 2],
  ])('behavior: is read again until a final block says the same: %s', async (_, final, reads) => {
    const [directory, reader] = [createPositionDirectory(), readerOf(of(row()), final)];
    for (let i = 0; i < 2; i += 1) await directory.bind(reader, chain, USER, 3);
    expect(reader.asked).toHaveLength(reads);
    await directory.bind(reader, chain, USER, 4);
    expect(reader.asked).toHaveLength(reads + 1);
    directory.forget(chain, USER, 3);
    await directory.bind(reader, chain, USER, 3);
    expect(reader.asked).toHaveLength(reads + 2);
  });

  test('behavior: the same id of the same wallet on another chain is another position', async () => {
    const directory = createPositionDirectory();
    const there = servedChain(4663);
    const market4663 = there.markets[0];
    const one = readerOf(of(row()), of(row()));
    const otherRow = row(market4663?.id as string, FOREIGN);
    const other4663 = readerOf(of(otherRow), of(otherRow));
    expect(await directory.bind(one, chain, USER, 3)).toEqual({ market, proxy: PROXY });
    expect(await directory.bind(other4663, there, USER, 3)).toEqual({ market: market4663, proxy: FOREIGN });
    expect(await directory.bind(one, chain, USER, 3)).toEqual({ market, proxy: PROXY });
  });

  test('error: PositionProxy for a wallet that is itself the contract of a position', async () => {
    const answer: Answer = (name, to) => {
      if (name === 's_user') return to === PROXY ? USER : null;
      return name === 'getUserLeveragePositions' ? [{ userProxy: FOREIGN }, { userProxy: PROXY }] : undefined;
    };
    const bound = createPositionDirectory().bind(readerOf(answer), chain, PROXY, 0);
    await expect(bound).rejects.toMatchObject({
      details: { field: 'userAddress', value: PROXY, owner: USER, positionId: 1 },
    });
  });
});

describe('an address that should sign', () => {
  const implementation = getContractAddress({ from: flashLeverage, nonce: 1n });
  const named =
    (owner: Address | null, proxies: readonly Address[] | undefined = []): Answer =>
    (name) =>
      name === 's_user' ? owner : proxies?.map((userProxy) => ({ userProxy }));

  test.each([
    ['that names nobody', null, undefined],
    ['that names the zero address', zeroAddress, []],
    ['that names somebody without positions', USER, []],
    ['that names somebody with other positions', USER, [FOREIGN]],
    ['that names somebody who cannot be read', USER, undefined],
  ] as const)('behavior: one %s is a wallet', async (_, owner, proxies) => {
    await expect(refuseProxy(readerOf(named(owner, proxies)), chain, PROXY)).resolves.toBeUndefined();
  });

  test('error: PositionProxy for one whose owner has it among the positions', async () => {
    await expect(refuseProxy(readerOf(named(USER, [PROXY])), chain, PROXY)).rejects.toMatchObject({
      details: { owner: USER, positionId: 0 },
    });
  });

  test.each([zeroAddress, flashLeverage])('error: BadRequest for the implementation, which names %s', async (owner) => {
    await expect(refuseProxy(readerOf(named(owner)), chain, implementation)).rejects.toMatchObject({
      code: 'bad_request',
      details: { field: 'userAddress', value: implementation },
    });
    await expect(refuseProxy(readerOf(named(owner)), chain, PROXY)).resolves.toBeUndefined();
  });

  test('behavior: an owner is a word of 20 bytes', () => {
    const { decode } = planOwner(PROXY);
    const padded = encodeAbiParameters(parseAbiParameters('address'), [USER]);
    expect([decode(padded), decode('0x'), decode(`${padded}00`), decode(padded.replace('0x0', '0x1') as Hex)]).toEqual([
      USER,
      null,
      null,
      null,
    ]);
  });
});

describe(readProxyOwners, () => {
  const [A, B, C, D] = [1, 2, 3, 4].map((n) => `0x${String(n).repeat(40)}` as Address) as [
    Address,
    Address,
    Address,
    Address,
  ];
  const OWNER: Address = USER;

  test('default: two calls for all; null for addresses that are no proxy', async () => {
    const reader = readerOf((name, to) => {
      if (name !== 's_user') return [{ userProxy: FOREIGN }, { userProxy: A }];
      return to === D ? zeroAddress : to === C ? null : OWNER;
    });
    expect(await readProxyOwners(reader, chain, [A, B, C, D])).toEqual(
      new Map([
        [A, { owner: OWNER, positionId: 1 }],
        [B, null],
        [C, null],
        [D, null],
      ]),
    );
    // One owner is read alone.
    expect(reader.asked).toEqual([['s_user', 's_user', 's_user', 's_user'], ['getUserLeveragePositions']]);
  });

  test('behavior: calls without an answer in the batch are repeated alone; a failure is the answer of its address', async () => {
    const failure = new ChainReadError('timeout');
    let isAlone = false;
    const base = readerOf((name, to) => {
      if (name !== 's_user') return [{ userProxy: A }];
      if (to === B && isAlone) throw failure;
      return to === A && !isAlone ? undefined : to === B ? undefined : OWNER;
    });
    const reader: LatestReader = {
      ...base,
      read: (async (plan: readonly Read<unknown>[]) => {
        isAlone = plan.length === 1;
        return base.read(plan as never);
      }) as unknown as LatestReader['read'],
    };
    const found = await readProxyOwners(reader, chain, [A, B, C]);
    expect([found.get(A), found.get(B), found.get(C)]).toEqual([{ owner: OWNER, positionId: 0 }, failure, null]);
  });

  test('behavior: a node that answers nothing together is asked for each alone', async () => {
    const reader = readerOf((name) => (name === 's_user' ? null : []));
    const lonely: LatestReader = {
      ...reader,
      read: (async (plan: readonly Read<unknown>[]) => {
        if (plan.length > 1) throw new ChainReadError('timeout');
        return reader.read(plan as never);
      }) as unknown as LatestReader['read'],
    };
    expect(await readProxyOwners(lonely, chain, [A, B])).toEqual(
      new Map([
        [A, null],
        [B, null],
      ]),
    );
    const broken = readerOf(() => {
      throw new TypeError('a defect');
    });
    await expect(readProxyOwners(broken, chain, [A, B])).rejects.toThrow('a defect');
    expect(await readProxyOwners(reader, chain, [])).toEqual(new Map());
  });
});

describe('feed dates', () => {
  const [first, second, third] = [1, 2, 3].map((n) => ({ address: `0x${String(n).repeat(40)}` as Address }));
  const feeds = [first, second, third] as { readonly address: Address }[];
  const round = (updatedAt: bigint) =>
    encodeFunctionResult({
      abi: aggregatorAbi,
      functionName: 'latestRoundData',
      result: [1n, 5n, 9n, updatedAt, 1n] as never,
    });
  const rows = (...given: readonly { readonly success: boolean; readonly returnData: Hex }[]) =>
    encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: [...given] });

  test('default: the update of each round; none where a feed fails or answers with rubbish', () => {
    const { decode } = planBuildFeedDates(chain, feeds);
    const answer = rows(
      { success: true, returnData: round(77n) },
      { success: false, returnData: round(78n) },
      { success: true, returnData: '0x12' },
    );
    expect(decode(answer)).toEqual([
      { feed: first, reported: 77n },
      { feed: second, reported: undefined },
      { feed: third, reported: undefined },
    ]);
    expect(decode(rows())).toEqual(feeds.map((feed) => ({ feed, reported: undefined })));
  });

  test('behavior: an oracle that names no feeds has no dates, and one without feeds an empty list', () => {
    expect(planBuildFeedDates(chain, undefined).decode(rows())).toBeUndefined();
    expect(planBuildFeedDates(chain, []).decode(rows())).toEqual([]);
    expect([datedFeeds(undefined, 100n), datedFeeds([], 100n)]).toEqual([undefined, []]);
  });

  test('behavior: a date is used where it is plausible at the block', () => {
    const at = 1_780_000_000n;
    const dates = [
      { feed: first, reported: at },
      { feed: second, reported: undefined },
      { feed: third, reported: 0n },
    ] as never;
    expect(datedFeeds(dates, at)).toEqual([{ ...first, updatedAt: at, isOfBlock: true }, second, third]);
  });

  test('behavior: a failing feed does not fail the others', () => {
    const { data, to } = planBuildFeedDates(chain, feeds);
    expect([to, planBuildFeedDates(chain, undefined).data.length < data.length]).toEqual([
      chain.contracts.multicall3,
      true,
    ]);
    // Three calls, each of which may fail.
    expect(data.match(/0{63}1(?=0{62}60)/g)).toHaveLength(3);
  });
});

test('foldPlans: every plan gets its own answers, and is folded on demand', () => {
  const read = (data: Hex): Read<unknown> => ({ to: FOREIGN, data, decode: () => undefined });
  const plans = {
    pair: { reads: [read('0x01'), read('0x02')], fold: (answers: readonly unknown[]) => answers.join() },
    broken: {
      reads: [],
      fold: () => {
        throw new Error('folded');
      },
    },
    one: planOne(read('0x03')),
  };
  const folded = foldPlans(plans, ['a', 'b', 'c'], { timestamp: 1n });
  expect([folded.pair(), folded.one()]).toEqual(['a,b', 'c']);
  expect(() => folded.broken()).toThrow('folded');
});
