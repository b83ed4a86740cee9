import { type Decimal, formatUnitsPlain, toFixedHalfUp } from '../shared/decimal.ts';
import { NAMES } from '../shared/names.ts';
import { worstOutput } from './quote/planned.ts';
import type { Issue, PlannedSwap, PositionPreview, TokenAmount } from './types.ts';

/** Show base units as whole tokens with the symbol. */
export function formatAmount(units: bigint, { decimals, symbol }: { decimals: number; symbol: string }): string {
  return `${formatUnitsPlain(units, decimals)} ${symbol}`;
}

/** Describe a swap with its expected and its least output. */
export function swapNote(swap: PlannedSwap): string {
  const { quote, tokenIn, tokenOut, expectedOut } = swap;
  return `${quote.source} swaps ${formatAmount(quote.amountIn, tokenIn)} into about ${formatAmount(expectedOut, tokenOut)}, at least ${formatUnitsPlain(worstOutput(swap), tokenOut.decimals)}.`;
}

/** Name a borrow incentive that is counted as it is paid now; nothing where none is. */
export function incentiveNote(isPaid: boolean, isNewDebt: boolean): readonly string[] {
  if (!isPaid) return [];
  if (!isNewDebt) return ['A borrow incentive is counted as it is paid now.'];
  return ['A borrow incentive is counted as it is paid now: its dilution by the new debt is unknown.'];
}

/** Whether a borrow incentive is in the APY of a preview. */
export function countsIncentive(preview: PositionPreview | undefined): boolean {
  return preview?.expectedLeverageApyPct !== undefined && (preview.rates?.incentiveAprPct.gt(0) ?? false);
}

/** Describe the wallet's gain in a simulation. */
export function receivedNote({ token, amount }: TokenAmount): string {
  return `In simulation ${formatAmount(amount, token)} is paid out.`;
}

export interface InstructionsInput {
  readonly what: 'transaction' | 'batch';
  readonly user: string;
  /** How many there are. */
  readonly approvals: number;
  readonly calls: number;
  readonly swaps: readonly PlannedSwap[];
  readonly notes: readonly string[];
  readonly issues: readonly Issue[];
  readonly expiresAtMs: number;
  readonly signingUrl?: string | undefined;
}

/** Write the steps of the signer in order. */
export function instructionsOf(input: InstructionsInput): string {
  const { what, swaps, notes, issues, expiresAtMs, signingUrl } = input;
  const validity = swaps.length === 1 ? 'The swap price holds' : 'The swap prices hold';
  return [
    ...issues.filter(({ kind }) => kind !== 'APPROVAL_NEEDED').map(({ message }) => message),
    ...(what === 'batch' ? batchSentences(input) : [signingSentence(input)]),
    ...(swaps.length === 0
      ? []
      : [`${validity} until ${new Date(expiresAtMs).toISOString()}: build again after that.`]),
    ...swaps.map(swapNote),
    ...notes,
    ...(signingUrl === undefined ? [] : [`Or review and sign in the app: ${signingUrl}`]),
  ].join(' ');
}

function signingSentence({ user, approvals }: InstructionsInput): string {
  const { plan: names } = NAMES;
  if (approvals === 0) return `Sign and send ${names.transaction} from ${user}; no approval is needed.`;
  const entries =
    approvals === 1
      ? `the one ${names.approval} and wait until it is mined`
      : `the ${approvals} ${names.approvals} in order and wait until they are mined`;
  return `From ${user}: sign and send ${entries}, then sign and send ${names.transaction}.`;
}

function batchSentences({ user, calls }: InstructionsInput): readonly string[] {
  return [
    `From ${user}: send all ${calls} calls as one atomic batch (EIP-5792 wallet_sendCalls with atomicRequired).`,
    'A wallet that cannot batch sends them one by one in order, waits for each, and always sends the last one, even when one before it failed: it revokes the authorization of the router.',
  ];
}

/** Say what an exact close leaves, and how to go on. */
export function exactNote(isImmune: boolean): string {
  return isImmune
    ? 'It names the collateral that was read: what somebody adds meanwhile stays in the position, with its share of the debt. Build a close once more for it.'
    : 'It names the collateral that was read. At its liquidation LTV the position can leave nothing behind: if somebody adds collateral meanwhile, it reverts and nothing changes. Build it again then.';
}

/** Show a ratio such as 0.0012 as percent. */
export function formatPercent(pct: Decimal): string {
  return `${toFixedHalfUp(pct, 2)} %`;
}
