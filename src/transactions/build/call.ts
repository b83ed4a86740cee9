import type { Abi, ContractFunctionArgs, ContractFunctionName } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuiltCall, PlannedSwap, SwapData } from '../types.ts';

type Writable = 'nonpayable' | 'payable';

/** The contract function that a call runs, and its arguments. */
export interface ContractFunction<A extends Abi, F extends ContractFunctionName<A, Writable>> {
  readonly abi: A;
  readonly functionName: F;
  readonly args: ContractFunctionArgs<A, Writable, F>;
}

/** Freeze one unsigned call with the name of its function and its arguments in words. @param value wei */
export function contractCall<
  const A extends Abi,
  F extends ContractFunctionName<A, Writable>,
  W,
  const T extends string = F,
>(
  to: Address,
  { abi, functionName, args }: ContractFunction<A, F>,
  words: W,
  { value = 0n, type = functionName as unknown as T }: { readonly value?: bigint; readonly type?: T } = {},
): BuiltCall<T, W> {
  const data = encodeFunctionData({
    abi: abi as Abi,
    functionName: functionName as string,
    args: args as readonly unknown[],
  });
  return Object.freeze({ to, data, value, action: Object.freeze({ type, args: Object.freeze(words) as W }) });
}

/** A chosen quote as the contracts take it. */
export function swapDataOf({ quote }: PlannedSwap): SwapData {
  return { extRouter: quote.router, extCalldata: quote.calldata };
}
