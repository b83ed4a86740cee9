import { AppError } from '../../shared/errors.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import { type BuilderDeps, inOneSession } from '../deps.ts';
import { SimulationMismatchError, SimulationRevertedError, UnsteadyQuotesError } from '../errors.ts';
import type { SwapPair } from '../types.ts';
import type { Quoter } from './quoter.ts';

type Source = SwapQuote['source'];
/** A quote that one run of a build used. */
interface Chosen {
  readonly chainId: ChainId;
  readonly source: Source;
  readonly pair: string;
}
/** Sources to avoid, by pair of tokens. */
type Avoided = ReadonlyMap<string, readonly Source[]>;
/** Sources that answered, best first, by pair of tokens in the order of the requests. */
type RankedSources = ReadonlyMap<string, readonly Source[]>;

/** The result of one run. */
type Run<T> =
  | { readonly ok: true; readonly built: T }
  /** `culprit`: the quote that failed, where the failure shows it. */
  | { readonly ok: false; readonly error: unknown; readonly culprit?: Chosen | undefined };

/**
 * Run a build with the best quotes. Where its simulation fails, run it without the venue of the failed swap or, where that is
 * unknown, without one of its venues, as far as another one answered. At last run it without the venue that failed then, with
 * fresh quotes whose minimums rest on the reference alone: a venue that quotes too high and fills honestly causes no outage.
 * So of two venues that each quote one swap wrongly, both swaps end at the other one. Three runs at most, because the caller
 * waits for each: it plans, quotes and simulates again, at a block of its own.
 * @throws the error of the last run whose simulation failed; the error of the first run when it was not about a swap
 */
export async function withVenues<T>(deps: BuilderDeps, run: (deps: BuilderDeps) => Promise<T>): Promise<T> {
  const ranking = new Map<string, readonly Source[]>();
  const attempt = async (avoided: Avoided, capped: boolean): Promise<Run<T>> => {
    const chosen: Chosen[] = [];
    try {
      return {
        ok: true,
        built: await run({ ...inOneSession(deps), quoter: noting(deps, avoided, capped, ranking, chosen) }),
      };
    } catch (error) {
      if (!isVenueFailure(error)) return { ok: false, error };
      const pair = failedPair(error, [...ranking.keys()]);
      const culprit = chosen.findLast((quote) => quote.pair === pair);
      for (const { chainId, source } of culprit ? [culprit] : chosen) {
        deps.venueStatistics.note(chainId, source, 'failed_in_simulation');
      }
      return { ok: false, error, culprit };
    }
  };
  const first = await attempt(new Map(), false);
  if (first.ok) return first.built;
  if (!isVenueFailure(first.error)) throw first.error;
  let failure = first.error;
  const failed = (last: Run<T> & { ok: false }) => {
    if (!(last.error instanceof AppError)) throw last.error;
    if (isVenueFailure(last.error)) failure = last.error;
  };
  const [best, other] = new Set([...ranking.values()].flatMap(([source]) => source ?? []));
  let avoided = first.culprit ? avoidAlso(new Map(), ranking, first.culprit) : avoidEverywhere(ranking, best);
  if (avoided.size > 0) {
    const second = await attempt(avoided, false);
    if (second.ok) return second.built;
    failed(second);
    avoided = second.culprit
      ? avoidAlso(avoided, ranking, second.culprit)
      : avoidEverywhere(ranking, first.culprit ? first.culprit.source : other);
  } else if (!first.culprit) avoided = avoidEverywhere(ranking, other);
  const last = await attempt(avoided, true);
  if (last.ok) return last.built;
  failed(last);
  throw failure;
}

/** A failure of a quote or its calldata: another venue, or a fresh quote, may pass. */
function isVenueFailure(error: unknown): error is VenueFailure {
  if (error instanceof SimulationMismatchError || error instanceof UnsteadyQuotesError) return true;
  if (!(error instanceof SimulationRevertedError)) return false;
  return error.retryable || error.details?.reason === 'unknown';
}

type VenueFailure = SimulationMismatchError | UnsteadyQuotesError | SimulationRevertedError;

/**
 * The pair of the failed swap, where the failure shows it. The router swaps the payment, whose quote comes first; the swap
 * in FlashLeverage is quoted last, because its size depends on the others.
 */
function failedPair(error: VenueFailure, pairs: readonly string[]): string | undefined {
  if (error instanceof SimulationMismatchError) return error.swap && pairOf(error.swap);
  if (error instanceof UnsteadyQuotesError) return error.details && pairOf(error.details);
  const reason = error.details?.reason ?? '';
  if (reason.startsWith('FlashLeverageRouter__')) return pairs.at(0);
  // A position above its limit follows from all swaps together.
  return reason.startsWith('FlashLeverage__') && reason !== 'FlashLeverage__ExceedsMaxLTV' ? pairs.at(-1) : undefined;
}

/** The same quoter without some sources. With none avoided, it notes the sources that answered for each pair, best first. */
function noting(
  { quoter, venueStatistics }: BuilderDeps,
  avoided: Avoided,
  capped: boolean,
  ranking: Map<string, readonly Source[]>,
  chosen: Chosen[],
): Quoter {
  const rank: Quoter['rank'] = async (request, others = []) => {
    const key = pairOf(request);
    const ranked = await quoter.rank(request, [...others, ...(avoided.get(key) ?? [])]);
    if (avoided.size === 0 && !ranking.has(key)) {
      ranking.set(
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
      chosen.push({ chainId, source: best.source, pair: pairOf(request) });
      return best;
    },
  };
}

/** Avoid a venue for every pair for which another one answered. */
function avoidEverywhere(ranking: RankedSources, source: Source | undefined): Avoided {
  const isLeft = (ranked: readonly Source[]) => ranked.some((other) => other !== source);
  return new Map(
    [...ranking].flatMap(([pair, ranked]) => (source && isLeft(ranked) ? [[pair, [source]] as const] : [])),
  );
}

/** Avoid the venue of a quote for its pair as well, as far as another one answered; where all have failed, that one alone. */
function avoidAlso(avoided: Avoided, ranking: RankedSources, { pair, source }: Chosen): Avoided {
  const ranked = ranking.get(pair) ?? [];
  const isLeft = (gone: readonly Source[]) => ranked.some((other) => !gone.includes(other));
  const both = [...(avoided.get(pair) ?? []), source];
  const gone = isLeft(both) ? both : [source];
  return isLeft(gone) ? new Map([...avoided, [pair, gone]]) : avoided;
}

function pairOf({ tokenIn, tokenOut }: SwapPair): string {
  return `${tokenIn}>${tokenOut}`;
}
