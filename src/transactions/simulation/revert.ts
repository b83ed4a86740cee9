import { type Abi, decodeErrorResult, type Hex, parseAbi } from 'viem';
import { equityRouterAbi } from '../../abi/equity-router.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import { publicAllocatorAbi } from '../../abi/public-allocator.ts';

/** A revert in words. */
export interface DecodedRevert {
  readonly reason: string;
  readonly args: readonly { readonly name: string; readonly value: string }[];
}

/** Swap venues of the outside world have errors of their own; these are the ones that are often met behind `SwapFailed`. */
const venueErrorsAbi = parseAbi([
  'error OutputBelowMinimum(uint256 amountOut, uint256 minOut)',
  'error SizeBeyondDepth(uint256 impactWad)',
  'error NoRoute(address tokenIn, address tokenOut)',
]);
const knownErrors: Abi = [
  ...flashLeverageAbi,
  ...flashLeverageRouterAbi,
  ...equityRouterAbi,
  ...publicAllocatorAbi,
  ...venueErrorsAbi,
];

/** Errors that come from prices and fills: the same request with a fresh quote may pass. */
const CURABLE: ReadonlySet<string> = new Set([
  'InsufficientOutput',
  'SwapFailed',
  'SlippageAboveCap',
  'LtvAboveMax',
  'ProceedsBelowDebt',
  'MaxOutflowExceeded',
  'MaxInflowExceeded',
  'NotEnoughSupply',
  'IncorrectFee',
]);
const MAX_TEXT = 120;

/** Decode revert data with every error that our calls can meet; the reason of a failed swap is unfolded into its arguments. */
export function decodeRevert(data: Hex): DecodedRevert {
  try {
    const { errorName, args, abiItem } = decodeErrorResult({ abi: knownErrors, data });
    const inputs = 'inputs' in abiItem ? abiItem.inputs : [];
    return {
      reason: errorName,
      args: inputs.map(({ name }, i) => {
        const value: unknown = args?.[i];
        const isReason = errorName === 'SwapFailed' && name === 'reason';
        return { name: name ?? String(i), value: isReason ? innerReason(value as Hex) : plain(value) };
      }),
    };
  } catch {
    return { reason: 'unknown', args: data === '0x' ? [] : [{ name: 'selector', value: data.slice(0, 10) }] };
  }
}

/** Say whether building again with a fresh quote may help. */
export function isCurable({ reason }: DecodedRevert): boolean {
  return CURABLE.has(reason);
}

function innerReason(data: Hex): string {
  const { reason, args } = decodeRevert(data);
  return args.length === 0 ? reason : `${reason}(${args.map(({ value }) => value).join(', ')})`.slice(0, MAX_TEXT);
}

/** Texts of foreign contracts are cut and stripped to plain characters. */
function plain(value: unknown): string {
  return String(value)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_TEXT);
}
