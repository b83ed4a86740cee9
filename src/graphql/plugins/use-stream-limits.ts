import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { RateLimitedError } from '../../limits/budgets.ts';
import { countedClient } from '../../limits/clients.ts';
import { createSlots } from '../../limits/slots.ts';
import { type Limits, WINDOW_SEC } from '../../limits/tier-limits.ts';
import type { ServerContext } from '../context.ts';

/**
 * Limit the open subscriptions of a client, because a subscription costs as little as a query but lasts. Counted per process,
 * which holds the connections. This plugin has to be the last one, so that every counted subscription starts.
 */
export function useStreamLimits({ limits }: { readonly limits: Limits }): Plugin<ServerContext> {
  const open = createSlots({
    // The feeds behind the subscriptions have a maximum of the process.
    max: Number.POSITIVE_INFINITY,
    perClient: (tier) => (limits[tier].points > 0 ? limits[tier].streams : Number.POSITIVE_INFINITY),
  });
  return {
    onSubscribe({ args }) {
      const client = countedClient((args.contextValue as unknown as ServerContext).info);
      const place = open.take(client);
      if ('limit' in place) {
        const details = { scope: 'streams', policy: client.tier, limit: place.limit, windowSec: WINDOW_SEC } as const;
        const error = new RateLimitedError(details, WINDOW_SEC);
        throw new GraphQLError(error.message, { originalError: error });
      }
      const end = place.free;
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
