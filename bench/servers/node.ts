import { encodeFunctionResult, getAbiItem, type Hex, numberToHex, pad, toFunctionSelector } from 'viem';
import { aggregatorAbi, feedOracleAbi } from '../../src/abi/feeds.ts';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { startScriptedNode } from '../../test/chain/scripted-node.ts';
import { serve } from '../serve.ts';
import { NOW_MS } from '../synthetic.ts';

/** A JSON-RPC node that knows any market and answers at once. */
serve<object>(async () => {
  const chain = createCatalog(curatedChains).chain(1);
  if (!chain) throw new Error('the catalog has no chain 1');
  const { morphoBlue, multicall3 } = chain.contracts;
  const irms = new Set<string>(chain.markets.map(({ irm }) => irm));
  const unit = 10n ** 18n;
  const now = BigInt(NOW_MS / 1_000);
  const state = encodeFunctionResult({
    abi: morphoBlueAbi,
    functionName: 'market',
    result: [10_000n * unit, 9_500n * unit, 8_500n * unit, 8_000n * unit, now - 7_260n, 0n],
  });
  const rate = encodeFunctionResult({ abi: irmAbi, functionName: 'rateAtTarget', result: 1_268_391_679n });
  const price = encodeFunctionResult({ abi: oracleAbi, functionName: 'price', result: 107n * 10n ** 34n });
  /** Two feeds that all oracles name twice. */
  const feeds = [1, 2].map((n) => pad(numberToHex(0xfeed00 + n), { size: 32 }));
  const round = encodeFunctionResult({
    abi: aggregatorAbi,
    functionName: 'latestRoundData',
    result: [1n, 10n ** 8n, now, now - 600n, 1n],
  });
  const answers = new Map<string, Hex>([
    [toFunctionSelector(getAbiItem({ abi: aggregatorAbi, name: 'latestRoundData' })), round],
    ...(['BASE_FEED_1', 'BASE_FEED_2', 'QUOTE_FEED_1', 'QUOTE_FEED_2'] as const).map(
      (name, i) => [toFunctionSelector(getAbiItem({ abi: feedOracleAbi, name })), feeds[i % 2] ?? '0x'] as const,
    ),
  ]);
  const contracts = (to: string, data: Hex): Hex => {
    if (to === morphoBlue) return state;
    return irms.has(to) ? rate : (answers.get(data) ?? price);
  };
  const node = await startScriptedNode(multicall3, contracts);
  node.timestamp = now;
  node.methods.set('eth_chainId', () => '0x1');
  return { url: node.url, stop: () => node.close() };
});
