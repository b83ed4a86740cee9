import { zeroAddress } from 'viem';
import type { SwapSource } from '../catalog/schema.ts';
import type { Chain } from '../catalog/types.ts';
import type { FailureReason } from '../domain/facts.ts';
import { PLAN_EXPIRY_SEC } from '../shared/contract/plan-expiry.ts';
import { Decimal } from '../shared/decimal.ts';
import type { Address, Hex } from '../shared/ids.ts';
import { readAddress, readAmount } from './readings.ts';
import type { SwapQuote, SwapRequest } from './types.ts';

/** Address that swap aggregators use for the native token; inside the product it is the zero address. */
const NATIVE_ALIAS: Address = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';

/** Words with which a venue without codes for it says that it has no route. */
const NO_ROUTE_WORDS = /^(no route found|(can )?not find route|route not found)\.?$/i;

/** Whether a venue's own message, in full, says that it has no route. Any other refusal is a failure. */
export function saysNoRoute(message: unknown): boolean {
  return typeof message === 'string' && NO_ROUTE_WORDS.test(message.trim());
}

export function nativeAlias(token: Address): Address {
  return token === zeroAddress ? NATIVE_ALIAS : token;
}

/** Expiry of a quote requested at `askedAtMs`: after 60 s, or earlier by the provider's own expiry. */
export function quoteExpiry(requestedAtMs: number, ownExpiryMs?: number): number {
  return Math.min(requestedAtMs + PLAN_EXPIRY_SEC * 1_000, ownExpiryMs ?? Number.POSITIVE_INFINITY);
}

/** Slippage in whole basis points, rounded down so that it is never looser than requested. */
export function slippageBps(request: SwapRequest): number {
  return request.slippage.shiftedBy(4).integerValue(Decimal.ROUND_DOWN).toNumber();
}

/** A venue's answer about a swap, unchecked. */
export interface RawSwap {
  readonly to: unknown;
  readonly data: unknown;
  readonly amountOut: unknown;
  /** Echo of the requested amount; checked where it is given. */
  readonly amountIn?: unknown;
  readonly value?: unknown;
  /** Referral fee that the venue takes, basis points; default: the requested one. */
  readonly feeBps?: number | undefined;
}

/**
 * Convert a venue's answer to a quote, or refuse it: the router must be on the chain's allow-list, the echoed amount and
 * native value must match the request, and the output must be positive.
 */
export function checkSwap(
  source: SwapSource,
  request: SwapRequest,
  raw: RawSwap,
  expiresAtMs: number,
): SwapQuote | FailureReason {
  const router = readAddress(raw.to);
  if (!router.ok) return router.reason;
  if (!isAllowedRouter(request.chain, source, router.value)) return 'implausible';
  if (typeof raw.data !== 'string' || !/^0x([0-9a-fA-F]{2}){4,}$/.test(raw.data)) return 'malformed';
  const amountOut = readAmount(raw.amountOut);
  if (!amountOut.ok) return amountOut.reason;
  if (amountOut.value === 0n) return 'implausible';
  const value = request.tokenIn === zeroAddress ? request.amountIn : 0n;
  if (!agrees(raw.amountIn, request.amountIn) || !agrees(raw.value, value)) return 'implausible';
  return {
    source,
    amountIn: request.amountIn,
    amountOut: amountOut.value,
    feeBps: raw.feeBps ?? feeBpsOf(request),
    router: router.value,
    calldata: raw.data as Hex,
    value,
    expiresAtMs,
  };
}

/** The fee of a request; 0 without a receiver. */
export function feeBpsOf({ feeBps, feeReceiver }: Pick<SwapRequest, 'feeBps' | 'feeReceiver'>): number {
  return feeReceiver === undefined ? 0 : feeBps;
}

function isAllowedRouter(chain: Chain, source: SwapSource, router: Address): boolean {
  return chain.swapRouters[source]?.includes(router) ?? false;
}

/** Whether a value is absent or equals the expected amount (decimal or 0x-hex). */
function agrees(raw: unknown, expected: bigint): boolean {
  if (raw === undefined || raw === null || raw === '') return true;
  if (typeof raw === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(raw)) return BigInt(raw) === expected;
  const amount = readAmount(raw);
  return amount.ok && amount.value === expected;
}
