import { type Abi, decodeErrorResult, type Hex } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import { publicAllocatorAbi } from '../../abi/public-allocator.ts';

/** A revert in words. */
export interface DecodedRevert {
  readonly reason: string;
  readonly args: readonly { readonly name: string; readonly value: string }[];
}

const knownErrors: Abi = [...flashLeverageAbi, ...flashLeverageRouterAbi, ...publicAllocatorAbi];

/** Errors that come from prices and fills: the same request with a fresh quote may pass. */
const CURABLE: ReadonlySet<string> = new Set([
  'FlashLeverage__MinTokenOutNotMet',
  'FlashLeverage__SwapRouterCallFailed',
  'FlashLeverage__PartialSwapNotAllowed',
  'FlashLeverage__ExceedsMaxLTV',
  'FlashLeverageRouter__MinTokenOutNotMet',
  'FlashLeverageRouter__SwapRouterCallFailed',
  'MaxOutflowExceeded',
  'MaxInflowExceeded',
  'NotEnoughSupply',
  'IncorrectFee',
]);
const MAX_TEXT = 120;

/** Decode revert data with every error that our calls can meet. */
export function decodeRevert(data: Hex): DecodedRevert {
  try {
    const { errorName, args, abiItem } = decodeErrorResult({ abi: knownErrors, data });
    const inputs = 'inputs' in abiItem ? abiItem.inputs : [];
    return {
      reason: errorName,
      args: inputs.map(({ name }, i) => ({ name: name ?? String(i), value: plain(args?.[i]) })),
    };
  } catch {
    return { reason: 'unknown', args: data === '0x' ? [] : [{ name: 'selector', value: data.slice(0, 10) }] };
  }
}

/** Say whether building again with a fresh quote may help. */
export function isCurable({ reason }: DecodedRevert): boolean {
  return CURABLE.has(reason);
}

/** Texts of foreign contracts are cut and stripped to plain characters. */
function plain(value: unknown): string {
  return String(value)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_TEXT);
}
