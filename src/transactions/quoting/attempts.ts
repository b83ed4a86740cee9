import { AppError } from '../../shared/errors.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { SwapQuote, SwapRequest } from '../../upstreams/types.ts';
import { type BuilderDeps, inOneSession } from '../deps.ts';
import { SimulationMismatchError, SimulationRevertedError, UnsteadyQuotesError } from '../errors.ts';
import type { Quoter } from './quoter.ts';

type Source = SwapQuote['source'];
/** A quote that one run of a build went with. */
interface Chosen {
  readonly chainId: ChainId;
  readonly source: Source;
}
/** Sources that are passed over, by pair of tokens. */
type Avoided = ReadonlyMap<string, readonly Source[]>;

/**
 * Run a build with the best quotes; where its simulation fails, without one of the venues that it went with, wherever another
 * one answered; and at last with fresh quotes whose minimums rest on the reference alone, so that a venue that promises too much
 * and fills honestly is no outage. Where two venues had a part, the last run is without the other: a venue that is honest about
 * every swap gets all of them then. Three runs at most, each of which plans, quotes and simulates anew, at a block of its own:
 * whoever asks waits for all of them, and which of several swaps failed a revert does not say.
 * @throws what the last run whose simulation failed threw; what the first run threw when it was not about a swap
 */
export async function withVenues<T>(deps: BuilderDeps, run: (deps: BuilderDeps) => Promise<T>): Promise<T> {
  const asked = new Map<string, readonly Source[]>();
  const attempt = async (avoided: Avoided, capped: boolean) => {
    const chosen: Chosen[] = [];
    try {
      return await run({ ...inOneSession(deps), quoter: choosing(deps, avoided, capped, asked, chosen) });
    } catch (error) {
      if (isVenueFailure(error)) {
        for (const { chainId, source } of chosen) deps.venueStatistics.note(chainId, source, 'failed_in_simulation');
      }
      throw error;
    }
  };
  let failure: unknown;
  try {
    return await attempt(new Map(), false);
  } catch (error) {
    if (!isVenueFailure(error)) throw error;
    failure = error;
  }
  const [first, second] = new Set([...asked.values()].flatMap(([best]) => best ?? []));
  const retries = [
    { avoided: without(asked, first), capped: false },
    { avoided: without(asked, second), capped: true },
  ];
  for (const { avoided, capped } of retries) {
    if (avoided.size === 0 && !capped) continue;
    try {
      return await attempt(avoided, capped);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (isVenueFailure(error)) failure = error;
    }
  }
  throw failure;
}

/** A build that failed at, or got less from, what a venue quoted or its calldata did: another venue, or a fresh quote, may pass. */
function isVenueFailure(error: unknown): boolean {
  if (error instanceof SimulationMismatchError || error instanceof UnsteadyQuotesError) return true;
  if (!(error instanceof SimulationRevertedError)) return false;
  return error.retryable || error.details?.reason === 'unknown';
}

/** The same quoter without some sources. With none left out, it notes which sources answered for each pair, the best first. */
function choosing(
  { quoter, venueStatistics }: BuilderDeps,
  avoided: Avoided,
  capped: boolean,
  asked: Map<string, readonly Source[]>,
  chosen: Chosen[],
): Quoter {
  const rank: Quoter['rank'] = async (request, others = []) => {
    const key = pairOf(request);
    const ranked = await quoter.rank(request, [...others, ...(avoided.get(key) ?? [])]);
    if (avoided.size === 0 && !asked.has(key)) {
      asked.set(
        key,
        ranked.map(({ source }) => source),
      );
    }
    return ranked;
  };
  return {
    capped,
    rank,
    quote: async (request) => {
      const [best] = await rank(request);
      const { chainId } = request.chain;
      venueStatistics.note(chainId, best.source, 'chosen');
      chosen.push({ chainId, source: best.source });
      return best;
    },
  };
}

/** Pass over a venue for every pair for which another one answered. */
function without(asked: ReadonlyMap<string, readonly Source[]>, source: Source | undefined): Avoided {
  const isLeft = (ranked: readonly Source[]) => ranked.some((other) => other !== source);
  return new Map([...asked].flatMap(([pair, ranked]) => (source && isLeft(ranked) ? [[pair, [source]] as const] : [])));
}

function pairOf({ tokenIn, tokenOut }: SwapRequest): string {
  return `${tokenIn}>${tokenOut}`;
}
