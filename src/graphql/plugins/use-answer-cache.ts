import { type ExecutionArgs, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { AnswerCache, AnswerCost } from '../../http/answer-cache.ts';
import { createAdmissionFilter } from '../../shared/admission-filter.ts';
import type { ExecutionContext } from '../context.ts';
import { answerKey } from '../graphql-request.ts';

export interface AnswerCacheOptions {
  readonly cache: AnswerCache;
  /** Called on every operation that missed the cache, for metrics. */
  readonly onMiss?: (() => void) | undefined;
}

/** Minimum number of operations in the admission filter, which detects repeated ones. */
const MAX_REMEMBERED = 10_000;

/**
 * Cache the data of queries without a key from their second execution on. Most queries are never repeated, and caching those
 * would cost more in garbage collection than executing them. Answers with errors are never cached.
 */
export function useAnswerCache({ cache, onMiss }: AnswerCacheOptions): Plugin<ExecutionContext> {
  const cameBefore = createAdmissionFilter(MAX_REMEMBERED);
  return {
    onExecute({ args }) {
      const context = args.contextValue;
      if (!isCacheable(context, args)) return undefined;
      onMiss?.();
      return {
        onExecuteDone({ result }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined || result.data == null) return;
          const validity = context.cacheHints.validity();
          if (validity === undefined) return;
          const { query = '', operationName, variables } = context.params;
          const key = answerKey(query, operationName, variables);
          if (!cameBefore(key)) return;
          const body = `{"data":${JSON.stringify(result.data)}`;
          const cost = result.extensions?.cost as AnswerCost | undefined;
          cache.store(key, { contentType: 'application/json', body, isWhole: false, cost }, validity);
        },
      };
    },
  };
}

/** Whether the answer is the same for every caller. */
function isCacheable({ transport, info }: ExecutionContext, { document, operationName }: ExecutionArgs): boolean {
  if (transport !== 'graphql' || info.authorization !== undefined) return false;
  return getOperationAST(document, operationName)?.operation === 'query';
}
