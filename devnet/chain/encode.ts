import type { Abi, Address, Hex } from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { type Artifacts, artifactOf } from './compile.ts';
import type { Transaction } from './context.ts';

/** Build calldata of a compiled contract. Its ABI is known at run time only, hence the loose arguments. */
export function encode(artifacts: Artifacts, contract: string, functionName: string, args: readonly unknown[]): Hex {
  const abi: Abi = artifactOf(artifacts, contract).abi;
  return encodeFunctionData({ abi, functionName, args: [...args] });
}

/** Describe one deployment step: `from` calls a function of the contract at `to`. */
export function step(
  artifacts: Artifacts,
  from: Address,
  to: Address,
  contract: string,
  functionName: string,
  args: readonly unknown[],
): Transaction {
  const data = encode(artifacts, contract, functionName, args);
  return { from, to, data, label: `${contract}.${functionName}` };
}
