import { isAsyncIterable } from '@envelop/core';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { ExecutionContext, ServerContext } from '../context.ts';
import { createChangedSelection } from '../streams/changed-selection.ts';
import { readEventId } from '../streams/event-id.ts';
import { selectionOf } from '../streams/selection.ts';

/**
 * Send an event of a subscription only if a field that the client selected has changed, with an id. A client that reconnects
 * with `Last-Event-ID` gets the difference from that event. This plugin has to be the first one that wraps the results.
 */
export function useChangedSelection(): Plugin<ServerContext> {
  return {
    onSubscribe({ args }) {
      const context = args.contextValue as unknown as ExecutionContext;
      const seen = readEventId(context.lastEventId);
      Object.assign(context, { seenVersions: seen });
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return;
          const changes = createChangedSelection(selectionOf(args as unknown as ExecutionArgs), seen);
          setResult(
            filtered(result as AsyncIterable<ExecutionResult>, (event) => {
              const { subject, eventId } = context;
              if (subject === undefined) {
                return eventId === undefined ? event : { ...event, extensions: { ...event.extensions, eventId } };
              }
              const next = changes.next(event, subject);
              if (next === null) return null;
              return { ...next.result, extensions: { ...next.result.extensions, eventId: next.id } };
            }),
          );
        },
      };
    },
  };
}

/** Pass on the values that `select` returns; `null` = none for this one. */
function filtered<T>(source: AsyncIterable<T>, select: (value: T) => T | null): AsyncIterableIterator<T> {
  const inner = source[Symbol.asyncIterator]();
  return {
    async next() {
      for (;;) {
        const result = await inner.next();
        if (result.done === true) return result;
        const value = select(result.value);
        if (value !== null) return { done: false, value };
      }
    },
    async return() {
      await inner.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
