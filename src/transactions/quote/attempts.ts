import { AppError } from '../../shared/errors.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import { type BuilderDeps, inOneSession } from '../deps.ts';
import { SimulationMismatchError, SimulationRevertedError, UnsteadyQuotesError } from '../errors.ts';
import type { SwapPair } from '../types.ts';
import type { Quoter } from './quoter.ts';

type Source = SwapQuote['source'];
/** A quote that one run of a build went with. */
interface Chosen {
  readonly chainId: ChainId;
  readonly source: Source;
  readonly pair: string;
}
/** Sources that are passed over, by pair of tokens. */
type Avoided = ReadonlyMap<string, readonly Source[]>;
/** Sources that answered, by pair of tokens in the order in which they were asked about, the best first. */
type AskedSources = ReadonlyMap<string, readonly Source[]>;

/** What one run came to. */
type Run<T> =
  | { readonly ok: true; readonly built: T }
  /** `culprit`: the quote that failed, where the failure tells. */
  | { readonly ok: false; readonly error: unknown; readonly culprit?: Chosen | undefined };

/**
 * Run a build with the best quotes; where its simulation fails, without the venue of the swap that failed, or, where that is
 * not known, without one of the venues that it went with, wherever another one answered; and at last, without what failed
 * then, with fresh quotes whose minimums rest on the reference alone, so that a venue that promises too much and fills honestly
 * is no outage. Of two venues that each lie about a swap of their own, both swaps thus end at the other one. Three runs at most,
 * each of which plans, quotes and simulates anew, at a block of its own: whoever asks waits for all of them.
 * @throws what the last run whose simulation failed threw; what the first run threw when it was not about a swap
 */
export async function withVenues<T>(deps: BuilderDeps, run: (deps: BuilderDeps) => Promise<T>): Promise<T> {
  const asked = new Map<string, readonly Source[]>();
  const attempt = async (avoided: Avoided, capped: boolean): Promise<Run<T>> => {
    const chosen: Chosen[] = [];
    try {
      return {
        ok: true,
        built: await run({ ...inOneSession(deps), quoter: choosing(deps, avoided, capped, asked, chosen) }),
      };
    } catch (error) {
      if (!isVenueFailure(error)) return { ok: false, error };
      const pair = failedPair(error, [...asked.keys()]);
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
  const [best, other] = new Set([...asked.values()].flatMap(([source]) => source ?? []));
  let avoided = first.culprit ? besides(new Map(), asked, first.culprit) : without(asked, best);
  if (avoided.size > 0) {
    const second = await attempt(avoided, false);
    if (second.ok) return second.built;
    failed(second);
    avoided = second.culprit
      ? besides(avoided, asked, second.culprit)
      : without(asked, first.culprit ? first.culprit.source : other);
  } else if (!first.culprit) avoided = without(asked, other);
  const last = await attempt(avoided, true);
  if (last.ok) return last.built;
  failed(last);
  throw failure;
}

/** A build that failed at, or got less from, what a venue quoted or its calldata did: another venue, or a fresh quote, may pass. */
function isVenueFailure(error: unknown): error is VenueFailure {
  if (error instanceof SimulationMismatchError || error instanceof UnsteadyQuotesError) return true;
  if (!(error instanceof SimulationRevertedError)) return false;
  return error.retryable || error.details?.reason === 'unknown';
}

type VenueFailure = SimulationMismatchError | UnsteadyQuotesError | SimulationRevertedError;

/**
 * The pair of the swap that failed, where the failure tells. The router swaps what is paid, whose quote comes first; the
 * swap in FlashLeverage is quoted last, as its size rests on the others.
 */
function failedPair(error: VenueFailure, pairs: readonly string[]): string | undefined {
  if (error instanceof SimulationMismatchError) return error.swap && pairOf(error.swap);
  if (error instanceof UnsteadyQuotesError) return error.details && pairOf(error.details);
  const reason = error.details?.reason ?? '';
  if (reason.startsWith('FlashLeverageRouter__')) return pairs.at(0);
  // A position above its limit is what all swaps together came to.
  return reason.startsWith('FlashLeverage__') && reason !== 'FlashLeverage__ExceedsMaxLTV' ? pairs.at(-1) : undefined;
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
      chosen.push({ chainId, source: best.source, pair: pairOf(request) });
      return best;
    },
  };
}

/** Pass over a venue for every pair for which another one answered. */
function without(asked: AskedSources, source: Source | undefined): Avoided {
  const isLeft = (ranked: readonly Source[]) => ranked.some((other) => other !== source);
  return new Map([...asked].flatMap(([pair, ranked]) => (source && isLeft(ranked) ? [[pair, [source]] as const] : [])));
}

/** Pass over the venue of a quote for its pair as well, as far as another one answered; where all have failed, over that one alone. */
function besides(avoided: Avoided, asked: AskedSources, { pair, source }: Chosen): Avoided {
  const ranked = asked.get(pair) ?? [];
  const isLeft = (gone: readonly Source[]) => ranked.some((other) => !gone.includes(other));
  const both = [...(avoided.get(pair) ?? []), source];
  const gone = isLeft(both) ? both : [source];
  return isLeft(gone) ? new Map([...avoided, [pair, gone]]) : avoided;
}

function pairOf({ tokenIn, tokenOut }: SwapPair): string {
  return `${tokenIn}>${tokenOut}`;
}
