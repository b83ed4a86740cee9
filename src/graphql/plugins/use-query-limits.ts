import { type DocumentNode, type ExecutionArgs, GraphQLError, type Source } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { openAccount } from '../../limits/account.ts';
import type { Admission } from '../../limits/admission.ts';
import { countedClient } from '../../limits/clients.ts';
import type { FairQueue } from '../../limits/fair-queue.ts';
import { ADMISSION_POINTS } from '../../limits/points.ts';
import { costOfErrors, countFields } from '../../limits/query-cost.ts';
import type { RequestContext } from '../../limits/request-context.ts';
import { tierOf } from '../../limits/tier-limits.ts';
import { type Awaitable, andThen } from '../../shared/awaitable.ts';
import { ERROR_CODES } from '../../shared/errors.ts';
import { checksumErrors } from '../checksums.ts';
import type { ServerContext } from '../context.ts';
import type { Queries, QueryCost, ReadingCost } from '../queries.ts';
import { variableErrors } from '../variable-errors.ts';

export interface QueryLimitsDeps {
  readonly queries: Queries;
  readonly admission: Admission;
  readonly fairQueue: FairQueue;
  /** Whether errors may name parts of the schema that the query does not contain. */
  readonly suggestions: boolean;
}

/**
 * Charge every operation for reading before it is parsed, and for its cost before it is executed. Operations beyond the limits
 * of the tier are refused. Persisted operations are trusted and only charged.
 */
export function useQueryLimits({ queries, admission, fairQueue, suggestions }: QueryLimitsDeps): Plugin<ServerContext> {
  /** Charge the execution before it begins. */
  const charge = (args: ExecutionArgs): Awaitable<QueryCost> => {
    const { info, operation } = args.contextValue as ServerContext;
    const { account, reading, values } = operation ?? {};
    const cost = queries.costOf(args, tierOf(info.caller));
    const paid = account?.pay({
      reading: (reading?.whole ?? 0) + (values ?? 0),
      execution: (cost.execution ?? 0) + (cost.errors ?? 0),
    });
    return andThen(paid, () => cost);
  };

  /** The cost that an execution has used of its payment. */
  const usedBy = (document: DocumentNode, execution: number, sized: number, data: unknown): number => {
    const fields = countFields(data);
    if (queries.isPersisted(document)) return Math.min(execution, queries.noteExecuted(document, fields));
    return execution - sized + Math.min(sized, fields);
  };

  /** Charge the reading before it begins. */
  const open = (server: ServerContext, { query, variables }: GraphQLParams): Awaitable<void> => {
    if (typeof query !== 'string') return undefined;
    const account = openAccount(admission, server.info);
    const reading = readingOf(queries, query, server.info);
    const values = countValues(variables) / VALUES_PER_COST;
    server.operation = { account, reading, values };
    return account.pay({ reading: reading.whole + values, execution: 0 });
  };

  return {
    onParams({ params, context }) {
      const server = context as unknown as ServerContext;
      // A row has paid its price.
      if (server.transport === 'rest') return undefined;
      // The operations of a batch wait in the fair queue; a single one has waited already.
      const { info } = server;
      const turn = Array.isArray(server.params) ? fairQueue.enter(countedClient(info), info.left) : undefined;
      return andThen(turn, () => open(server, params));
    },
    onParse({ context, setParseFn }) {
      const { operation } = context as unknown as ServerContext;
      setParseFn((source: string | Source) => {
        try {
          const text = typeof source === 'string' ? source : source.body;
          return queries.read(text, tierOf(context.info.caller), operation?.reading.scan);
        } catch (error) {
          operation?.account.settle({ reading: operation.reading.parse, execution: 0 });
          if (error instanceof GraphQLError) throw error;
          throw new GraphQLError(error instanceof Error ? error.message : 'unreadable', {
            originalError: error instanceof Error ? error : null,
          });
        }
      });
    },
    onValidate({ params, context, setResult, setValidationFn }) {
      const document = params.documentAST;
      if (queries.isValid(document)) setResult([]);
      else setValidationFn((schema, _document, rules) => queries.validate(schema, document, rules, suggestions));
      return ({ valid }) => {
        if (valid) queries.noteValid(document);
        const { operation } = context as unknown as ServerContext;
        if (!valid) operation?.account.settle({ reading: operation.reading.whole, execution: 0 });
      };
    },
    onExecute({ args, setResultAndStopExecution }) {
      const context = args.contextValue;
      if (context.transport === 'rest') return undefined;
      const errors = inputErrors(args as ExecutionArgs);
      if (errors.length > 0) {
        const { account, reading, values = 0 } = context.operation ?? {};
        account?.settle({ reading: (reading?.whole ?? 0) + values, execution: 0 });
        setResultAndStopExecution({ errors, extensions: { cost: { points: account?.points ?? ADMISSION_POINTS } } });
        return undefined;
      }
      return andThen(charge(args as ExecutionArgs), ({ execution = 0, sized = 0, errors: _risk, ...cost }) => ({
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result) return;
          const { account, reading, values } = context.operation ?? {};
          const failed = costOfErrors(result.errors?.length ?? 0);
          const used = usedBy(args.document, execution, sized, result.data) + failed;
          account?.settle({ reading: (reading?.whole ?? 0) + (values ?? 0), execution: used });
          const points = account?.points ?? cost.points;
          const extensions = { ...result.extensions, cost: { ...cost, points } };
          setResult(
            result.errors === undefined
              ? { ...result, extensions }
              : { ...result, errors: result.errors.slice(0, MAX_ERRORS), extensions },
          );
        },
      }));
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const errors = inputErrors(args as unknown as ExecutionArgs);
      if (errors.length > 0) setResultAndStopExecution({ errors });
      else await charge(args as unknown as ExecutionArgs);
    },
  };
}

/** Errors in an answer: each is formatted, with its place in the document. Further fields that failed are `null` only. */
const MAX_ERRORS = 100;
/** Number of coerced variable values per unit of cost. */
const VALUES_PER_COST = 10;

/** Count the values in variables, whose depth is limited by the JSON check. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let sum = 1;
  for (const inner of Object.values(value)) sum += countValues(inner);
  return sum;
}

/** @throws QueryTooComplexError, and GraphQLError as parsing would */
function readingOf(queries: Queries, text: string, { caller }: RequestContext): ReadingCost {
  try {
    return queries.readingCost(text, tierOf(caller));
  } catch (error) {
    if (error instanceof GraphQLError) error.extensions.http = { spec: true, status: ERROR_CODES.bad_request.status };
    throw error;
  }
}

/** Faults of the inputs of an operation; none = it is executed. */
function inputErrors(args: ExecutionArgs) {
  const errors = variableErrors(args);
  return errors.length > 0 ? errors : checksumErrors(args);
}
