import { strategiesById } from '../../domain/market/lookup.ts';
import type { SortDirection, StrategyOrder } from '../../domain/strategy/keys.ts';
import { queryStrategies, type StrategyFilter } from '../../domain/strategy/query.ts';
import type { EquityTerms, Strategy } from '../../domain/strategy/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { NotFoundError } from '../../shared/errors.ts';
import { type ChainId, EQUITY_PREFIX, type MarketId, type StrategyId } from '../../shared/ids.ts';
import { pageWindow } from '../../shared/page-window.ts';
import type { AppContext } from '../common/context.ts';
import { type PageArgs, toPage } from '../common/page.ts';
import { missingOf, readComposed, readComposedOf, requireChain, selectChains } from '../market/chains.ts';
import { type ComposedPage, notComposed, oldestOf } from '../market/markets.ts';

type Loose<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** The filter as it is asked: exact decimals and dates instead of the numbers that the query compares. */
export type StrategyFilterInput = Loose<
  Omit<StrategyFilter, 'minLeverageApyPct' | 'minLiquidityUsd' | 'minLeverage' | 'maturityBefore' | 'maturityAfter'> & {
    minLeverageApyPct: Decimal;
    minLiquidityUsd: Decimal;
    minLeverage: Decimal;
    maturityBefore: Date;
    maturityAfter: Date;
  }
>;

export interface StrategiesArgs extends PageArgs {
  readonly filter?: StrategyFilterInput | null | undefined;
  readonly orderBy?: { readonly field: StrategyOrder; readonly direction: SortDirection } | null | undefined;
}

export const DEFAULT_ORDER = { field: 'leverageApy', direction: 'desc' } as const;

/** List strategies of one or more chains. @throws BadRequestError, NotReadyError when no asked chain is measured yet */
export function listStrategies(args: StrategiesArgs, ctx: AppContext): ComposedPage<Strategy> {
  const { field: order, direction } = args.orderBy ?? DEFAULT_ORDER;
  const chains = selectChains(ctx, args.filter?.chainIds, 'filter.chainIds');
  const { composed, leftOut } = readComposedOf(ctx, chains);
  const page = queryStrategies(
    composed.flatMap(({ lookup }) => lookup.indexed),
    {
      filter: toFilter(args.filter ?? {}),
      order,
      direction,
      first: pageWindow(args, ctx.maxPageSize).size,
      ...(args.after == null ? {} : { after: args.after }),
    },
  );
  const edges = page.items.map(({ strategy, cursor }) => ({ cursor, node: strategy }));
  return { ...toPage(edges, page), asOfMs: oldestOf(composed), leftOut, missing: missingOf(ctx, composed) };
}

/** Find a strategy, listed or not. @throws BadRequestError, NotFoundError, NotReadyError when it is not measured yet */
export function findStrategy(
  args: { id: StrategyId; chainId?: ChainId | null | undefined },
  ctx: AppContext,
): Strategy {
  const { catalog } = ctx.services;
  const chains = args.chainId == null ? catalog.chains : [requireChain(ctx, args.chainId)];
  const marketId = args.id.replace(EQUITY_PREFIX, '') as MarketId;
  const chain = chains.find(({ chainId }) =>
    args.id.startsWith(EQUITY_PREFIX)
      ? catalog.vault(chainId, args.id)
      : catalog.market(chainId, marketId)?.kind === 'loop',
  );
  if (!chain) {
    throw new NotFoundError(`No strategy ${args.id} is known. Send an id from the strategies list.`, {
      resource: 'strategy',
      id: args.id,
    });
  }
  const composed = readComposed(ctx, chain.chainId);
  const found = strategiesById(composed).get(args.id);
  if (found) return found;
  throw notComposed(composed, args.id, marketId);
}

/** Find the strategy of a vault's yield leg; `null` while it cannot be composed. */
export function yieldStrategyOf(terms: EquityTerms & { readonly chainId: ChainId }, ctx: AppContext): Strategy | null {
  return strategiesById(ctx.loaders.composed(terms.chainId)).get(terms.yieldStrategyId) ?? null;
}

/** Read a filter as it is asked into what the query compares. */
export function toFilter(input: StrategyFilterInput): StrategyFilter {
  const { minLeverageApyPct, minLiquidityUsd, minLeverage, maturityBefore, maturityAfter, listedOnly } = input;
  const filter: Record<string, unknown> = {};
  for (const name in input) {
    const value = input[name as keyof StrategyFilterInput];
    if (value != null) filter[name] = value;
  }
  if (minLeverageApyPct != null) filter.minLeverageApyPct = minLeverageApyPct.toNumber();
  if (minLiquidityUsd != null) filter.minLiquidityUsd = minLiquidityUsd.toNumber();
  if (minLeverage != null) filter.minLeverage = minLeverage.toNumber();
  if (maturityBefore != null) filter.maturityBefore = maturityBefore.getTime() / 1000;
  if (maturityAfter != null) filter.maturityAfter = maturityAfter.getTime() / 1000;
  filter.listedOnly = listedOnly ?? true;
  return filter;
}
