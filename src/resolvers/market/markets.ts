import type { Market } from '../../catalog/types.ts';
import { marketsById, strategiesByMarket } from '../../domain/market/lookup.ts';
import type { ComposedChain, ComposedMarket } from '../../domain/market/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { NotFoundError, NotReadyError } from '../../shared/errors.ts';
import type { ChainId, MarketId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { type FieldPath, type FreshArgs, readFresh } from '../common/fresh-reads.ts';
import { type Page, type PageArgs, pageByRank } from '../common/page.ts';
import {
  chainOfId,
  type MissingChain,
  type MissingFacts,
  missingOf,
  readComposed,
  readComposedOf,
  selectChains,
} from './chains.ts';
import { oldestStamp } from './tokens.ts';

interface MarketsArgs extends PageArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
  readonly listed?: boolean | null | undefined;
}

/** A page of a list that was composed from one or more chains. */
export interface ComposedPage<T> extends Page<T> {
  /** When the oldest of the chains' facts was published, ms; `null` when no chain was requested. */
  readonly asOfMs: number | null;
  /** Requested chains that it lacks. */
  readonly missingChains: readonly MissingChain[];
  /** The missing parts of the composed ones. */
  readonly missingFacts: readonly MissingFacts[];
}

/** List composed markets in catalog order, chain by chain. @throws BadRequestError, NotReadyError when no requested chain is measured */
export function listMarkets(args: MarketsArgs, ctx: AppContext): ComposedPage<ComposedMarket> {
  const { composed, missingChains } = readComposedOf(ctx, selectChains(ctx, args.chainIds));
  const markets = composed.flatMap((chain) => chain.markets);
  const wanted = args.listed == null ? markets : markets.filter((market) => isVisible(market, ctx) === args.listed);
  return {
    ...pageByRank(wanted, catalogRank(ctx), args, ctx.maxPageSize, 'markets'),
    asOfMs: oldestOf(composed),
    missingChains,
    missingFacts: missingOf(ctx, composed),
  };
}

/** Find a composed market. @throws BadRequestError, NotFoundError, NotReadyError when its facts are not measured yet. */
export function findMarket(
  args: { marketId: MarketId; chainId?: ChainId | null | undefined },
  ctx: AppContext,
): ComposedMarket {
  const { chainId } = findCatalogMarket(args, ctx);
  const composed = readComposed(ctx, chainId);
  const found = marketsById(composed).get(args.marketId);
  if (found) return found;
  throw notComposed(composed, args.marketId);
}

/** List markets as fresh as required. @throws as `listMarkets` and `readFresh` */
export function freshMarkets(args: MarketsArgs & FreshArgs, ctx: AppContext, info: FieldPath) {
  const chainIds = () => selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  return readFresh(info, args, chainIds, 'facts', ctx, () => listMarkets(args, ctx));
}

/** Find a composed market as fresh as required. @throws as `findMarket` and `readFresh` */
export function freshMarket(
  args: { marketId: MarketId; chainId?: ChainId | null | undefined } & FreshArgs,
  ctx: AppContext,
  info: FieldPath,
) {
  const chainIds = () => [findCatalogMarket(args, ctx).chainId];
  return readFresh(info, args, chainIds, 'facts', ctx, () => findMarket(args, ctx));
}

/** Find a market of the catalog: its id names its chain. @throws BadRequestError, NotFoundError */
export function findCatalogMarket(
  args: { marketId: MarketId; chainId?: ChainId | null | undefined },
  ctx: AppContext,
): Market {
  const { catalog } = ctx.services;
  const chain = chainOfId(ctx, 'marketId', args, ({ chainId }) => catalog.market(chainId, args.marketId) !== undefined);
  const market = chain && catalog.market(chain.chainId, args.marketId);
  if (market) return market;
  throw new NotFoundError(`No market ${args.marketId} is known. Send the id of a strategy from the strategies list.`, {
    resource: 'market',
    id: args.marketId,
  });
}

/** The strategies of a market: its loop, or the equity vault of a stock market. */
export function strategiesOf(market: ComposedMarket, ctx: AppContext): readonly Strategy[] {
  const { chainId, id } = market.market;
  return strategiesByMarket(ctx.loaders.composed(chainId)).get(id) ?? [];
}

/** Whether any strategy on the market is listed. */
export function isVisible(market: ComposedMarket, ctx: AppContext): boolean {
  return strategiesOf(market, ctx).some((strategy) => strategy.visibility.visible);
}

/** The error for a catalog entry that is not composed yet, naming the facts that it waits for. */
export function notComposed(composed: ComposedChain, ...ids: readonly string[]): NotReadyError {
  const excluded = composed.excluded.find((entry) => ids.includes(entry.marketId));
  return new NotReadyError(
    `${ids[0]} has not been measured yet. Try again in some seconds; "freshness" names the missing facts.`,
    (excluded?.waitingFor ?? []).map(({ group, reason }) => `${group}: ${reason}`),
  );
}

/** When the oldest of the chains' facts was published, ms. */
export function oldestOf(composed: readonly ComposedChain[]): number | null {
  return oldestStamp(composed.map(({ asOfMs }) => ({ asOfMs, staleAfterSec: 0 })))?.asOfMs ?? null;
}

function catalogRank(ctx: AppContext): (market: ComposedMarket) => number {
  const listed = ctx.services.catalog.chains.flatMap((chain) => chain.markets);
  const ranks = new Map(listed.map(({ chainId, id }, rank) => [`${chainId}:${id}`, rank]));
  return ({ market }) => ranks.get(`${market.chainId}:${market.id}`) ?? ranks.size;
}
