import { createExecutor, type Execution, type Executor, type ExecutorDeps } from '../execute.ts';
import type { Reading } from '../reading.ts';
import type { Call, CallResult, ReadOptions } from '../types.ts';
import { ChainReadError } from './errors.ts';

/** Failures of a whole multicall that one of its calls may have caused: the node answered, and could not do it. */
const CAUSED_BY_A_CALL: readonly string[] = ['server_error', 'malformed', 'timeout'];
/** Calls that are asked alone at most: they leave as one batch, and a node that is down is not asked thousands of times. */
const MAX_ALONE = 500;

/**
 * Create an executor in which a call that breaks its whole multicall (it burns the gas, its answer is too large) harms
 * nobody else: what failed together is asked once more, each call alone, in one further batched request at most. A call
 * that fails alone as well, while most others pass, is itself to blame and counts as reverted.
 */
export function createIsolatingExecutor(deps: ExecutorDeps): Executor {
  const together = createExecutor(deps);
  const alone = createExecutor({ ...deps, maxCalldataBytes: 1 });

  const again = async (
    first: Execution,
    reading: Reading,
    calls: readonly Call[],
    options: ReadOptions | undefined,
  ): Promise<Execution> => {
    const failed = calls.flatMap((call, index) => (isBroken(first.results[index]) ? [{ call, index }] : []));
    if (failed.length === 0 || failed.length > MAX_ALONE) return first;
    const retried = failed.map(({ call }) => call);
    try {
      const { results } = await alone.execute(reading, retried, options);
      const answers = new Map(blameAlone(results).map((answer, i) => [failed[i]?.index ?? -1, answer] as const));
      return { ...first, results: first.results.map((result, index) => answers.get(index) ?? result) };
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error;
      return first;
    }
  };

  return {
    execute: async (reading, calls, options) => {
      try {
        return await again(await together.execute(reading, calls, options), reading, calls, options);
      } catch (error) {
        // The first multicall also carries the block's time: without it there was no answer at all.
        if (!(error instanceof ChainReadError) || !CAUSED_BY_A_CALL.includes(error.reason)) throw error;
        if (calls.length === 0 || calls.length > MAX_ALONE) throw error;
        const execution = await alone.execute(reading, calls, options);
        return { ...execution, results: blameAlone(execution.results) };
      }
    },
  };
}

/** Whether it failed with its multicall, not by itself. */
function isBroken(result: CallResult | undefined): boolean {
  return result !== undefined && !result.ok && CAUSED_BY_A_CALL.includes(result.reason);
}

function blameAlone(results: readonly CallResult[]): readonly CallResult[] {
  const broken = results.filter(isBroken).length;
  if (broken * 2 >= results.length) return results;
  return results.map((result) => (isBroken(result) ? { ok: false, reason: 'reverted' } : result));
}
