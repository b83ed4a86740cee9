import { type DocumentNode, execute as executeDocument, type GraphQLSchema } from 'graphql';
import { countedClient } from '../limits/clients.ts';
import type { FairQueue, Left } from '../limits/fair-queue.ts';
import type { RequestContext } from '../limits/request-context.ts';
import type { CacheValidity } from '../shared/cache-validity.ts';
import type { ExecutionContext, ServerContext } from './context.ts';
import { createEnumValues, type EnumValues } from './enum-values.ts';
import { type Execute, type FormatError, presented, type Result } from './execution.ts';

export interface ExecutedOperation {
  readonly result: Result;
  /** Cache validity of the result; absent: it is not cached. */
  readonly validity?: CacheValidity | undefined;
  /**
   * Execute the operation with other variables in the same context, for the next page of an admitted request. The plugins do
   * not run again.
   */
  again(variables: Readonly<Record<string, unknown>>): Promise<Result>;
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
  /** Parse the text of a persisted operation, once. */
  readonly documentOf: (text: string) => DocumentNode;
  readonly execute: Execute;
  readonly fairQueue: FairQueue;
  readonly formatError: FormatError;
}

/** Create the execution of persisted operations: enums have their internal values, and lists are read page by page. */
export function createPersistedExecution(deps: PersistedExecutionDeps) {
  const { schema, persisted, documentOf, execute, fairQueue, formatError } = deps;
  const known = new Map<string, EnumValues>();
  const enumsOf = (text: string): EnumValues => {
    const enums = known.get(text) ?? createEnumValues(schema, documentOf(text));
    known.set(text, enums);
    return enums;
  };
  return async (call: PersistedCall): Promise<ExecutedOperation> => {
    const { operation, variables, requestContext, left = requestContext.left } = call;
    await fairQueue.enter(countedClient(requestContext), left);
    const text = persisted.get(operation)?.document;
    if (text === undefined) throw new Error(`no persisted operation is named ${operation}`);
    const enums = enumsOf(text);
    const valued = (result: Result): Result =>
      result.errors === undefined ? { ...result, data: enums.valued(result.data) } : result;
    const context: ServerContext = { info: requestContext, transport: 'rest' };
    const result = await execute({ query: text, variables: enums.named(variables) }, context);
    return {
      result: valued(result),
      validity: result.errors === undefined ? (context as ExecutionContext).cacheHints.validity() : undefined,
      async again(next) {
        await fairQueue.enter(countedClient(requestContext), left);
        const args = { schema, document: documentOf(text), contextValue: context, variableValues: enums.named(next) };
        return valued(presented((await executeDocument(args)) as Result, requestContext, formatError));
      },
    };
  };
}
