import {
  type Abi,
  type AbiFunction,
  decodeAbiParameters,
  decodeFunctionData as decodeByAbi,
  encodeFunctionData as encodeByAbi,
  getAbiItem,
  type Hex,
  slice,
  toFunctionSelector,
} from 'viem';

/*
 * `encodeFunctionData` and `decodeFunctionData` of viem hash the signatures of functions in each call, which takes several times
 * as long as the rest. Here each function is hashed once.
 */

const selectors = new WeakMap<AbiFunction, Hex>();

function selectorOf(item: AbiFunction): Hex {
  const known = selectors.get(item) ?? toFunctionSelector(item);
  selectors.set(item, known);
  return known;
}

interface Encoding {
  readonly abi: Abi;
  readonly functionName?: string;
  readonly args?: readonly unknown[];
}

/** As in viem. */
export const encodeFunctionData = ((call: Encoding): Hex => {
  const { abi, functionName: name, args } = call;
  // A function that `prepareEncodeFunctionData` has hashed.
  if (name?.startsWith('0x')) return encodeByAbi(call as never);
  const item = name === undefined ? undefined : getAbiItem({ abi, name, args } as never);
  if ((item as AbiFunction | undefined)?.type !== 'function') return encodeByAbi(call as never);
  return encodeByAbi({ abi: [item], functionName: selectorOf(item as unknown as AbiFunction), args } as never);
}) as typeof encodeByAbi;

/** As in viem. */
export const decodeFunctionData = (({ abi, data }: { readonly abi: Abi; readonly data: Hex }) => {
  const selector = slice(data, 0, 4);
  const item = abi.find((one): one is AbiFunction => one.type === 'function' && selectorOf(one) === selector);
  // For its error.
  if (!item) return decodeByAbi({ abi, data });
  const args = item.inputs.length > 0 ? decodeAbiParameters(item.inputs, slice(data, 4)) : undefined;
  return { functionName: item.name, args };
}) as typeof decodeByAbi;
