import type { Places } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { less, more, type OwnMoney, percentOf, ROUNDING, type SwapAtLeast, totalLossOf, unitsText } from './numbers.ts';
import { amountOf, type Proof, shown } from './proof.ts';
import type { TotalLimits } from './types.ts';

/** A swap inside a call, with its reference. */
export interface SwapCheck {
  readonly index: number;
  /** As in `VerifiedSwap`. */
  readonly of: string;
  readonly sells: { readonly token: string; readonly amount: bigint };
  readonly swapData: { readonly extRouter: string; readonly extCalldata: string };
  /** Of the call, and the path of `extCalldata` in it. */
  readonly places: Places;
  readonly path: string;
  readonly tokenOut: string;
  readonly minimum: bigint;
  /** The value of the input in base units of the output, by the caller's readings. */
  readonly reference: bigint | undefined;
  /** The most that may be lost of it, WAD. */
  readonly loss: bigint;
  /** The least output that was asked for. */
  readonly asked?: bigint | undefined;
  /** The fate of input that the router does not use. */
  readonly partial: 'reverts' | 'returned';
}

/**
 * Prove that a swap goes to a trusted router, and that the least output that its contract enforces is near the reference: not
 * below it by more than the loss that is allowed, and not above it by more, where the readings cannot be those of the plan.
 * @throws VerificationError
 */
export function proveSwap(proof: Proof, swap: SwapCheck): void {
  const { index, swapData, places, path, tokenOut, minimum, reference, loss, partial } = swap;
  const router = swapData.extRouter.toLowerCase();
  if (!proof.chain.swapRouters.some((trusted) => trusted.toLowerCase() === router)) {
    const message = `it swaps at ${shown(router)}, which is none of the trusted swap routers of chain ${proof.chain.chainId}.`;
    throw new VerificationError('router', message, index);
  }
  requireNear(proof, swap, tokenOut, minimum, reference, loss);
  if (swap.asked !== undefined && minimum < swap.asked) {
    const [given, asked] = [minimum, swap.asked].map((units) => amountOf(proof, tokenOut, units).text);
    const message = `its swap may give as little as ${given}, and minAmountOut of the intent is ${asked}.`;
    throw new VerificationError('minimum', message, index);
  }
  const place = places[path];
  if (!place) throw new VerificationError('encoding', `${path} was not found.`, index);
  const rest = partial === 'reverts' ? 'it reverts if a part is left' : 'a part that is left is returned';
  const because = `The contract allows ${shown(router)} the input of this swap and nothing else, ${rest}, and it reverts below ${amountOf(proof, tokenOut, minimum).text}.`;
  const sells = amountOf(proof, swap.sells.token, swap.sells.amount);
  proof.swaps.push({ of: swap.of, sells, givesAtLeast: amountOf(proof, tokenOut, minimum) });
  proof.opaque.push({ callIndex: index, ...place, what: 'swap', because });
}

function requireNear(
  proof: Proof,
  { index }: SwapCheck,
  tokenOut: string,
  minimum: bigint,
  reference: bigint | undefined,
  loss: bigint,
): void {
  if (reference === undefined) {
    const message = 'The payment is swapped: give its value (pay.worth), so that the least output can be judged.';
    throw new VerificationError('intent', message);
  }
  const least = less(reference, loss) - ROUNDING;
  const text = (units: bigint) => amountOf(proof, tokenOut, units).text;
  if (minimum < least || minimum === 0n) {
    const share = reference === 0n ? 0n : ((reference - minimum) * 1_000_000n) / reference;
    const message = `its swap may give as little as ${text(minimum)}, and at least ${text(least < 0n ? 0n : least)} was asked for: ${unitsText(share, 4)} % less than its worth by your readings, of which slippage and maxSwapLoss allow ${unitsText(loss / 10n ** 12n, 4)} %.`;
    throw new VerificationError('minimum', message, index);
  }
  if (minimum > more(reference, loss)) {
    const message = `its swap demands ${text(minimum)} of something that is worth ${text(reference)} by your readings: they are not those of the plan, or it would revert.`;
    throw new VerificationError('minimum', message, index);
  }
}

/**
 * Prove that all swaps of a plan together lose no more of the own money than is allowed, and state the loss.
 * @throws VerificationError
 */
export function proveTotalLoss(
  proof: Proof,
  index: number,
  limits: TotalLimits,
  swaps: readonly SwapAtLeast[],
  own: OwnMoney & { readonly token: string },
): void {
  const { lost, most } = totalLossOf(limits, swaps, own);
  const amount = amountOf(proof, own.token, lost);
  proof.swapLoss = { amount, ofEquityPct: percentOf(lost, own.equity) };
  if (lost <= most) return;
  const message = `its swaps together may lose ${amount.text}, and slippage and maxTotalLoss allow ${amountOf(proof, own.token, most).text}.`;
  throw new VerificationError('minimum', message, index);
}
