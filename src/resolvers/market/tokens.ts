import type { CollateralCategory } from '../../catalog/schema.ts';
import type { Token } from '../../catalog/types.ts';
import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import { type PriceOrGap, priceContext, tokenPrice } from '../../domain/market/prices.ts';
import { NotFoundError } from '../../shared/errors.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { type FieldPath, type FreshArgs, readFresh } from '../common/fresh-reads.ts';
import { type Page, type PageArgs, pageByRank } from '../common/page.ts';
import { requireChain, selectChains } from './chains.ts';

interface TokensArgs extends PageArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
  readonly categories?: readonly CollateralCategory[] | null | undefined;
}

/** List curated tokens of the requested chains, in catalog order. @throws BadRequestError */
export function listTokens(args: TokensArgs, ctx: AppContext): Page<Token> {
  const categories = args.categories == null ? undefined : new Set(args.categories);
  const tokens = selectChains(ctx, args.chainIds)
    .flatMap((chain) => chain.tokens)
    .filter((token) => categories === undefined || categories.has(token.category));
  const ranks = new Map(
    ctx.services.catalog.chains.flatMap((chain) => chain.tokens).map((token, rank) => [token, rank]),
  );
  return {
    ...pageByRank(tokens, (token) => ranks.get(token) ?? ranks.size, args, ctx.maxPageSize, 'tokens'),
  };
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

/** List tokens with prices as fresh as required. @throws as `listTokens` and `readFresh` */
export function freshTokens(args: TokensArgs & FreshArgs, ctx: AppContext, info: FieldPath) {
  const chainIds = () => selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  return readFresh(info, args, chainIds, 'facts', ctx, () => listTokens(args, ctx));
}

/** Look a token up with a price as fresh as required. @throws as `findToken` and `readFresh` */
export function freshToken(args: { chainId: ChainId; address: Address } & FreshArgs, ctx: AppContext, info: FieldPath) {
  const chainIds = () => [findToken(args, ctx).chainId];
  return readFresh(info, args, chainIds, 'facts', ctx, () => findToken(args, ctx));
}

/** Look up the catalog entry of a token; `null` without one. */
export function findCatalogToken(args: { chainId: ChainId; address: Address }, ctx: AppContext): Token | null {
  return ctx.services.catalog.token(args.chainId, args.address) ?? null;
}

/** Look a token up that is curated because a market of the catalog has it. */
export function requireCatalogToken(args: { chainId: ChainId; address: Address }, ctx: AppContext): Token {
  const token = findCatalogToken(args, ctx);
  if (token) return token;
  throw new Error(`the token ${args.address} is not in the catalog`);
}

/** Read the accepted USD price of a token, as strategies show it, or the reason why there is none. */
export function readPrice(token: Token, ctx: AppContext): PriceOrGap {
  const chain = requireChain(ctx, token.chainId);
  return tokenPrice(token, 'price', priceContext(chain, ctx.loaders.facts(token.chainId)));
}

const UNCURATED = 'The curators have not established it.';
const NO_MATURITY = ['maturesAt', 'maturityDaysLeft'].map((field) =>
  gap(field, 'NOT_APPLICABLE', 'The token does not mature.'),
);
const NO_UNDERLYING = ['underlying', 'underlyingAddress', 'underlyingSymbol'].map((field) =>
  gap(field, 'NOT_APPLICABLE', 'The token is not a principal token.'),
);

/** Give the reasons of a token's empty fields. */
export function tokenGaps(token: Token, ctx: AppContext): readonly Gap[] {
  const gaps: Gap[] = [];
  if (token.project === undefined) gaps.push(gap('project', 'NOT_MEASURED', UNCURATED));
  if (token.yieldSource === undefined) {
    gaps.push(
      token.apySource === 'none'
        ? gap('yieldSource', 'NOT_APPLICABLE', 'The token has no yield of its own.')
        : gap('yieldSource', 'NOT_MEASURED', UNCURATED),
    );
  }
  if (token.description === undefined) gaps.push(gap('description', 'NOT_MEASURED', UNCURATED));
  if (token.maturity === undefined) gaps.push(...NO_MATURITY);
  if (!token.isPt) gaps.push(...NO_UNDERLYING);
  else if (token.underlying === undefined || findCatalogToken({ ...token, ...token.underlying }, ctx) === null) {
    gaps.push(gap('underlying', 'NOT_MEASURED', 'The token that it redeems to is not curated.'));
  }
  if (token.coingeckoId === undefined) gaps.push(gap('priceChart', 'NONE', 'The provider of charts has no such coin.'));
  const { gap: unpriced } = readPrice(token, ctx);
  return unpriced ? [...gaps, unpriced] : gaps;
}

/** The stamp of a list: that of its oldest entry. */
export function oldestStamp(stamps: readonly Stamp[]): Stamp | null {
  return stamps.reduce<Stamp | null>(
    (oldest, next) => (oldest === null || next.asOfMs < oldest.asOfMs ? next : oldest),
    null,
  );
}
