import { VerificationError } from '../verify/errors.ts';
import { loanValue, unitsText, WAD, wadOf } from '../verify/numbers.ts';
import { NATIVE_TOKEN } from '../verify/proof.ts';
import type { Payment, TrustedChain } from '../verify/types.ts';
import type { RequestFields } from './request.ts';

/** The service caps a larger slippage. */
const MOST_SLIPPAGE = 0.01;

/** Bounds of an opening: `maxSwapLossPct` is percent of the own money, for all swaps together. */
export function openLimits(fields: RequestFields) {
  const { maxSwapLossPct } = fields;
  const slippage = slippageOf(fields);
  if (maxSwapLossPct === undefined) return { slippage };
  return { slippage, maxSwapLoss: shareOf(maxSwapLossPct), maxTotalLoss: shareOf(maxSwapLossPct) };
}

/** A payment without a worth is not swapped: the service accepts these limits, and they have no effect. */
export function paymentLimits(fields: RequestFields, { worth }: Payment) {
  const { maxSwapLossPct } = fields;
  if (worth === undefined) return {};
  const slippage = slippageOf(fields);
  return maxSwapLossPct === undefined ? { slippage } : { slippage, maxSwapLoss: shareOf(maxSwapLossPct) };
}

interface Sold {
  readonly collateral: bigint;
  readonly debt: bigint;
  readonly price: bigint;
  /** The part of the collateral that is sold; absent = all. */
  readonly sold?: bigint | undefined;
}

/** A sale cannot be proven that may lose all but the slippage. WAD. */
const MOST_SALE_LOSS = WAD - 10n ** 16n - 1n;

/** Of sales it is percent of the equity of all together, which one of them may lose alone: another share of its own input. */
export function saleLoss({ maxSwapLossPct }: RequestFields, sales: readonly Sold[]) {
  if (maxSwapLossPct === undefined) return {};
  const equity = sales.reduce((sum, { collateral, debt, price }) => sum + loanValue(collateral, price) - debt, 0n);
  const accepted = (equity > 0n ? equity : 0n) * wadOf(maxSwapLossPct, 'maxSwapLossPct', 16);
  const inputs = sales.map(({ collateral, sold = collateral, price }) => loanValue(sold, price));
  const shares = inputs.map((value) => (value > 0n ? accepted / value + 1n : MOST_SALE_LOSS));
  const most = shares.reduce((a, b) => (a > b ? a : b), 0n);
  const maxSwapLoss = unitsText(most < MOST_SALE_LOSS ? most : MOST_SALE_LOSS, 18);
  return { maxSwapLoss, maxTotalLoss: shareOf(maxSwapLossPct) };
}

export const shareOf = (percent: number) => (percent / 100).toFixed(6);
export const slippageOf = ({ slippage }: RequestFields) =>
  slippage === undefined ? undefined : Math.min(slippage, MOST_SLIPPAGE);

export function targetOf({ leverage, desiredLtv }: RequestFields) {
  const isBoth = (leverage ?? undefined) !== undefined && (desiredLtv ?? undefined) !== undefined;
  if (isBoth) throw lacking('one target (it has leverage and desiredLtv)');
  return leverage === undefined || leverage === null
    ? { desiredLtv: needed(desiredLtv ?? undefined, 'desiredLtv or leverage') }
    : { leverage };
}

/** The index on chain, by itself or at the end of the composite id. */
export function positionOf({ id, positionId }: RequestFields): {
  readonly positionId: number;
  readonly marketId?: string;
} {
  if (typeof id === 'number') return { positionId: id };
  const [, marketId, index] = /^\d+-(0x[0-9a-fA-F]{64})-(\d{1,9})$/.exec(positionId ?? '') ?? [];
  if (marketId === undefined) throw lacking('positionId or id');
  return { positionId: Number(index), marketId };
}

export function unitsOf(chain: TrustedChain, token: string, whole: string): bigint {
  const decimals = decimalsOf(chain, token);
  // Zeros at the end do not count as decimals, as with the service.
  const [, units = '', fraction = ''] = /^(\d{1,60})(?:\.(?=\d)(\d*?)0*)?$/.exec(whole) ?? [];
  if (units !== '' && fraction.length <= decimals) return BigInt(`${units}${fraction.padEnd(decimals, '0')}`);
  throw lacking(`an amount with at most ${decimals} decimals (it is ${whole})`);
}

export function decimalsOf({ chainId, tokens, nativeSymbol }: TrustedChain, token: string): number {
  const found = tokens.find(({ address }) => isSame(address, token));
  if (found) return found.decimals;
  if (isSame(token, NATIVE_TOKEN)) return 18;
  throw new VerificationError('token', `${token} is none of the trusted tokens of chain ${chainId} (${nativeSymbol}).`);
}

export const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

export function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw lacking(name);
  return value;
}

export function lacking(what: string): VerificationError {
  return new VerificationError('intent', `The intent of the plan cannot be derived: the request lacks ${what}.`);
}
