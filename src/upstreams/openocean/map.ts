import type { FailureReason } from '../../domain/facts.ts';
import { checkSwap, feeBpsOf, NO_ROUTE_STATUSES } from '../quotes.ts';
import type { SwapQuote, SwapRequest } from '../types.ts';
import type { Swap } from './schema.ts';

/** Share of a fee that the provider pays to the referrer, percent; it keeps the rest. */
const REFERRER_SHARE_PCT = 80;

/**
 * The fee to request so that the referrer gets at most the intended amount: 5 bps are requested as 6, of which 4.8 arrive. The
 * provider accepts whole basis points, rounded down.
 */
export function takenFeeBps(request: SwapRequest): number {
  return Math.floor((feeBpsOf(request) * 100) / REFERRER_SHARE_PCT);
}

/** The quote, the reason of a refusal, or `null` = no route. */
export function mapSwap(request: SwapRequest, answer: Swap, expiresAtMs: number): SwapQuote | FailureReason | null {
  const { code = 200, data } = answer;
  if (code !== 200) {
    if (NO_ROUTE_STATUSES.includes(code)) return null;
    if (code === 429) return 'rate_limited';
    return code >= 500 ? 'server_error' : 'rejected';
  }
  if (data === undefined || data === null) return 'missing';
  return checkSwap(
    'AggregatorTwo',
    request,
    {
      to: data.to,
      data: data.data,
      amountIn: data.inAmount,
      amountOut: data.outAmount,
      value: data.value,
      feeBps: takenFeeBps(request),
    },
    expiresAtMs,
  );
}
