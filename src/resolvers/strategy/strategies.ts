import type { Market, Token } from '../../catalog/types.ts';
import { marketsById, strategiesById } from '../../domain/market/lookup.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { queryStrategies, type StrategyFilter } from '../../domain/strategy/query.ts';
import type { EquityTerms, Strategy } from '../../domain/strategy/types.ts';
import type { StrategyFilterInput, StrategyOrderInput } from '../../schema/strategy/strategy-inputs.ts';
import { NotFoundError } from '../../shared/errors.ts';
import { type ChainId, EQUITY_PREFIX, type MarketId, type StrategyId } from '../../shared/ids.ts';
import { pageWindow } from '../../shared/page-window.ts';
import type { AppContext } from '../common/context.ts';
import { type FieldPath, type FreshArgs, readFresh } from '../common/fresh-reads.ts';
import { type PageArgs, toPage } from '../common/page.ts';
import { chainOfStrategy, missingOf, readComposed, readComposedOf, selectChains } from '../market/chains.ts';
import { type ComposedPage, notComposed, oldestOf } from '../market/markets.ts';

interface StrategiesArgs extends PageArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
  readonly filter?: StrategyFilterInput | null | undefined;
  readonly orderBy?: StrategyOrderInput | null | undefined;
}

export const DEFAULT_ORDER = { field: 'apy', direction: 'desc' } as const;

/** List strategies of one or more chains. @throws BadRequestError, NotReadyError when no requested chain is measured yet */
export function listStrategies(args: StrategiesArgs, ctx: AppContext): ComposedPage<Strategy> {
  const { field: order, direction } = args.orderBy ?? DEFAULT_ORDER;
  const chains = selectChains(ctx, args.chainIds);
  const { composed, missingChains } = readComposedOf(ctx, chains);
  const page = queryStrategies(
    composed.flatMap(({ lookup }) => lookup.indexed),
    {
      filter: toFilter(args.filter ?? {}),
      order,
      direction,
      window: pageWindow(args, ctx.maxPageSize),
      after: args.after ?? undefined,
      before: args.before ?? undefined,
    },
  );
  const edges = page.items.map((item) => ({
    node: item.strategy,
    get cursor() {
      return item.cursor;
    },
  }));
  return { ...toPage(edges, page), asOfMs: oldestOf(composed), missingChains, missingFacts: missingOf(ctx, composed) };
}

/** List strategies as fresh as required. @throws as `listStrategies` and `readFresh` */
export function freshStrategies(args: StrategiesArgs & FreshArgs, ctx: AppContext, info: FieldPath) {
  const chainIds = () => selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  return readFresh(info, args, chainIds, 'facts', ctx, () => listStrategies(args, ctx));
}

/** Find a strategy as fresh as required. @throws as `findStrategy` and `readFresh` */
export function freshStrategy(
  args: { strategyId: StrategyId; chainId?: ChainId | null | undefined } & FreshArgs,
  ctx: AppContext,
  info: FieldPath,
) {
  const chainIds = () => {
    const chain = chainOfStrategy(ctx, args);
    return chain ? [chain.chainId] : [];
  };
  return readFresh(info, args, chainIds, 'facts', ctx, () => findStrategy(args, ctx));
}

/** Find a strategy, listed or not. @throws BadRequestError, NotFoundError, NotReadyError when it is not measured yet */
export function findStrategy(
  args: { strategyId: StrategyId; chainId?: ChainId | null | undefined },
  ctx: AppContext,
): Strategy {
  const { strategyId } = args;
  const marketId = strategyId.replace(EQUITY_PREFIX, '') as MarketId;
  const chain = chainOfStrategy(ctx, args);
  if (!chain) {
    throw new NotFoundError(`No strategy ${strategyId} is known. Send an id from the strategies list.`, {
      resource: 'strategy',
      id: strategyId,
    });
  }
  const composed = readComposed(ctx, chain.chainId);
  const found = strategiesById(composed).get(strategyId);
  if (found) return found;
  throw notComposed(composed, strategyId, marketId);
}

/** Find the strategy of a vault's yield leg; `null` while it cannot be composed. */
export function yieldStrategyOf({ chainId, equityVault }: Strategy, ctx: AppContext): Strategy | null {
  if (!equityVault) return null;
  return strategiesById(ctx.loaders.composed(chainId)).get(equityVault.yieldStrategyId) ?? null;
}

/** Find the composed market in which the collateral of a strategy is posted: it is composed with the strategy. */
export function marketOf({ chainId, marketId }: Strategy, _args: object, ctx: AppContext): ComposedMarket {
  const market = marketsById(ctx.loaders.composed(chainId)).get(marketId);
  if (market) return market;
  throw new Error(`the strategy of the market ${marketId} is composed without it`);
}

/** Look up the catalog entries of a strategy's tokens. */
export function tokensOf({ chainId, marketId }: Strategy, ctx: AppContext): Pick<Market, 'collateral' | 'loan'> {
  const market = ctx.services.catalog.market(chainId, marketId);
  if (market) return market;
  throw new Error(`the market ${marketId} of a strategy is not in the catalog`);
}

/** Read the terms of an equity vault. */
export function termsOf(
  strategy: Strategy,
  ctx: AppContext,
): Omit<EquityTerms, 'depositToken'> & { readonly depositToken: Token } {
  const { chainId, id, equityVault } = strategy;
  const vault = ctx.services.catalog.vault(chainId, id);
  if (equityVault && vault) return { ...equityVault, depositToken: vault.depositToken };
  throw new Error(`${id} is no equity vault`);
}

/** Find a strategy by its kind; `null` when the id is one of the other kind. @throws as `findStrategy` */
export function findStrategyOf(
  kind: Strategy['kind'],
  args: { strategyId: StrategyId; chainId: ChainId },
  ctx: AppContext,
): Strategy | null {
  const strategy = findStrategy(args, ctx);
  return strategy.kind === kind ? strategy : null;
}

/** Convert a requested filter to the numbers that the query compares. */
export function toFilter(input: StrategyFilterInput): StrategyFilter {
  const { minApyPct, minLiquidityUsd, minMaxLeverage, maturesBefore, maturesAfter, listedOnly } = input;
  const filter: Record<string, unknown> = {};
  for (const name in input) {
    const value = input[name as keyof StrategyFilterInput];
    if (value != null) filter[name] = value;
  }
  if (minApyPct != null) filter.minApyPct = minApyPct.toNumber();
  if (minLiquidityUsd != null) filter.minLiquidityUsd = minLiquidityUsd.toNumber();
  if (minMaxLeverage != null) filter.minMaxLeverage = minMaxLeverage.toNumber();
  if (maturesBefore != null) filter.maturesBefore = maturesBefore.getTime() / 1000;
  if (maturesAfter != null) filter.maturesAfter = maturesAfter.getTime() / 1000;
  filter.listedOnly = listedOnly ?? true;
  return filter;
}
