import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { clientIdentity, RateLimitedError } from '../../limits/budgets.ts';
import { type Limits, tierOf, WINDOW_SEC } from '../../limits/limits.ts';
import type { ServerContext } from '../context.ts';

/**
 * Limit the open subscriptions of a client, because a subscription costs as little as a query but lasts. Counted per process,
 * which holds the connections. This plugin has to be the last one, so that every counted subscription starts.
 */
export function useStreamLimits({ limits }: { readonly limits: Limits }): Plugin<ServerContext> {
  const open = new Map<string, number>();
  return {
    onSubscribe({ args }) {
      const { info } = args.contextValue as unknown as ServerContext;
      const tier = tierOf(info.caller);
      const { streams: limit, points } = limits[tier];
      const identity = clientIdentity(info);
      const count = open.get(identity) ?? 0;
      if (points > 0 && count >= limit) {
        const details = { scope: 'streams', policy: tier, limit, windowSec: WINDOW_SEC } as const;
        const error = new RateLimitedError(details, WINDOW_SEC);
        throw new GraphQLError(error.message, { originalError: error });
      }
      open.set(identity, count + 1);
      let ended = false;
      const end = () => {
        if (ended) return;
        ended = true;
        const left = (open.get(identity) ?? 1) - 1;
        if (left > 0) open.set(identity, left);
        else open.delete(identity);
      };
      return {
        onSubscribeError: end,
        onSubscribeResult({ result }) {
          if (Symbol.asyncIterator in result) return { onEnd: end };
          end();
          return undefined;
        },
      };
    },
  };
}
