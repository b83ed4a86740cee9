import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.ts';

/** Hand the ids of events to the writer of the stream. This plugin has to see every event that is written. */
export function useEventIds(): Plugin<ServerContext> {
  return {
    onSubscribe({ args }) {
      const { eventIds } = args.contextValue as unknown as ServerContext;
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return;
          setResult(
            mapAsyncIterator(result, (event: ExecutionResult<unknown, { readonly eventId?: string }>) => {
              eventIds?.push(event.extensions?.eventId ?? null);
              return event;
            }) as never,
          );
        },
      };
    },
  };
}
