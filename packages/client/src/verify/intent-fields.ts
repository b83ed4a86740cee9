import { VerificationError } from './errors.ts';
import { isFields, quoted } from './plan.ts';
import type { Intent, SwapLimits } from './types.ts';

const ASKED = ['action', 'chainId', 'owner'];
const OF_POSITION = [...ASKED, 'marketId', 'positionId'];
const OF_VAULT = [...ASKED, 'vaultId', 'state', 'slippage', 'maxSwapLoss', 'maxTotalLoss'];
const SWAP_LIMITS = ['slippage', 'maxSwapLoss', 'minAmountOut'] as const satisfies readonly (keyof SwapLimits)[];
const SWAPPED = [...SWAP_LIMITS, 'maxTotalLoss'];
const TARGET = ['leverage', 'desiredLtv'];

/** Every field of an intent that a proof looks at. */
const KNOWN: Readonly<Record<Intent['action'], readonly string[]>> = {
  open_leverage: [...ASKED, 'marketId', 'pay', 'reallocation', 'state', ...SWAPPED, ...TARGET],
  increase_leverage: [...OF_POSITION, 'state', ...SWAPPED, ...TARGET],
  add_collateral: [...OF_POSITION, 'pay', 'state', ...SWAP_LIMITS],
  remove_collateral: [...OF_POSITION, 'amount', 'state'],
  borrow: [...OF_POSITION, 'amount'],
  repay: [...OF_POSITION, 'pay', 'full', 'isExact', 'state', ...SWAP_LIMITS],
  close: [...OF_POSITION, 'amount', 'exact', 'state', ...SWAPPED],
  equity_deposit: [...OF_VAULT, 'amount', 'stockLtv', 'yieldLtv'],
  equity_exit: [...OF_VAULT, 'positionIds', 'exact', 'minAmountOut'],
  revoke_authorization: [...ASKED, 'authorized'],
  manual_exit: [...ASKED, 'marketId', 'proxy', 'state'],
};
const KNOWN_INSIDE = { pay: ['token', 'amount', 'worth'], reallocation: ['vaults', 'maxFee'] } as const;
const RATIOS = ['slippage', 'maxSwapLoss', 'maxTotalLoss', 'leverage', 'desiredLtv', 'stockLtv', 'yieldLtv'];

/**
 * Refuse fields that no proof looks at, such as a misspelled limit, and ratios of another kind: they would limit nothing.
 * @throws VerificationError
 */
export function requireKnownFields(intent: Readonly<Record<string, unknown>>, action: Intent['action']): void {
  requireKnown(intent, KNOWN[action], `an intent to ${action}`);
  for (const [name, known] of Object.entries(KNOWN_INSIDE)) {
    const inner = intent[name];
    if (isFields(inner)) requireKnown(inner, known, `${name} of an intent`);
  }
  for (const name of RATIOS) {
    const value = intent[name];
    if (value === undefined || typeof value === 'number' || typeof value === 'string') continue;
    const message = `${name} of the intent is ${quoted(value)}, and a decimal number was expected, e.g. 0.005.`;
    throw new VerificationError('intent', message);
  }
}

function requireKnown(given: Readonly<Record<string, unknown>>, known: readonly string[], of: string): void {
  const unknown = Object.keys(given).find((name) => given[name] !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  const message = `${quoted(unknown)} is no field of ${of}: nothing checks it. Known are ${known.join(', ')}.`;
  throw new VerificationError('intent', message);
}

/** Refuse limits of a swap where the payment is not swapped. @throws VerificationError */
export function requireNoLimits(
  intent: SwapLimits,
  symbol: string,
  names: readonly (keyof SwapLimits)[] = SWAP_LIMITS,
) {
  const given = names.find((name) => intent[name] !== undefined);
  if (given === undefined) return;
  const message = `${given} of the intent limits nothing: paid with ${symbol}, nothing is swapped for it. Leave it out.`;
  throw new VerificationError('intent', message);
}
