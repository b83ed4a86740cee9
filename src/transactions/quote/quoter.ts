import type { Chain } from '../../catalog/types.ts';
import { FAILURE_REASONS } from '../../domain/facts.ts';
import { AppError, UpstreamUnavailableError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import type { Timers } from '../../shared/timers.ts';
import type { QuotePurpose, SwapQuote, SwapQuotePort, SwapRequest } from '../../upstreams/types.ts';
import { NoRouteError, type VenueAnswer, type VenueReason } from '../errors.ts';
import { rankQuotes } from './rank.ts';
import type { VenueStatistics } from './statistics.ts';

/** Time that a caller waits for the first venue by purpose, ms: a second request of a preview, and all of one build. */
const DEADLINE_MS: Readonly<Record<QuotePurpose, number>> = { preview: 5_000, build: 22_000 };
/** Once one venue has answered, the others get this much longer. */
const GRACE_MS = 1_500;

export interface QuoterDeps {
  /** Default: preview. */
  readonly purpose?: QuotePurpose | undefined;
  readonly venues: readonly SwapQuotePort[];
  readonly timers: Timers;
  /** Counts requests and answers of venues. */
  readonly statistics: VenueStatistics;
  /** Whether the deployed contract lets swaps go through a router; `undefined` = not known. Default: it is not known. */
  readonly isRouterAllowed?: ((chain: Chain, router: Address) => boolean | undefined) | undefined;
}

export interface Quoter {
  /** Whether the minimum of a quote above its reference is made of the reference, as a preview shows it. */
  readonly capped: boolean;
  /** Take the best output. @throws as `rank` */
  quote(swap: SwapRequest): Promise<SwapQuote>;
  /**
   * Ask every venue that serves the pair, side by side, and order their quotes, the best output first.
   * @param avoided sources that get no request
   * @throws NoRouteError when a venue answered and none has a route
   * @throws UpstreamUnavailableError when no venue answered at all
   */
  rank(swap: SwapRequest, avoided?: readonly SwapQuote['source'][]): Promise<readonly [SwapQuote, ...SwapQuote[]]>;
}

/** Create the one way to a swap quote. */
export function createQuoter({
  venues,
  timers,
  statistics,
  isRouterAllowed = () => undefined,
  purpose = 'preview',
}: QuoterDeps): Quoter {
  const isUsable = (chain: Chain, router: Address) => isRouterAllowed(chain, router) !== false;
  /** Without an allowed venue all are asked: the measurement may be out of date, and the simulation decides. */
  const allowedOf = (serving: readonly SwapQuotePort[], chain: Chain) => {
    const allowed = serving.filter(
      ({ source }) => chain.swapRouters[source]?.some((at) => isUsable(chain, at)) ?? true,
    );
    return allowed.length > 0 ? { usable: allowed, isChecked: true } : { usable: serving, isChecked: false };
  };
  const quoter: Quoter = {
    capped: true,
    quote: async (request) => {
      const [best] = await quoter.rank(request);
      statistics.note(request.chain.chainId, best.source, 'chosen');
      return best;
    },
    async rank(request, avoided = []) {
      const { chain } = request;
      const { usable, isChecked } = allowedOf(venuesFor(venues, request), chain);
      const remaining = usable.filter(({ source }) => !avoided.includes(source));
      const answers = (await askAll(remaining, request, timers, purpose)).map((answer) =>
        checked(answer, request, (router) => !isChecked || isUsable(chain, router)),
      );
      for (const { source, quote, reason } of answers) {
        const event = quote ? 'quoted' : reason === undefined ? 'no_route' : 'refused';
        statistics.note(request.chain.chainId, source, event, reason);
      }
      const quotes = answers.flatMap(({ quote }) => quote ?? []);
      const [best, ...others] = rankQuotes(quotes);
      if (best) return [best, ...others];
      const reasons = answers.map(({ source, reason }): VenueAnswer => ({ source, reason: reason ?? 'no_route' }));
      const [failed] = answers;
      if (failed && answers.every(({ reason, answered }) => reason !== undefined && !answered)) {
        throw new UpstreamUnavailableError(
          reasons.map(({ source }) => source).join(' and '),
          failed.reason ?? 'timeout',
        );
      }
      const { tokenIn, tokenOut, amountIn } = request;
      throw new NoRouteError({
        chainId: chain.chainId,
        tokenIn,
        tokenOut,
        amountIn: amountIn.toString(),
        venues: reasons,
      });
    },
  };
  return quoter;
}

/** Principal tokens trade at the yield market only; everything else at the aggregators. */
function venuesFor(venues: readonly SwapQuotePort[], request: SwapRequest): readonly SwapQuotePort[] {
  const serving = venues.filter((venue) => venue.serves(request));
  const yieldMarket = serving.filter(({ source }) => source === 'YieldMarket');
  return yieldMarket.length > 0 ? yieldMarket : serving;
}

/** Adapters check the allow-list as well; nothing else ever gets into calldata. */
function checked(answer: Answer, { chain }: SwapRequest, isUsable: (router: Address) => boolean): Answer {
  const { source, quote } = answer;
  if (!quote) return answer;
  if (!chain.swapRouters[source]?.includes(quote.router)) return { source, reason: 'implausible', answered: true };
  return isUsable(quote.router) ? answer : { source, reason: 'not_allowed', answered: true };
}

interface Answer {
  readonly source: SwapQuotePort['source'];
  readonly quote?: SwapQuote | undefined;
  /** Why there was no answer; absent when there was one, `no route` included. */
  readonly reason?: VenueReason | undefined;
  /** It answered, with a quote that is not used, or that it does not know the token. */
  readonly answered?: true | undefined;
}

async function askAll(
  venues: readonly SwapQuotePort[],
  request: SwapRequest,
  timers: Timers,
  purpose: QuotePurpose,
): Promise<readonly Answer[]> {
  const controller = new AbortController();
  let giveUp: () => void = () => {};
  const deadline = new Promise<'late'>((resolve) => {
    giveUp = () => resolve('late');
  });
  const running = [timers.setTimeout(giveUp, DEADLINE_MS[purpose])];
  try {
    return await Promise.all(
      venues.map(async (venue): Promise<Answer> => {
        const { source } = venue;
        const answer = await Promise.race([askOne(venue, request, { signal: controller.signal, purpose }), deadline]);
        if (answer === 'late') return { source, reason: 'timeout' };
        if (answer.quote) running.push(timers.setTimeout(giveUp, GRACE_MS));
        return answer;
      }),
    );
  } finally {
    for (const timer of running) timers.clearTimeout(timer);
    controller.abort();
  }
}

async function askOne(
  venue: SwapQuotePort,
  request: SwapRequest,
  options: { readonly signal: AbortSignal; readonly purpose: QuotePurpose },
): Promise<Answer> {
  const { source } = venue;
  try {
    const quote = await venue.quote(request, options);
    return quote ? { source, quote } : { source };
  } catch (error) {
    if (options.signal.aborted) return { source, reason: 'timeout' };
    if (!(error instanceof AppError)) throw error;
    const reason = reasonOf(error);
    // A venue that does not know the token has answered: asking again is no advice.
    return { source, reason, answered: reason === 'missing' ? true : undefined };
  }
}

/** Name the failure of a venue. */
function reasonOf({ code, details }: AppError): VenueReason {
  const { reason } = (details ?? {}) as { readonly reason?: unknown };
  const known = FAILURE_REASONS.find((one) => one === reason);
  return known ?? (code === 'rate_limited' ? 'rate_limited' : 'server_error');
}
