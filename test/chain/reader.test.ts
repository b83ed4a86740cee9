import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
  pad,
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
const PRICE = 10n ** 36n;

/** Many markets that exist nowhere, each with an oracle of its own. */
function markets(count: number): readonly Market[] {
  return Array.from({ length: count }, (_, i) => ({
    ...template,
    id: keccak256(numberToHex(i)) as MarketId,
    irm: IRM,
    oracle: getAddress(pad(numberToHex(0x10000 + i), { size: 20 })),
  }));
}

let node: ScriptedNode;
let counted: number;
/** Return data by `to:data`; what is not here is answered as a sound contract would. */
let script: Map<string, Hex | 'revert'>;
const scriptOracle = (market: Market, answer: Hex | 'revert'): void => {
  script.set(market.oracle, answer);
};

function contracts(to: Address, data: Hex): Hex | 'revert' {
  const scripted = script.get(to);
  if (scripted !== undefined) return scripted;
  if (to === MORPHO) {
    const { args } = decodeFunctionData({ abi: morphoBlueAbi, data });
    return script.get(args[0]) ?? marketAnswer([1000n, 900n, 500n, 400n, node.timestamp - 60n, 0n]);
  }
  if (to === IRM) {
    const { functionName, args } = decodeFunctionData({ abi: irmAbi, data });
    if (functionName === 'rateAtTarget') return encodeFunctionResult({ abi: irmAbi, functionName, result: 77n });
    // The second round must be asked with the state of the first.
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

  test.each([0, 1, 10, 1_000])('behavior: %i markets are read at one block in at most 3 requests', async (count) => {
    const { lending, oracle } = await reader.readLendingState(markets(count));
    expect([lending.values.size, oracle.values.size]).toEqual([count, count]);
    expect(node.requests).toBeLessThanOrEqual(3);
    expect(counted).toBe(node.requests);
    expect([...node.blocks]).toEqual([numberToHex(100n)]);
  });

  test('behavior: plans and answers are worked through in pieces', async () => {
    const slicing = countedSlicing();
    const client = createChainClient({ chainId: 1, rpcUrl: node.url, retryCount: 0 });
    const { lending } = await createChainReader({ client, chain, slicing }).readLendingState(markets(40));
    expect(lending.values.size).toBe(40);
    // At least once per market for each of: two questions, two answers, the rate's question and its answer.
    expect(slicing.pauses()).toBeGreaterThanOrEqual(40 * 5);
  });

  test('behavior: an oracle that several markets share is read once and answers for all', async () => {
    const [a, b] = markets(2) as [Market, Market];
    const { oracle } = await reader.readLendingState([a, { ...b, oracle: a.oracle }]);
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

  test('behavior: a chunk that the node refuses fails its own items, and the rest of the round stands', async () => {
    const all = markets(6);
    const refused = all[5] as Market;
    node.refuses = (data) => data.includes(refused.id.slice(2));
    const client = createChainClient({ chainId: 1, rpcUrl: node.url, retryCount: 0 });
    const chunked = createChainReader({ client, chain, maxCalldataBytes: 1_024 });
    const { lending, oracle } = await chunked.readLendingState(all);
    expect(node.requests).toBeLessThanOrEqual(3);
    expect(lending.failures.get(refused.id)).toBe('server_error');
    expect(lending.values.size).toBeGreaterThan(0);
    expect(lending.values.size + lending.failures.size).toBe(6);
    expect(oracle.values.size + oracle.failures.size).toBe(6);
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
