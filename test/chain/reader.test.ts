import {
  encodeAbiParameters,
  encodeFunctionResult,
  getAbiItem,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  toFunctionSelector,
} from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { aggregatorAbi, feedOracleAbi } from '../../src/abi/feeds.ts';
import { irmAbi } from '../../src/abi/irm.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import { savingsRateAbi } from '../../src/abi/savings-rate.ts';
import type { Market } from '../../src/catalog/index.ts';
import { type ChainReader, createChainReader } from '../../src/chain/reader.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { fixedNode } from './fixed-node.ts';
import {
  chain,
  type LendingWorld,
  MORPHO,
  marketAnswer,
  OTHER_IRM,
  PRICE,
  startLendingWorld,
  template,
} from './lending-world.ts';

const word = (value: bigint): Hex => encodeAbiParameters([{ type: 'int256' }], [value]);

let world: LendingWorld;
let counted: number;
let reader: ChainReader;
beforeEach(async () => {
  counted = 0;
  world = await startLendingWorld();
  const nodes = fixedNode({
    rpcUrl: world.node.url,
    onRequest: () => {
      counted += 1;
    },
  });
  reader = createChainReader({ nodes, clock: systemClock, chain });
});
afterEach(async () => {
  expect(world.node.unknown).toEqual([]);
  await world.node.close();
});

describe('readLendingState', () => {
  test('default', async () => {
    const [market] = world.markets(1) as [Market];
    const { block, lending, oracle } = await reader.readLendingState([market]);
    expect(block).toEqual({ number: 100n, timestamp: 1_700_000_000n });
    expect(lending.values.get(market.id)).toEqual({
      totalSupplyAssets: 1000n,
      totalSupplyShares: 900n,
      totalBorrowAssets: 500n,
      totalBorrowShares: 400n,
      lastUpdate: 1_699_999_940n,
      fee: 0n,
      rateAtTarget: 77n,
      borrowRate: 500n,
      blockNumber: 100n,
      blockTimestamp: 1_700_000_000n,
    });
    expect(oracle.values.get(market.oracle)).toEqual({ price: PRICE, blockNumber: 100n });
    expect([lending.failures.size, oracle.failures.size]).toEqual([0, 0]);
  });

  test.each([
    [0, 2],
    [1, 3],
    [100, 3],
    [101, 5],
    [250, 7],
  ])('behavior: %i markets are read at one block in %i requests', async (count, requests) => {
    const { lending, oracle } = await reader.readLendingState(world.markets(count));
    expect([lending.values.size, oracle.values.size]).toEqual([count, count]);
    expect([world.node.requests, counted]).toEqual([requests, requests]);
    expect([...world.node.blocks]).toEqual([numberToHex(100n)]);
  });

  test('behavior: reads an oracle shared by several markets once', async () => {
    const [a, b] = world.markets(2) as [Market, Market];
    const { oracle } = await reader.readLendingState([a, { ...b, oracle: a.oracle }]);
    expect([...oracle.values.keys()]).toEqual([a.oracle]);
    // Time and chain, two calls for each market and seven for the oracle; then both rates.
    expect(world.node.multicalls).toEqual([2 + 4 + 7, 2 + 2]);
  });

  test.each([
    ['reverts', 'revert', 'reverted'],
    ['reverts without a reason', 'silence', 'reverted'],
    ['uses up the gas of its multicall', 'burn', 'reverted'],
    ['answers zero', encodeFunctionResult({ abi: oracleAbi, functionName: 'price', result: 0n }), 'implausible'],
    ['answers nothing, like an account without code', '0x', 'malformed'],
  ] as const)('behavior: only the oracle that %s fails', async (_what, answer, reason) => {
    const all = world.markets(5);
    const bad = all[2] as Market;
    world.script.set(bad.oracle, answer);
    const { lending, oracle } = await reader.readLendingState(all);
    expect([...oracle.failures]).toEqual([[bad.oracle, reason]]);
    expect([oracle.values.size, lending.values.size]).toEqual([4, 5]);
  });

  test('behavior: a missing feed affects only its date', async () => {
    const [a, b] = world.markets(2) as [Market, Market];
    const feeds = [getAddress(pad('0xfeed01', { size: 20 })), getAddress(pad('0xfeed02', { size: 20 }))] as const;
    const views = ['BASE_FEED_1', 'BASE_FEED_2', 'QUOTE_FEED_1', 'QUOTE_FEED_2'] as const;
    for (const [i, name] of views.entries()) {
      const selector = toFunctionSelector(getAbiItem({ abi: feedOracleAbi, name }));
      world.script.set(a.oracle + selector, word(BigInt(feeds[i] ?? 0)));
    }
    const round = [1n, 2n, 3n, 1_699_999_000n, 1n] as const;
    world.script.set(feeds[0], 'burn');
    world.script.set(
      feeds[1],
      encodeFunctionResult({ abi: aggregatorAbi, functionName: 'latestRoundData', result: round }),
    );
    const { lending, oracle } = await reader.readLendingState([a, b]);
    expect(oracle.values.get(a.oracle)?.feeds).toEqual([
      { address: feeds[0] },
      { address: feeds[1], updatedAt: 1_699_999_000n },
    ]);
    expect(oracle.values.get(b.oracle)).toEqual({ price: PRICE, blockNumber: 100n });
    expect([lending.failures.size, oracle.failures.size]).toEqual([0, 0]);
  });

  test.each([
    ['was never created', marketAnswer([0n, 0n, 0n, 0n, 0n, 0n]), 'missing'],
    ['lent more than it has', marketAnswer([10n, 10n, 11n, 10n, 1n, 0n]), 'implausible'],
    ['was updated after the block', marketAnswer([10n, 10n, 1n, 1n, 1_700_000_001n, 0n]), 'implausible'],
    ["takes a fee above the protocol's limit", marketAnswer([10n, 10n, 1n, 1n, 1n, 10n ** 18n]), 'implausible'],
    ['reverts', 'revert', 'reverted'],
    ['answers half a word', '0x1234', 'malformed'],
  ] as const)('behavior: only the market that %s fails', async (_what, answer, reason) => {
    const all = world.markets(5);
    const bad = all[2] as Market;
    world.script.set(bad.id, answer);
    const { lending, oracle } = await reader.readLendingState(all);
    expect([...lending.failures]).toEqual([[bad.id, reason]]);
    expect([oracle.values.size, lending.values.size]).toEqual([5, 4]);
  });

  test.each([
    ['server_error', { status: 503 }, undefined],
    ['rate_limited', { status: 429, headers: { 'retry-after': '17' } }, 17],
    ['rejected', { status: 401 }, undefined],
  ] as const)('error: ChainReadError %s', async (reason, broken, retryAfterSec) => {
    world.node.broken = broken;
    const failed = await reader.readLendingState(world.markets(1)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ChainReadError);
    expect(failed).toMatchObject({ code: 'upstream_unavailable', reason, retryAfterSec });
    expect(JSON.stringify(failed) + String((failed as Error).cause)).not.toContain('127.0.0.1');
  });

  test('error: ChainReadError timeout', async () => {
    world.node.broken = 'hang';
    const nodes = fixedNode({ rpcUrl: world.node.url, timeoutMs: 50 });
    const impatient = createChainReader({ nodes, clock: systemClock, chain });
    await expect(impatient.readLendingState(world.markets(1))).rejects.toMatchObject({ reason: 'timeout' });
    // Also when the caller could abort it, as every warmer can.
    const { signal } = new AbortController();
    await expect(impatient.readLendingState(world.markets(1), { signal })).rejects.toMatchObject({ reason: 'timeout' });
  });

  test('behavior: without the protocol the state is unknown and oracles are still read', async () => {
    world.script.set(MORPHO, '0x');
    const all = world.markets(2);
    const { lending, oracle } = await reader.readLendingState(all);
    expect([...lending.failures.values()]).toEqual(['malformed', 'malformed']);
    expect([lending.values.size, oracle.values.size]).toEqual([0, 2]);
  });

  test.each([
    ['rateAtTarget', 'revert', 'reverted'],
    ['rateAtTarget', '0x', 'malformed'],
    ['rateAtTarget', word(-1n), 'implausible'],
    ['rateAtTarget', word(10n ** 18n), 'implausible'],
    ['rateAtTarget', word(2n ** 200n), 'implausible'],
    ['borrowRateView', 'revert', 'reverted'],
    ['borrowRateView', '0x1234', 'malformed'],
    ['borrowRateView', word(10n ** 18n), 'implausible'],
    ['borrowRateView', word(2n ** 200n), 'implausible'],
  ] as const)("behavior: only the market whose model's %s is %s fails", async (name, answer, reason) => {
    const [a, b] = world.markets(2) as [Market, Market];
    world.script.set(OTHER_IRM + toFunctionSelector(getAbiItem({ abi: irmAbi, name })), answer);
    const { lending, oracle } = await reader.readLendingState([a, { ...b, irm: OTHER_IRM }]);
    expect([[...lending.failures], [...lending.values.keys()]]).toEqual([[[b.id, reason]], [a.id]]);
    expect(oracle.values.size).toBe(2);
  });

  test('error: ChainReadError for a non-JSON answer, an unreachable node, and a node of another chain', async () => {
    world.node.broken = 'garbage';
    await expect(reader.readLendingState(world.markets(1))).rejects.toBeInstanceOf(ChainReadError);
    world.node.broken = null;
    world.node.chainId = 4663;
    await expect(reader.readLendingState(world.markets(1))).rejects.toMatchObject({ reason: 'implausible' });
    const nodes = fixedNode({ rpcUrl: 'http://127.0.0.1:1' });
    const nowhere = createChainReader({ nodes, clock: systemClock, chain });
    await expect(nowhere.readLendingState(world.markets(1))).rejects.toMatchObject({ reason: 'unreachable' });
  });

  test('behavior: an abort ends the read with the reason of the abort', async () => {
    world.node.broken = 'hang';
    const stop = new AbortController();
    const reading = reader.readLendingState(world.markets(1), { signal: stop.signal });
    stop.abort(new Error('stopping'));
    await expect(reading).rejects.toThrow('stopping');
  });
});

describe('readOnchainRates', () => {
  test('behavior: reads the view named in the catalog; a token without one is not configured', async () => {
    const token = {
      ...template.collateral,
      address: getAddress(pad('0xb1', { size: 20 })),
      onchainRate: 'str' as const,
    };
    const other = { ...template.loan };
    world.script.set(
      token.address,
      encodeFunctionResult({ abi: savingsRateAbi, functionName: 'str', result: 10n ** 27n + 5n }),
    );
    const { rates } = await reader.readOnchainRates([token, other]);
    expect([...rates.values]).toEqual([[token.address, 10n ** 27n + 5n]]);
    expect([...rates.failures]).toEqual([[other.address, 'not_configured']]);
    expect(world.node.requests).toBe(2);
  });

  test.each([0n, 10n ** 27n - 1n, 2n * 10n ** 27n])('behavior: rejects a rate of %s', async (rate) => {
    const token = { ...template.collateral, onchainRate: 'vsr' as const };
    world.script.set(token.address, encodeAbiParameters([{ type: 'uint256' }], [rate]));
    const { rates } = await reader.readOnchainRates([token]);
    expect([...rates.failures]).toEqual([[token.address, 'implausible']]);
  });
});
