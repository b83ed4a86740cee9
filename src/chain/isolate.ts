import { ChainReadError } from './errors.ts';
import { createExecutor, type Execution, type Executor, type ExecutorDeps } from './execute.ts';
import type { Call, CallResult } from './types.ts';

/** Failures of a whole multicall that one of its calls may have caused: the node answered, and could not do it. */
const CAUSED_BY_A_CALL: readonly string[] = ['server_error', 'malformed', 'timeout'];
/** Calls that are asked alone at most: they leave as one batch, and a node that is down is not asked thousands of times. */
const MAX_ALONE = 500;

/**
 * Create an executor in which a call that breaks its whole multicall (it burns the gas, its answer is too large) harms
 * nobody else: what failed together is asked once more, each call alone, in one further batched request at most.
 */
export function createIsolatingExecutor(deps: ExecutorDeps): Executor {
  const together = createExecutor(deps);
  const alone = createExecutor({ ...deps, maxCalldataBytes: 1 });
  return {
    latestBlock: (options) => together.latestBlock(options),
    execute: async (calls, blockNumber, options) => {
      let first: Execution;
      try {
        first = await together.execute(calls, blockNumber, options);
      } catch (error) {
        // The first multicall also carries the block's time: without it there is no answer at all.
        if (!isCausedByACall(error) || calls.length === 0 || calls.length > MAX_ALONE) throw error;
        return alone.execute(calls, blockNumber, options);
      }
      const failed = calls.flatMap((call, index) => (isCollateral(first.results[index]) ? [{ call, index }] : []));
      if (failed.length === 0 || failed.length > MAX_ALONE) return first;
      return { ...first, results: await retried(first.results, failed) };

      async function retried(
        results: readonly CallResult[],
        again: readonly { readonly call: Call; readonly index: number }[],
      ): Promise<readonly CallResult[]> {
        try {
          const second = await alone.execute(
            again.map(({ call }) => call),
            blockNumber,
            options,
          );
          const answers = new Map(again.map(({ index }, i) => [index, second.results[i]] as const));
          return results.map((result, index) => answers.get(index) ?? result);
        } catch (error) {
          if (!(error instanceof ChainReadError)) throw error;
          return results;
        }
      }
    },
  };
}

function isCollateral(result: CallResult | undefined): boolean {
  return result !== undefined && !result.ok && CAUSED_BY_A_CALL.includes(result.reason);
}

function isCausedByACall(error: unknown): boolean {
  return error instanceof ChainReadError && CAUSED_BY_A_CALL.includes(error.reason);
}
