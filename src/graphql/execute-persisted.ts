import {
  type DocumentNode,
  type ExecutionResult,
  execute as executeDocument,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import { countedClient } from '../limits/clients.ts';
import type { FairQueue, Left } from '../limits/fair-queue.ts';
import type { RequestContext } from '../limits/request-context.ts';
import type { AppContext } from '../resolvers/common/context.ts';
import type { CacheValidity } from '../shared/cache-validity.ts';
import type { ServerContext } from './context.ts';
import { createEnumValues, type EnumValues } from './enum-values.ts';

export interface ExecutedOperation {
  readonly result: ExecutionResult;
  /** Cache validity of the result; absent: it is not cached. */
  readonly validity?: CacheValidity | undefined;
  /**
   * Execute the operation with other variables in the same context, for the next page of an admitted request. The plugins do
   * not run again.
   */
  again(variables: Readonly<Record<string, unknown>>): Promise<ExecutionResult>;
}

export interface PersistedCall {
  /** Name of the operation. */
  readonly operation: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly requestContext: RequestContext;
  /** When nobody waits for the result any more: it is then not begun. Absent: when the client of the request has left. */
  readonly left?: Left;
}

export interface PersistedExecutionDeps {
  readonly schema: GraphQLSchema;
  /** The persisted operations by name. */
  readonly persisted: ReadonlyMap<string, { readonly document: string }>;
  readonly yoga: YogaServerInstance<ServerContext, AppContext>;
  readonly fairQueue: FairQueue;
  readonly formatError: (error: unknown, correlationId: string) => GraphQLError;
}

interface Prepared {
  readonly document: DocumentNode;
  readonly enums: EnumValues;
}

/** Prepared operations by their text. All services of a process share its schema. */
const preparedFor = new WeakMap<GraphQLSchema, Map<string, Prepared>>();

/**
 * Create the execution of persisted operations. Each is parsed and validated at its first call: all of them would be a quarter of
 * the CPU time of a start.
 */
export function createPersistedExecution({ schema, persisted, yoga, fairQueue, formatError }: PersistedExecutionDeps) {
  const known = preparedFor.get(schema) ?? new Map<string, Prepared>();
  preparedFor.set(schema, known);
  const preparedOf = (text: string): Prepared => {
    const prepared = known.get(text) ?? prepare(schema, text);
    known.set(text, prepared);
    return prepared;
  };
  return async ({
    operation,
    variables,
    requestContext,
    left = requestContext.left,
  }: PersistedCall): Promise<ExecutedOperation> => {
    await fairQueue.enter(countedClient(requestContext), left);
    const text = persisted.get(operation)?.document;
    if (text === undefined) throw new Error(`no persisted operation is named ${operation}`);
    const { document, enums } = preparedOf(text);
    const formatted = (errors: readonly unknown[]) =>
      errors.map((error) => formatError(error, requestContext.correlationId));
    try {
      const { contextFactory, execute } = yoga.getEnveloped({
        info: requestContext,
        transport: 'rest',
        params: { query: text },
        request: null,
      });
      const contextValue = await contextFactory();
      const args = { schema, document, variableValues: enums.named(variables), contextValue };
      const presented = (result: ExecutionResult): ExecutionResult =>
        result.errors === undefined
          ? { ...result, data: enums.valued(result.data) as NonNullable<ExecutionResult['data']> }
          : { ...result, errors: formatted(result.errors) };
      const result = (await execute(args)) as ExecutionResult;
      return {
        result: presented(result),
        validity: result.errors === undefined ? contextValue.cacheHints.validity() : undefined,
        async again(next) {
          await fairQueue.enter(countedClient(requestContext), left);
          return presented(await executeDocument({ ...args, variableValues: enums.named(next) }));
        },
      };
    } catch (error) {
      const result = { errors: formatted([error]) };
      return { result, again: async () => result };
    }
  };
}

/**
 * Parse and validate a persisted operation.
 * @throws Error naming the fault
 */
function prepare(schema: GraphQLSchema, text: string): Prepared {
  const document = parse(text);
  const [error] = validate(schema, document);
  if (error) throw new Error(`Persisted operation does not fit the schema: ${error.message}`);
  return { document, enums: createEnumValues(schema, document) };
}
