import type { Abi, Address } from 'viem';
import { checksummed } from '../hash/checksum.ts';
import { decodeExactly, type ExactCall, type Methods } from './calldata.ts';
import { type RefusalCode, VerificationError } from './errors.ts';
import { unitsText } from './numbers.ts';
import type { ReadCall } from './plan.ts';
import type {
  Authorization,
  OpaqueBytes,
  PositionBounds,
  TrustedChain,
  TrustedMarket,
  Verified,
  VerifiedAmount,
  VerifiedSwap,
} from './types.ts';

/** The part of the proof of a plan so far. */
export interface Proof {
  readonly chain: TrustedChain;
  /** Lower case. */
  readonly owner: Address;
  /** Calls that were not proven yet, in order. */
  readonly left: ReadCall[];
  readonly sentences: string[];
  readonly spends: VerifiedAmount[];
  readonly receives: VerifiedAmount[];
  readonly swaps: VerifiedSwap[];
  readonly authorizes: Authorization[];
  readonly opaque: OpaqueBytes[];
  readonly assumptions: string[];
  readonly changes: PositionBounds[];
  position?: Verified['position'];
  swapLoss?: Verified['swapsLoseAtMost'];
  highCost?: Verified['highCost'];
}

export function startProof(chain: TrustedChain, owner: Address, calls: readonly ReadCall[]): Proof {
  return {
    chain,
    owner,
    left: [...calls],
    sentences: [],
    spends: [],
    receives: [],
    swaps: [],
    authorizes: [],
    opaque: [],
    assumptions: [],
    changes: [],
  };
}

/** Take the next call, which has to go to a certain contract. @throws VerificationError */
export function takeCall(proof: Proof, to: Address, name: string): ReadCall {
  const call = proof.left.shift();
  if (!call) throw new VerificationError('shape', `The plan ends before its call of ${name}.`);
  if (call.to === to.toLowerCase()) return call;
  throw differs(call.index, 'target', 'it goes to', call.to, `${name} at ${shown(to)}`);
}

/** Take the next call and decode it as one of the methods of a contract; it sends no value. @throws VerificationError */
export function takeDecoded<A extends Abi, N extends string>(
  proof: Proof,
  to: Address,
  name: string,
  methods: Methods<A, N>,
): ReadCall & { readonly decoded: ExactCall<A, N> } {
  const call = takeCall(proof, to, name);
  requireValue(call, 0n, proof.chain);
  return { ...call, decoded: decodeExactly(methods, call.data, call.index) };
}

/** @throws VerificationError for another value in wei */
export function requireValue({ index, value }: ReadCall, expected: bigint, { nativeSymbol }: TrustedChain): void {
  if (value === expected) return;
  const text = (wei: bigint) => `${unitsText(wei, 18)} ${nativeSymbol}`;
  throw differs(index, 'value', 'it sends', text(value), text(expected));
}

/** @throws VerificationError where calls are left that nothing asked for */
export function requireNoMore({ left: [call] }: Proof): void {
  if (!call) return;
  throw new VerificationError('shape', `nothing was asked that needs it. It goes to ${shown(call.to)}.`, call.index);
}

/** @throws VerificationError naming both */
export function requireSameAddress(
  index: number,
  code: RefusalCode,
  what: string,
  actual: string,
  asked: string,
): void {
  if (actual.toLowerCase() !== asked.toLowerCase()) throw differs(index, code, what, actual, asked);
}

/** @throws VerificationError naming both */
export function requireSameNumber(
  index: number,
  code: RefusalCode,
  what: string,
  actual: bigint,
  asked: bigint,
  text: (value: bigint) => string = String,
): void {
  if (actual !== asked) throw differs(index, code, what, text(actual), text(asked));
}

/** Addresses are given as they are: their checksum is computed for a message only. */
export function differs(index: number, code: RefusalCode, what: string, actual: string, asked: string) {
  const text = (value: string) => (/^0x[0-9a-fA-F]{40}$/.test(value) ? shown(value) : value);
  return new VerificationError(code, `${what} ${text(actual)}, and ${text(asked)} was asked for.`, index);
}

/** An amount in the words of the trusted tokens; of an unlisted one in base units. */
export function amountOf({ chain }: Pick<Proof, 'chain'>, token: string, amount: bigint): VerifiedAmount {
  const lower = token.toLowerCase();
  const known = chain.tokens.find(({ address }) => address.toLowerCase() === lower);
  const text = known
    ? `${unitsText(amount, known.decimals)} ${known.symbol}`
    : `${amount} base units of the token ${shown(token)}`;
  return { token: shown(token), amount, text };
}

/** The bounds of a position, in base units. An absent amount is zero; an absent `takesOut` or `owes` is not bounded. */
export interface Change {
  readonly adds?: bigint;
  readonly takesOut?: bigint | 'all';
  readonly borrows?: bigint;
  readonly repays?: bigint;
  readonly owes?: bigint;
}

/** Record the effects of the calls on a position. */
export function recordChange(
  proof: Proof,
  of: PositionBounds['of'],
  { id: marketId, collateralToken, loanToken }: TrustedMarket,
  { adds = 0n, takesOut = 0n, borrows = 0n, repays, owes }: Change,
): void {
  const collateral = (amount: bigint) => amountOf(proof, collateralToken, amount);
  const loan = (amount: bigint) => amountOf(proof, loanToken, amount);
  proof.changes.push({
    of,
    marketId,
    addsAtLeast: collateral(adds),
    borrowsAtMost: loan(borrows),
    ...(takesOut === 'all' ? NOTHING : { takesOutAtMost: collateral(takesOut) }),
    ...(repays === undefined ? NOTHING : { repaysAtLeast: loan(repays) }),
    ...(owes === undefined ? NOTHING : { owes: loan(owes) }),
  });
}

/** The symbol of a trusted token; of another one its address in words. */
export const symbolOf = (proof: Proof, token: string): string => amountOf(proof, token, 0n).text.replace(/^0 /, '');

/** The address that stands for the native token. */
export const NATIVE_TOKEN = '0x0000000000000000000000000000000000000000';

export const isNative = (token: string): boolean => token === NATIVE_TOKEN;

/** The checksummed address. */
export const shown = (address: string): Address => checksummed(address);

/** Close the report. */
export function concluded(proof: Proof): Omit<Verified, 'action' | 'chainId' | 'calls'> {
  const {
    owner,
    sentences,
    spends,
    receives,
    swaps,
    authorizes,
    opaque,
    assumptions,
    changes,
    position,
    swapLoss,
    highCost,
  } = proof;
  const [spent, received] = [byToken(proof, spends), byToken(proof, receives)];
  const list = (amounts: readonly VerifiedAmount[]) => amounts.map(({ text }) => text).join(' and ');
  const bounds = [
    spent.length === 0 ? 'It spends nothing of the wallet.' : `It spends at most ${list(spent)}.`,
    received.length === 0 ? undefined : `The wallet receives at least ${list(received)}.`,
    swapLoss === undefined ? undefined : lossSentence(swapLoss),
    highCost === undefined ? undefined : costSentence(highCost),
    authorizes.length === 0 ? 'It authorizes nobody.' : undefined,
    authorizes.some(({ until }) => until)
      ? 'The rights that it gives end with those calls, if all of them are sent.'
      : undefined,
    `It acts for ${shown(owner)} only.`,
  ];
  return {
    owner: shown(owner),
    sentences: [...sentences, ...bounds.filter((text) => text !== undefined)],
    spendsAtMost: spent,
    receivesAtLeast: received,
    swaps,
    ...(position === undefined ? NOTHING : { position }),
    ...(swapLoss === undefined ? NOTHING : { swapsLoseAtMost: swapLoss }),
    ...(highCost === undefined ? NOTHING : { highCost }),
    authorizes,
    opaque,
    assumptions,
    changes,
  };
}

const NOTHING = {};

function lossSentence({ amount, ofEquityPct }: NonNullable<Verified['swapsLoseAtMost']>): string {
  const share = ofEquityPct === 'unbounded' ? 'more than the own money' : `${ofEquityPct} % of the own money`;
  return `By your readings its swaps lose at most ${amount.text}, ${share}.`;
}

function costSentence({ amount, ofEquityPct }: NonNullable<Verified['highCost']>): string {
  const share = ofEquityPct === 'unbounded' ? 'and there is no own money' : `${ofEquityPct} % of the own money`;
  return `A high cost: of that, ${amount.text} are expected to be lost besides the slippage, ${share}.`;
}

/** One amount for each token: a reader that looks for a token takes the first. */
function byToken(proof: Proof, amounts: readonly VerifiedAmount[]): readonly VerifiedAmount[] {
  const sums = new Map<string, bigint>();
  for (const { token, amount } of amounts) sums.set(token, (sums.get(token) ?? 0n) + amount);
  return [...sums].map(([token, amount]) => amountOf(proof, token, amount));
}
