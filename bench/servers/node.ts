import { concatHex, encodeFunctionResult, getAbiItem, type Hex, pad, toFunctionSelector, zeroAddress } from 'viem';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { startScriptedNode } from '../../test/chain/scripted-node.ts';
import { serve } from '../serve.ts';
import { NOW_MS } from '../synthetic.ts';

/** A JSON-RPC node that knows any market and answers as soon as it has understood the question. */
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
  const [irm = zeroAddress] = irms;
  const idToMarketParams = toFunctionSelector(getAbiItem({ abi: morphoBlueAbi, name: 'idToMarketParams' }));
  /** An oracle of its own for each market: whatever its id ends in. */
  const paramsOf = (question: Hex): Hex => {
    const words: readonly Hex[] = [zeroAddress, zeroAddress, `0x${question.slice(-40)}`, irm as Hex, '0x'];
    return concatHex(words.map((word) => pad(word)));
  };
  const contracts = (to: string, data: Hex): Hex => {
    if (to === morphoBlue) return data.startsWith(idToMarketParams) ? paramsOf(data) : state;
    return irms.has(to) ? rate : price;
  };
  const node = await startScriptedNode(multicall3, contracts);
  node.timestamp = now;
  return { url: node.url, stop: () => node.close() };
});
