import { type ExecutionArgs, GraphQLError, type Source } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Admission } from './admission.ts';
import { DOOR_POINTS, tierOf } from './limits.ts';
import type { Queries, QueryCost } from './queries.ts';
import type { ServerContext } from './server-context.ts';

export interface QueryLimitsDeps {
  readonly queries: Queries;
  readonly admission: Admission;
}

/**
 * Refuse queries before they are validated (their shape) and before they are executed (their cost), and charge what they
 * cost. Persisted operations are ours and known to be affordable: they are only charged.
 */
export function useQueryLimits({ queries, admission }: QueryLimitsDeps): Plugin<ServerContext> {
  const charge = async (args: ExecutionArgs): Promise<QueryCost> => {
    const { info } = args.contextValue as ServerContext;
    const cost = queries.costOf(args, tierOf(info.caller));
    if (cost.points > DOOR_POINTS) await admission.charge(info, cost.points - DOOR_POINTS);
    return cost;
  };

  return {
    onParse({ context, setParseFn }) {
      setParseFn((source: string | Source) => {
        try {
          return queries.read(typeof source === 'string' ? source : source.body, tierOf(context.info.caller));
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw new GraphQLError(error instanceof Error ? error.message : 'unreadable', {
            originalError: error instanceof Error ? error : null,
          });
        }
      });
    },
    onValidate({ params, setResult }) {
      if (queries.isValid(params.documentAST)) setResult([]);
      return ({ valid }) => {
        if (valid) queries.noteValid(params.documentAST);
      };
    },
    async onExecute({ args }) {
      const context = args.contextValue;
      if (context.transport === 'rest') return undefined;
      const cost = context.charged ?? (await charge(args as ExecutionArgs));
      return {
        onExecuteDone({ result, setResult }) {
          if (!(Symbol.asyncIterator in result)) setResult({ ...result, extensions: { ...result.extensions, cost } });
        },
      };
    },
    async onSubscribe({ args }) {
      await charge(args as unknown as ExecutionArgs);
    },
  };
}
