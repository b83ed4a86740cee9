import type { FailureReason } from '../../domain/facts.ts';
import { reasonOfStatus } from '../../domain/outside-answer.ts';
import { ABSENT, type Documented } from '../http.ts';
import { checkSwap, feeBpsOf, saysNoRoute } from '../quotes.ts';
import type { SwapQuote, SwapRequest } from '../types.ts';
import { type Swap, swapRefusalSchema } from './schema.ts';

/** Share of a fee that the provider pays to the referrer, percent; it keeps the rest. */
const REFERRER_SHARE_PCT = 80;

/**
 * The fee to request so that the referrer gets at most the intended amount: 5 bps are requested as 6, of which 4.8 arrive. The
 * provider accepts whole basis points, rounded down.
 */
export function takenFeeBps(request: SwapRequest): number {
  return Math.floor((feeBpsOf(request) * 100) / REFERRER_SHARE_PCT);
}

/** Refusals with and without an error status: their own `code` has the meaning of a status, `error` says what is refused. */
export const swapCodes: Documented = ({ body }) => {
  const { code = 200, error } = swapRefusalSchema.safeParse(body).data ?? {};
  if (code === 200) return undefined;
  return code < 500 && saysNoRoute(error) ? ABSENT : reasonOfStatus(code);
};

/** The quote, or why it is not used. */
export function mapSwap(request: SwapRequest, { data }: Swap, expiresAtMs: number): SwapQuote | FailureReason {
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
