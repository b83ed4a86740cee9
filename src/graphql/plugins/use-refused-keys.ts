import {
  BREAK,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { needsKey } from '../../limits/field-scopes.ts';
import { UnauthorizedError } from '../../shared/errors.ts';
import type { ServerContext } from '../context.ts';

export interface RefusedKeysOptions {
  readonly schema: GraphQLSchema;
}

/**
 * Refuse the documents of callers whose key is not valid if any of their fields needs a key, executed or not. Other documents
 * are answered as without a key.
 */
export function useRefusedKeys({ schema }: RefusedKeysOptions): Plugin<ServerContext> {
  const keyed = new WeakMap<DocumentNode, boolean>();
  const isRefused = ({ info }: ServerContext, document: DocumentNode): boolean => {
    if (!info.refusedKey) return false;
    const known = keyed.get(document) ?? asksKeyed(schema, document);
    keyed.set(document, known);
    return known;
  };
  const refusal = () => {
    const originalError = new UnauthorizedError();
    return { errors: [new GraphQLError(originalError.message, { originalError })] };
  };
  return {
    onExecute({ args, setResultAndStopExecution }) {
      if (isRefused(args.contextValue, args.document)) setResultAndStopExecution(refusal());
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      if (isRefused(args.contextValue as unknown as ServerContext, args.document)) setResultAndStopExecution(refusal());
    },
  };
}

function asksKeyed(schema: GraphQLSchema, document: DocumentNode): boolean {
  let found = false;
  const types = new TypeInfo(schema);
  const visitor = {
    Field: (_node: FieldNode) => {
      const field = types.getFieldDef();
      found ||= field != null && needsKey(field);
      return found ? BREAK : undefined;
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return found;
}
