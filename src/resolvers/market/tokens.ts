import type { CollateralCategory } from '../../catalog/schema.ts';
import type { Token } from '../../catalog/types.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import { priceContext, tokenPrice } from '../../domain/market/prices.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { NotFoundError } from '../../shared/errors.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { requireChain, selectChains } from './chains.ts';

export interface TokenPrice {
  readonly token: Token;
  /** Absent when not known: `gap` says why. */
  readonly measured?: { readonly usd: Decimal; readonly source: string; readonly stamp: Stamp };
  readonly gap?: Gap;
}

export interface PriceList {
  /** Of the oldest price in the list; `null` when none is known. */
  readonly oldest: Stamp | null;
  readonly items: readonly TokenPrice[];
}

export interface TokensArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
  readonly categories?: readonly CollateralCategory[] | null | undefined;
}

/** List curated tokens of the asked chains. @throws BadRequestError */
export function listTokens(args: TokensArgs, ctx: AppContext): Token[] {
  const categories = args.categories == null ? undefined : new Set(args.categories);
  return selectChains(ctx, args.chainIds)
    .flatMap((chain) => chain.tokens)
    .filter((token) => categories === undefined || categories.has(token.category));
}

/** Look a curated token up. @throws BadRequestError, NotFoundError */
export function findToken(args: { chainId: ChainId; address: Address }, ctx: AppContext): Token {
  const chain = requireChain(ctx, args.chainId);
  const token = ctx.services.catalog.token(chain.chainId, args.address);
  if (token) return token;
  throw new NotFoundError(`No token ${args.address} is curated on chain ${chain.chainId}. See the tokens query.`, {
    resource: 'token',
    id: args.address,
  });
}

/** Read the believed USD price of a token with its age, as strategies show it, or why there is none. */
export function readPrice(token: Token, ctx: AppContext): TokenPrice {
  const chain = requireChain(ctx, token.chainId);
  const facts = ctx.loaders.facts(token.chainId);
  const { price, gap } = tokenPrice(token, 'usd', priceContext(chain, facts));
  if (gap) return { token, gap };
  const stamp = { asOfMs: price.asOfMs, staleAfterSec: ctx.services.budgets.price };
  return { token, measured: { usd: price.value.usd, source: price.source, stamp } };
}

/** Read the prices of all curated tokens of the asked chains. Tokens without one are in the list, with the reason. */
export function listPrices(args: { chainIds?: readonly ChainId[] | null | undefined }, ctx: AppContext): PriceList {
  const items = listTokens(args, ctx).map((token) => readPrice(token, ctx));
  const stamps = items.flatMap(({ measured }) => (measured ? [measured.stamp] : []));
  return { oldest: oldestStamp(stamps), items };
}

/** The stamp that speaks for a list: of its oldest entry. */
export function oldestStamp(stamps: readonly Stamp[]): Stamp | null {
  return stamps.reduce<Stamp | null>(
    (oldest, next) => (oldest === null || next.asOfMs < oldest.asOfMs ? next : oldest),
    null,
  );
}
