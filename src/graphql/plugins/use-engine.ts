import { type ExecutionArgs, execute, subscribe } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Compiler, Execute } from '../compiler.ts';
import type { ExecutionContext } from '../context.ts';

/**
 * Execute with graphql-js, and frequent operations with their compiled form. Yoga's default executor takes a result with a
 * field named `then` for a promise, and any caller may name a field so.
 */
export function useEngine(compiler: Compiler): Plugin<ExecutionContext> {
  return {
    onExecute({ args, setExecuteFn }) {
      setExecuteFn(compiler.executorOf(args as ExecutionArgs, execute as Execute) as never);
      return {
        onExecuteDone({ result }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined) return;
          // A cacheable answer depends on the snapshot alone, so executing it twice is safe.
          if (args.contextValue.cacheHints.validity() !== undefined) compiler.noteExecuted(args as ExecutionArgs);
        },
      };
    },
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe as never),
  };
}
