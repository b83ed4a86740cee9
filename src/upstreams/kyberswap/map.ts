import type { FailureReason } from '../../domain/facts.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { checkSwap, nativeAlias } from '../quotes.ts';
import { readAddress, readAmount, readDecimal, USD_AMOUNT } from '../readings.ts';
import type { RouteRequest, SwapQuote, SwapRequest } from '../types.ts';
import type { Build, RouteSummary, Routes } from './schema.ts';

export interface MappedRoute {
  readonly amountOut: bigint;
  readonly amountOutUsd?: Decimal | undefined;
  readonly summary: RouteSummary;
}

/** The route, checked against the request. */
export function mapRoute(request: RouteRequest, answer: Routes): MappedRoute | FailureReason {
  const summary = answer.data.routeSummary;
  const amountIn = readAmount(summary.amountIn);
  if (summary.amountIn !== undefined && !(amountIn.ok && amountIn.value === request.amountIn)) return 'implausible';
  if (!isToken(summary.tokenIn, request.tokenIn) || !isToken(summary.tokenOut, request.tokenOut)) return 'implausible';
  const amountOut = readAmount(summary.amountOut);
  if (!amountOut.ok) return amountOut.reason;
  if (amountOut.value === 0n) return 'implausible';
  // The provider writes 0 when it has no price of the token.
  const usd = readDecimal(summary.amountOutUsd, USD_AMOUNT);
  const hasUsd = usd.ok && usd.value.isPositive() && !usd.value.isZero();
  return { amountOut: amountOut.value, amountOutUsd: hasUsd ? usd.value : undefined, summary };
}

export function mapBuild(request: SwapRequest, answer: Build, expiresAtMs: number): SwapQuote | FailureReason {
  const { routerAddress, data, amountIn, amountOut, transactionValue } = answer.data;
  return checkSwap(
    'AggregatorOne',
    request,
    { to: routerAddress, data, amountIn, amountOut, value: transactionValue },
    expiresAtMs,
  );
}

/** Absent, or the requested token. */
function isToken(raw: unknown, expected: RouteRequest['tokenIn']): boolean {
  if (raw === undefined) return true;
  const token = readAddress(raw);
  return token.ok && token.value === nativeAlias(expected);
}
