import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import type { SwapQuote, SwapRequest } from '../../upstreams/types.ts';
import type { Quoter } from './quoter.ts';

/** How old the quotes of a preview may be. */
export interface QuoteAge {
  /** Seconds; 0 = the venues are asked for every swap. */
  readonly maxQuoteAgeSec: number;
}

/** The most answers that are kept: each has the calldata of every venue. */
const MAX_ANSWERS = 200;

type Ranked = Awaited<ReturnType<Quoter['rank']>>;
interface Answer {
  readonly atMs: number;
  readonly ranked: Promise<Ranked>;
}

/**
 * Create the quoters of previews: an answer of the venues serves the same request again while it is young enough. Requests are the
 * same only with every field the same, the amount in base units included: another amount has another price. Previews alone use
 * them, so no quote of a build is ever one that was used before.
 */
export function createQuoteReuse(quoter: Quoter, clock: Clock): (maxQuoteAgeSec: number) => Quoter {
  const answers = new LRUCache<string, Answer>({ max: MAX_ANSWERS });
  const ask = (key: string, request: SwapRequest, avoided: readonly SwapQuote['source'][] | undefined) => {
    const atMs = clock.now();
    const ranked = quoter
      .rank(request, avoided)
      .then((quotes) => quotes.map((quote) => ({ ...quote, quotedAtMs: atMs })) as unknown as Ranked);
    const answer = { atMs, ranked };
    answers.set(key, answer);
    // A refusal is no quote: the next preview asks again.
    ranked.catch(() => {
      if (answers.peek(key) === answer) answers.delete(key);
    });
    return ranked;
  };
  return (maxQuoteAgeSec) => {
    const rank: Quoter['rank'] = async (request, avoided) => {
      const key = keyOf(request, avoided);
      const known = answers.get(key);
      const isYoung = known && clock.now() - known.atMs < maxQuoteAgeSec * 1_000;
      const ranked = isYoung ? await known.ranked : undefined;
      return ranked?.every(({ expiresAtMs }) => expiresAtMs > clock.now()) ? ranked : ask(key, request, avoided);
    };
    return { capped: quoter.capped, rank, quote: async (request) => (await rank(request))[0] };
  };
}

function keyOf(request: SwapRequest, avoided: readonly SwapQuote['source'][] = []): string {
  const { chain, tokenIn, tokenOut, amountIn, sender, recipient, slippage, feeBps, feeReceiver = '' } = request;
  const swap = [chain.chainId, tokenIn, tokenOut, amountIn, sender, recipient, slippage.toFixed(), feeBps, feeReceiver];
  return [...swap, ...avoided.toSorted()].join('|');
}
