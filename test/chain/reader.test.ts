import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  getAbiItem,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toFunctionSelector,
  zeroAddress,
} from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import { savingsRateAbi } from '../../src/abi/savings-rate.ts';
import { type Chain, createCatalog, curatedChains, type Market } from '../../src/catalog/index.ts';
import { createChainClient } from '../../src/chain/client.ts';
import { ChainReadError } from '../../src/chain/errors.ts';
import { type ChainReader, createChainReader } from '../../src/chain/reader.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { countedSlicing } from '../shared/counted-slicing.ts';
import { type ScriptedNode, startScriptedNode } from './scripted-node.ts';

const chain = createCatalog(curatedChains).chains[0] as Chain;
const template = chain.markets[0] as Market;
const MORPHO = chain.contracts.morphoBlue;
const IRM = getAddress(pad('0xa1', { size: 20 }));
const OTHER_IRM = getAddress(pad('0xa2', { size: 20 }));
const PRICE = 10n ** 36n;

/** Many markets that exist nowhere, each with an oracle of its own. */
function markets(count: number): readonly Market[] {
  return Array.from({ length: count }, (_, i) =>
    exists({
      ...template,
      id: keccak256(numberToHex(i)) as MarketId,
      irm: IRM,
      oracle: getAddress(pad(numberToHex(0x10000 + i), { size: 20 })),
    }),
  );
}

/** Make a market known to the protocol. */
function exists(market: Market): Market {
  created.set(market.id, market);
  return market;
}

/** What the protocol knows a market by. */
function paramsOf(id: string): Hex {
  const { loan, collateral, oracle, irm, lltv } = created.get(id) ?? nothing;
  const result = [loan.address, collateral.address, oracle, irm, lltv] as const;
  return encodeFunctionResult({ abi: morphoBlueAbi, functionName: 'idToMarketParams', result });
}

let node: ScriptedNode;
let counted: number;
/** Markets by id. */
let created: Map<string, Market>;
const nobody = { address: zeroAddress };
const nothing = { loan: nobody, collateral: nobody, oracle: zeroAddress, irm: zeroAddress, lltv: 0n };
/** Return data by address, address and selector, or market; what is not here is answered as a sound contract would. */
let script: Map<string, Hex | 'revert'>;
const scriptOracle = (market: Market, answer: Hex | 'revert'): void => {
  script.set(market.oracle, answer);
};

function contracts(to: Address, data: Hex): Hex | 'revert' {
  const scripted = script.get(to);
  if (scripted !== undefined) return scripted;
  if (to === MORPHO) {
    const { functionName, args } = decodeFunctionData({ abi: morphoBlueAbi, data });
    if (functionName === 'idToMarketParams') return paramsOf(args[0]);
    return script.get(args[0]) ?? marketAnswer([1000n, 900n, 500n, 400n, node.timestamp - 60n, 0n]);
  }
  const asked = script.get(to + data.slice(0, 10));
  if (asked !== undefined) return asked;
  if (to === IRM || to === OTHER_IRM) {
    const { functionName, args } = decodeFunctionData({ abi: irmAbi, data });
    if (functionName === 'rateAtTarget') return encodeFunctionResult({ abi: irmAbi, functionName, result: 77n });
    // The rate must be asked for with the state that was just read.
    return encodeFunctionResult({ abi: irmAbi, functionName, result: args[1].totalBorrowAssets });
  }
  if (to.startsWith('0x0000000000000000000000')) {
    decodeFunctionData({ abi: oracleAbi, data });
    return encodeFunctionResult({ abi: oracleAbi, functionName: 'price', result: PRICE });
  }
  throw new Error(`call to ${to}`);
}

function marketAnswer(result: readonly [bigint, bigint, bigint, bigint, bigint, bigint]): Hex {
  return encodeFunctionResult({ abi: morphoBlueAbi, functionName: 'market', result });
}

let reader: ChainReader;
beforeEach(async () => {
  script = new Map();
  created = new Map();
  counted = 0;
  node = await startScriptedNode(chain.contracts.multicall3, contracts);
  const client = createChainClient(
    { chainId: 1, rpcUrl: node.url, retryCount: 0 },
    {
      onRequest: () => {
        counted += 1;
      },
    },
  );
  reader = createChainReader({ client, chain });
});
afterEach(async () => {
  expect(node.unknown).toEqual([]);
  await node.close();
});

describe('readLendingState', () => {
  test('default', async () => {
    const [market] = markets(1) as [Market];
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

  test.each([0, 1, 100, 101, 5_000])('behavior: %i markets are read at one block in 2 requests', async (count) => {
    const { lending, oracle } = await reader.readLendingState(markets(count));
    expect([lending.values.size, oracle.values.size]).toEqual([count, count]);
    expect([node.requests, counted]).toEqual([2, 2]);
    expect([...node.blocks]).toEqual([numberToHex(100n)]);
  });

  test('behavior: plans and answers are worked through in pieces', async () => {
    const slicing = countedSlicing();
    const client = createChainClient({ chainId: 1, rpcUrl: node.url, retryCount: 0 });
    const { lending } = await createChainReader({ client, chain, slicing }).readLendingState(markets(40));
    expect(lending.values.size).toBe(40);
    // At least once per row, and once per call for its question and its answer.
    expect(slicing.pauses()).toBeGreaterThanOrEqual(40 + 2);
  });

  test('behavior: an oracle that several markets share is read once and answers for all', async () => {
    const [a, b] = markets(2) as [Market, Market];
    const { oracle } = await reader.readLendingState([a, exists({ ...b, oracle: a.oracle })]);
    expect([...oracle.values.keys()]).toEqual([a.oracle]);
  });

  test.each([
    ['reverts', 'revert', 'reverted'],
    ['answers zero', encodeFunctionResult({ abi: oracleAbi, functionName: 'price', result: 0n }), 'implausible'],
    ['answers nothing, like an account without code', '0x', 'malformed'],
  ] as const)('behavior: an oracle that %s fails alone', async (_what, answer, reason) => {
    const all = markets(5);
    const bad = all[2] as Market;
    scriptOracle(bad, answer);
    const { lending, oracle } = await reader.readLendingState(all);
    expect([...oracle.failures]).toEqual([[bad.oracle, reason]]);
    expect([oracle.values.size, lending.values.size]).toEqual([4, 5]);
  });

  test.each([
    ['was never created', marketAnswer([0n, 0n, 0n, 0n, 0n, 0n]), 'missing'],
    ['lent more than it has', marketAnswer([10n, 10n, 11n, 10n, 1n, 0n]), 'implausible'],
    ['was updated after the block', marketAnswer([10n, 10n, 1n, 1n, 1_700_000_001n, 0n]), 'implausible'],
    ["takes a fee above the protocol's limit", marketAnswer([10n, 10n, 1n, 1n, 1n, 10n ** 18n]), 'implausible'],
    ['reverts', 'revert', 'reverted'],
    ['answers half a word', '0x1234', 'malformed'],
  ] as const)('behavior: a market that %s fails alone', async (_what, answer, reason) => {
    const all = markets(5);
    const bad = all[2] as Market;
    script.set(bad.id, answer);
    const { lending, oracle } = await reader.readLendingState(all);
    expect([...lending.failures]).toEqual([[bad.id, reason]]);
    expect([oracle.values.size, lending.values.size]).toEqual([5, 4]);
  });

  test.each([
    ['server_error', { status: 503 }, undefined],
    ['rate_limited', { status: 429, headers: { 'retry-after': '17' } }, 17],
    ['rejected', { status: 401 }, undefined],
  ] as const)('error: ChainReadError %s', async (reason, broken, retryAfterSec) => {
    node.broken = broken;
    const failed = await reader.readLendingState(markets(1)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ChainReadError);
    expect(failed).toMatchObject({ code: 'upstream_unavailable', reason, retryAfterSec });
    expect(JSON.stringify(failed) + String((failed as Error).cause)).not.toContain('127.0.0.1');
  });

  test('error: ChainReadError timeout', async () => {
    node.broken = 'hang';
    const client = createChainClient({ chainId: 1, rpcUrl: node.url, timeoutMs: 50, retryCount: 0 });
    const impatient = createChainReader({ client, chain });
    await expect(impatient.readLendingState(markets(1))).rejects.toMatchObject({ reason: 'timeout' });
    // Also when the caller could abort it, as every warmer can.
    const { signal } = new AbortController();
    await expect(impatient.readLendingState(markets(1), { signal })).rejects.toMatchObject({ reason: 'timeout' });
  });

  test('behavior: a market that was never created is missing, and so is its oracle; others stand', async () => {
    const [a, b] = markets(2) as [Market, Market];
    created.delete(a.id);
    script.set(a.id, marketAnswer([0n, 0n, 0n, 0n, 0n, 0n]));
    script.set(zeroAddress, '0x');
    const { lending, oracle } = await reader.readLendingState([a, b]);
    expect([[...lending.failures], [...oracle.failures]]).toEqual([[[a.id, 'missing']], [[a.oracle, 'missing']]]);
    expect([[...lending.values.keys()], [...oracle.values.keys()]]).toEqual([[b.id], [b.oracle]]);
  });

  test('behavior: without the protocol nothing is known, and nothing made up', async () => {
    script.set(MORPHO, '0x');
    const all = markets(2);
    const { lending, oracle } = await reader.readLendingState(all);
    expect([lending.values.size, oracle.values.size]).toEqual([0, 0]);
    expect([...lending.failures.values(), ...oracle.failures.values()]).toEqual(Array(4).fill('malformed'));
  });

  const word = (value: bigint): Hex => encodeAbiParameters([{ type: 'int256' }], [value]);
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
  ] as const)("behavior: a market whose model's %s is %s fails alone", async (name, answer, reason) => {
    const [a, b] = markets(2) as [Market, Market];
    exists({ ...b, irm: OTHER_IRM });
    script.set(OTHER_IRM + toFunctionSelector(getAbiItem({ abi: irmAbi, name })), answer);
    const { lending, oracle } = await reader.readLendingState([a, b]);
    expect([[...lending.failures], [...lending.values.keys()]]).toEqual([[[b.id, reason]], [a.id]]);
    expect(oracle.values.size).toBe(2);
  });

  describe('several calls', () => {
    let pairwise: ChainReader;
    beforeEach(() => {
      const client = createChainClient({ chainId: 1, rpcUrl: node.url, retryCount: 0 });
      pairwise = createChainReader({ client, chain, marketsPerCall: 2 });
    });
    const asksAbout = (market: Market | undefined) => (data: Hex) => data.includes(market?.id.slice(2) ?? '');
    const idsOf = (all: readonly Market[]) => all.map(({ id }) => id);

    test.each([0, 2, 4])('behavior: one that the node refuses fails its own markets alone: from %i', async (at) => {
      const all = markets(6);
      node.refuses = asksAbout(all[at]);
      const { block, lending, oracle } = await pairwise.readLendingState(all);
      expect([block.timestamp, node.requests]).toEqual([node.timestamp, 2]);
      const refused = all.slice(at, at + 2);
      expect([...lending.failures]).toEqual(refused.map(({ id }) => [id, 'server_error']));
      expect([...oracle.failures]).toEqual(refused.map((market) => [market.oracle, 'server_error']));
      expect([lending.values.size, oracle.values.size]).toEqual([4, 4]);
    });

    test('behavior: an oracle whose markets stand in a refused and an answered call has answered', async () => {
      const all = markets(4);
      const sharing = exists({ ...(all[3] as Market), oracle: (all[0] as Market).oracle });
      for (const refused of [all[0], sharing]) {
        node.refuses = asksAbout(refused);
        const { oracle } = await pairwise.readLendingState([...all.slice(0, 3), sharing]);
        expect(oracle.values.has(sharing.oracle)).toBe(true);
        expect(oracle.failures.has(sharing.oracle)).toBe(false);
      }
    });

    test.each([
      ['is cut short', (answer: Hex) => answer.slice(0, -2) as Hex],
      ['is empty', () => '0x' as Hex],
      ['has no digits', (answer: Hex) => answer.replaceAll('0', 'z') as Hex],
      ['is about fewer markets', (answer: Hex) => `${answer.slice(0, 193)}1${answer.slice(194, -320)}` as Hex],
    ])('behavior: one whose answer %s is malformed and fails its own markets alone', async (_what, alter) => {
      const all = markets(6);
      node.alters = (answer, asked) => (asksAbout(all[3])(asked) ? alter(answer) : answer);
      const { lending } = await pairwise.readLendingState(all);
      expect([...lending.failures]).toEqual(idsOf(all.slice(2, 4)).map((id) => [id, 'malformed']));
      expect(lending.values.size).toBe(4);
    });

    test('error: ChainReadError implausible when they tell different times, or one is of another chain', async () => {
      const all = markets(6);
      for (const at of [65, 129]) {
        node.alters = (answer, asked) =>
          asksAbout(all[4])(asked) ? (`${answer.slice(0, at)}f${answer.slice(at + 1)}` as Hex) : answer;
        await expect(pairwise.readLendingState(all)).rejects.toMatchObject({ reason: 'implausible' });
      }
    });

    test('error: ChainReadError when none is answered', async () => {
      node.refuses = () => true;
      await expect(pairwise.readLendingState(markets(6))).rejects.toMatchObject({ reason: 'server_error' });
      node.refuses = () => false;
      node.alters = () => '0x';
      await expect(pairwise.readLendingState(markets(6))).rejects.toMatchObject({ reason: 'malformed' });
    });
  });

  test('error: ChainReadError for an answer that is no JSON, an unreachable node, and the node of another chain', async () => {
    node.broken = 'garbage';
    await expect(reader.readLendingState(markets(1))).rejects.toBeInstanceOf(ChainReadError);
    node.broken = null;
    node.chainId = 4663;
    await expect(reader.readLendingState(markets(1))).rejects.toMatchObject({ reason: 'implausible' });
    const client = createChainClient({ chainId: 1, rpcUrl: 'http://127.0.0.1:1', retryCount: 0 });
    const nowhere = createChainReader({ client, chain });
    await expect(nowhere.readLendingState(markets(1))).rejects.toMatchObject({ reason: 'unreachable' });
  });

  test('behavior: an abort ends the read with the reason of the abort', async () => {
    node.broken = 'hang';
    const stop = new AbortController();
    const reading = reader.readLendingState(markets(1), { signal: stop.signal });
    stop.abort(new Error('stopping'));
    await expect(reading).rejects.toThrow('stopping');
  });
});

describe('readOnchainRates', () => {
  test('behavior: asks the view that the catalog names; a token without one is not configured', async () => {
    const token = {
      ...template.collateral,
      address: getAddress(pad('0xb1', { size: 20 })),
      onchainRate: 'str' as const,
    };
    const other = { ...template.loan };
    script.set(
      token.address,
      encodeFunctionResult({ abi: savingsRateAbi, functionName: 'str', result: 10n ** 27n + 5n }),
    );
    const { rates } = await reader.readOnchainRates([token, other]);
    expect([...rates.values]).toEqual([[token.address, 10n ** 27n + 5n]]);
    expect([...rates.failures]).toEqual([[other.address, 'not_configured']]);
    expect(node.requests).toBe(2);
  });

  test.each([0n, 10n ** 27n - 1n, 2n * 10n ** 27n])('behavior: a rate of %s is not believed', async (rate) => {
    const token = { ...template.collateral, onchainRate: 'vsr' as const };
    script.set(token.address, encodeAbiParameters([{ type: 'uint256' }], [rate]));
    const { rates } = await reader.readOnchainRates([token]);
    expect([...rates.failures]).toEqual([[token.address, 'implausible']]);
  });
});
