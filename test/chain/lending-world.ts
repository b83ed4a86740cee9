import {
  encodeFunctionResult,
  getAbiItem,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toFunctionSelector,
} from 'viem';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import { type Chain, createCatalog, curatedChains, type Market } from '../../src/catalog/index.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { type Answer, type ScriptedNode, startScriptedNode } from './scripted-node.ts';

export const chain = createCatalog(curatedChains).chains[0] as Chain;
export const template = chain.markets[0] as Market;
export const MORPHO = chain.contracts.morphoBlue;
const IRM = getAddress(pad('0xa1', { size: 20 }));
export const OTHER_IRM = getAddress(pad('0xa2', { size: 20 }));
export const PRICE = 10n ** 36n;
const PRICE_SELECTOR = toFunctionSelector(getAbiItem({ abi: oracleAbi, name: 'price' }));

export interface LendingWorld {
  readonly node: ScriptedNode;
  /** Return data by address, address and selector, or market; other calls get the answer of a valid contract. */
  readonly script: Map<string, Answer>;
  /** Create many invented markets, each with its own oracle. */
  markets(count: number): readonly Market[];
}

/** A scripted chain: the lending protocol, two rate models and any number of oracles. */
export async function startLendingWorld(): Promise<LendingWorld> {
  const script = new Map<string, Answer>();

  const contracts = (to: Address, data: Hex): Answer => {
    const scripted = script.get(to) ?? script.get(to + data.slice(0, 10));
    if (scripted !== undefined) return scripted;
    if (to === MORPHO) {
      const { functionName, args } = decodeFunctionData({ abi: morphoBlueAbi, data });
      if (functionName !== 'market') throw new Error(functionName);
      return script.get(String(args[0])) ?? marketAnswer([1000n, 900n, 500n, 400n, node.timestamp - 60n, 0n]);
    }
    if (to === IRM || to === OTHER_IRM) {
      const { functionName, args } = decodeFunctionData({ abi: irmAbi, data });
      if (functionName === 'rateAtTarget') return encodeFunctionResult({ abi: irmAbi, functionName, result: 77n });
      // The rate call must carry the state that was just read.
      return encodeFunctionResult({ abi: irmAbi, functionName, result: args[1].totalBorrowAssets });
    }
    if (to.startsWith('0x0000000000000000000000')) {
      // By default an unknown kind of oracle, without feeds.
      if (data !== PRICE_SELECTOR) return 'silence';
      return encodeFunctionResult({ abi: oracleAbi, functionName: 'price', result: PRICE });
    }
    throw new Error(`call to ${to}`);
  };

  const node = await startScriptedNode(chain.contracts.multicall3, contracts);
  return {
    node,
    script,
    markets: (count) =>
      Array.from({ length: count }, (_, i) => ({
        ...template,
        id: keccak256(numberToHex(i)) as MarketId,
        irm: IRM,
        oracle: getAddress(pad(numberToHex(0x10000 + i), { size: 20 })),
      })),
  };
}

/** The result of `market`. */
export function marketAnswer(result: readonly [bigint, bigint, bigint, bigint, bigint, bigint]): Hex {
  return encodeFunctionResult({ abi: morphoBlueAbi, functionName: 'market', result });
}
