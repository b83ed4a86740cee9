import type { Plugin } from 'graphql-yoga';
import type { ExecutionContext } from '../context.ts';

/** Add to an answer how fresh the fields are that were asked to be, as `extensions.reads`. */
export function useReceipts(): Plugin<ExecutionContext> {
  return {
    onExecute({ args }) {
      const { receipts } = args.contextValue;
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result || receipts.length === 0) return;
          setResult({ ...result, extensions: { ...result.extensions, reads: receipts } });
        },
      };
    },
  };
}
