import { type Abi, type AbiParameter, getAbiItem, isHex, toFunctionSelector } from 'viem';
import { decodeFunctionData } from '../abi/calldata.ts';
import { equityRouterAbi } from '../abi/equity-router.ts';
import { erc20Abi } from '../abi/erc20.ts';
import { flashLeverageAbi, userProxyAbi } from '../abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../abi/flash-leverage-router.ts';
import { morphoBlueAbi } from '../abi/morpho-blue.ts';
import type { Address } from '../shared/ids.ts';
import type { BuiltCall } from './types.ts';

/** Calldata in words, decoded from the bytes. */
export interface Intent {
  readonly method: string;
  /** Flattened: `leverageParams.swapData.extRouter`, `reallocateParams.0.vault`. */
  readonly arguments: readonly { readonly name: string; readonly value: string }[];
  /** The contract that gets an allowance; approvals only. */
  readonly spender?: Address | undefined;
  /** Least output of the last swap, base units. */
  readonly minimumOut?: bigint | undefined;
  /** The owner of the resulting position or tokens. */
  readonly recipient: Address;
}

const callsAbi: Abi = [
  ...erc20Abi,
  ...flashLeverageAbi,
  ...flashLeverageRouterAbi,
  ...equityRouterAbi,
  ...morphoBlueAbi,
  ...userProxyAbi,
];
/** Where the minimum of a call's last swap stands. */
const MINIMUMS = [
  'params.leverageParams.minTokenOut',
  'params.minLoanOut',
  'params.minTokenOut',
  'leverageParams.minTokenOut',
  'minTokenOut',
];
const MAX_PRINTED_BYTES = 66;

const APPROVE = toFunctionSelector(getAbiItem({ abi: erc20Abi, name: 'approve' }));

/** Whether a call is the approval of a token. */
export function isApproval({ data }: Pick<BuiltCall, 'data'>): boolean {
  return data.startsWith(APPROVE);
}

/** Decode a built call for people. The recipient is always the signer. */
export function intentOf(call: BuiltCall, signer: Address): Intent {
  const { functionName: method, args = [] } = decodeFunctionData({ abi: callsAbi, data: call.data });
  const item = getAbiItem({ abi: callsAbi, name: method, args: args as never });
  const inputs: readonly AbiParameter[] = item && 'inputs' in item ? item.inputs : [];
  const flat = inputs.flatMap((input, i) => flatten(input.name ?? String(i), (args as readonly unknown[])[i]));
  const find = (name: string) => flat.find((entry) => entry.name === name)?.value;
  const minimum = MINIMUMS.map(find).find((value) => value !== undefined);
  const spender = find('spender');
  return {
    method,
    arguments: flat,
    recipient: signer,
    spender: spender === undefined ? undefined : (spender as Address),
    minimumOut: minimum === undefined ? undefined : BigInt(minimum),
  };
}

function flatten(name: string, value: unknown): { name: string; value: string }[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => flatten(`${name}.${i}`, item));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => flatten(`${name}.${key}`, inner));
  }
  const text = String(value);
  const isLongBytes = isHex(text) && text.length > MAX_PRINTED_BYTES;
  return [
    { name, value: isLongBytes ? `${text.slice(0, MAX_PRINTED_BYTES)}… (${(text.length - 2) / 2} bytes)` : text },
  ];
}
