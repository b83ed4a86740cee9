import { type Abi, type AbiFunction, type Hex, toFunctionSelector } from 'viem';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { aggregatorAbi } from '../../../src/abi/feeds.ts';
import { flashLeverageAbi, userProxyAbi } from '../../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../../src/abi/flash-leverage-router.ts';
import { irmAbi } from '../../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import { multicall3Abi } from '../../../src/abi/multicall3.ts';
import { oracleAbi } from '../../../src/abi/oracle.ts';
import { publicAllocatorAbi } from '../../../src/abi/public-allocator.ts';

const abis: readonly Abi[] = [
  erc20Abi,
  flashLeverageAbi,
  flashLeverageRouterAbi,
  userProxyAbi,
  irmAbi,
  morphoBlueAbi,
  multicall3Abi,
  oracleAbi,
  aggregatorAbi,
  publicAllocatorAbi,
];

/** The functions that builders read and call, by selector. */
export const functionsBySelector: ReadonlyMap<Hex, AbiFunction> = new Map(
  abis.flat().flatMap((item) => (item.type === 'function' ? [[toFunctionSelector(item), item] as const] : [])),
);
