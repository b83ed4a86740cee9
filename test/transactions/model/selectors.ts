import { type Abi, type Hex, toFunctionSelector } from 'viem';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { flashLeverageAbi, userProxyAbi } from '../../../src/abi/flash-leverage.ts';
import { irmAbi } from '../../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import { multicall3Abi } from '../../../src/abi/multicall3.ts';
import { oracleAbi } from '../../../src/abi/oracle.ts';

const abis: readonly Abi[] = [
  erc20Abi,
  flashLeverageAbi,
  userProxyAbi,
  irmAbi,
  morphoBlueAbi,
  multicall3Abi,
  oracleAbi,
];

/** Names of the functions that builders read, by selector. */
export const selectorNames: ReadonlyMap<Hex, string> = new Map(
  abis.flat().flatMap((item) => (item.type === 'function' ? [[toFunctionSelector(item), item.name] as const] : [])),
);
