import { type Abi, decodeErrorResult, type Hex } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import { foreignErrorsAbi } from '../../abi/foreign-errors.ts';
import { publicAllocatorAbi } from '../../abi/public-allocator.ts';
import { FOREIGN_REVERTS } from './foreign-reverts.ts';
import { PRODUCT_REVERTS } from './product-reverts.ts';
import type { RevertReason } from './revert-reason.ts';

/** A revert in words. */
export interface DecodedRevert {
  /** Name of the error; `Error` for a plain string, which is the argument `message`; `unknown` when nothing decodes it. */
  readonly reason: string;
  readonly args: readonly { readonly name: string; readonly value: string }[];
  /** Cause and next step; absent where the reason is unknown. */
  readonly cause?: string | undefined;
  readonly nextStep?: string | undefined;
  /** Whether building again with a fresh quote may help. */
  readonly curable: boolean;
}

const knownErrors: Abi = [...flashLeverageAbi, ...flashLeverageRouterAbi, ...publicAllocatorAbi, ...foreignErrorsAbi];
/** Every revert with a known cause. `docs/errors.md` has the same table; a test compares both. */
export const REVERT_REASONS: readonly RevertReason[] = [...PRODUCT_REVERTS, ...FOREIGN_REVERTS];
const PREFIX_END = '…';
const exact = new Map(REVERT_REASONS.map((known) => [known.reason, known]));
const prefixes = REVERT_REASONS.filter(({ reason }) => reason.endsWith(PREFIX_END));
const MAX_TEXT = 120;

/** Decode revert data with every error that our calls can meet, with cause and next step. An unknown one keeps its selector. */
export function decodeRevert(data: Hex): DecodedRevert {
  try {
    const { errorName, args, abiItem } = decodeErrorResult({ abi: knownErrors, data });
    const inputs = 'inputs' in abiItem ? abiItem.inputs : [];
    const known = reasonOf(errorName === 'Error' ? String(args?.[0]) : errorName);
    return {
      reason: errorName,
      args: inputs.map(({ name }, i) => ({ name: name ?? String(i), value: plain(args?.[i]) })),
      cause: known?.cause,
      nextStep: known?.nextStep,
      curable: known?.curable ?? false,
    };
  } catch {
    const args = data === '0x' ? [] : [{ name: 'selector', value: data.slice(0, 10) }];
    return { reason: 'unknown', args, curable: false };
  }
}

function reasonOf(text: string): RevertReason | undefined {
  return exact.get(text) ?? prefixes.find(({ reason }) => text.startsWith(reason.slice(0, -PREFIX_END.length)));
}

/** Texts of foreign contracts are cut and stripped to plain characters. */
function plain(value: unknown): string {
  return String(value)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_TEXT);
}
