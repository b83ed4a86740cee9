import { InvalidAnswerError, type ServiceError } from './errors.ts';
import type {
  MarketPageQuery,
  MarketPageQueryVariables,
  PositionPageQuery,
  PositionPageQueryVariables,
  StrategyPageQuery,
  StrategyPageQueryVariables,
  TokenPageQuery,
  TokenPageQueryVariables,
} from './generated/graphql.ts';
import { MarketPageText, PositionPageText, StrategyPageText, TokenPageText } from './generated/texts.ts';
import { queryGraphql } from './graphql-request.ts';
import type { CallOptions, Requests } from './http/requests.ts';

/** The part of a connection that leads to the next page. */
interface Connection {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly unknown[];
}

/** A page, and failures of parts of it, which are `null` in it. */
export type Page<C extends Connection> = C & { readonly errors: readonly ServiceError[] };

/** Pages in order: iterate over them, or over `items()`. Each page is requested when it is reached. */
export interface Pages<C extends Connection> extends AsyncIterable<Page<C>> {
  items(): AsyncIterable<C['nodes'][number]>;
}

type Without<T> = Omit<T, 'after' | 'first'> & {
  /** Entries of a page; default 50. */
  readonly pageSize?: number | undefined;
};
type StrategyConnection = NonNullable<StrategyPageQuery['strategies']>;
type MarketConnection = NonNullable<MarketPageQuery['markets']>;
type TokenConnection = NonNullable<TokenPageQuery['tokens']>;
type PositionConnection = NonNullable<PositionPageQuery['wallet']>['positions'];

export interface PageMethods {
  /** Strategies of all chains, by filter and order. */
  strategyPages(input?: Without<StrategyPageQueryVariables>, options?: CallOptions): Pages<StrategyConnection>;
  marketPages(input?: Without<MarketPageQueryVariables>, options?: CallOptions): Pages<MarketConnection>;
  /** Tokens with their prices. */
  tokenPages(input?: Without<TokenPageQueryVariables>, options?: CallOptions): Pages<TokenConnection>;
  /** Positions of a wallet over all chains, newest first. Needs a key. */
  positionPages(input: Without<PositionPageQueryVariables>, options?: CallOptions): Pages<PositionConnection>;
}

/** A service that never ends a list would otherwise be followed for ever. */
const MAX_PAGES = 10_000;

export function createPages(requests: Requests): PageMethods {
  const pagesOf = <Data, C extends Connection>(
    text: string,
    { pageSize = 50, ...variables }: Without<object>,
    options: CallOptions | undefined,
    connectionOf: (data: Data) => C | null | undefined,
  ): Pages<C> => {
    async function* pages(): AsyncGenerator<Page<C>> {
      const seen = new Set<string>();
      let after: string | null = null;
      for (let count = 0; count < MAX_PAGES; count += 1) {
        const sent = { ...variables, first: pageSize, after };
        const { data, errors } = await queryGraphql<Data>(requests, text, sent, options);
        const connection = connectionOf(data);
        if (!connection?.pageInfo || !Array.isArray(connection.nodes)) {
          throw errors[0] ?? new InvalidAnswerError('shape', 200, 'The answer has no page.');
        }
        yield { ...connection, errors };
        const { hasNextPage, endCursor } = connection.pageInfo;
        if (!hasNextPage) return;
        if (typeof endCursor !== 'string' || seen.has(endCursor)) {
          throw new InvalidAnswerError('shape', 200, 'The page says that another follows, and names no new cursor.');
        }
        seen.add(endCursor);
        after = endCursor;
      }
      throw new InvalidAnswerError('shape', 200, `The list has more than ${MAX_PAGES} pages.`);
    }
    async function* items() {
      for await (const { nodes } of pages()) yield* nodes;
    }
    return { [Symbol.asyncIterator]: pages, items };
  };
  return {
    strategyPages: (input = {}, options) =>
      pagesOf(StrategyPageText, input, options, (data: StrategyPageQuery) => data.strategies),
    marketPages: (input = {}, options) =>
      pagesOf(MarketPageText, input, options, (data: MarketPageQuery) => data.markets),
    tokenPages: (input = {}, options) => pagesOf(TokenPageText, input, options, (data: TokenPageQuery) => data.tokens),
    positionPages: (input, options) =>
      pagesOf(PositionPageText, input, options, (data: PositionPageQuery) => data.wallet?.positions),
  };
}
