import { execute, subscribe } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Execute with graphql-js. The executor that Yoga brings takes a result with a field named `then` for a promise, and any
 * caller may name a field so.
 */
export function useEngine(): Plugin {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute as never),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe as never),
  };
}
