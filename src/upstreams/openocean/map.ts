import type { FailureReason } from '../../domain/facts.ts';
import { checkSwap, NO_ROUTE_STATUSES } from '../quotes.ts';
import type { SwapQuote, SwapRequest } from '../types.ts';
import type { Swap } from './schema.ts';

/** The quote, why it is refused, or `null` = no route. */
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
    { to: data.to, data: data.data, amountIn: data.inAmount, amountOut: data.outAmount, value: data.value },
    expiresAtMs,
  );
}
