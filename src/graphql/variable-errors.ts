import { type ExecutionArgs, GraphQLError, getOperationAST, getVariableValues } from 'graphql';
import { ERROR_CODES } from '../shared/errors.ts';

/** Errors of variables that are told. Each one prints the value that it is about, and suggests names. */
const MAX_ERRORS = 5;
/** What is left of a longer message at both of its ends: the variable, and what is wrong with it. */
const MAX_MESSAGE_CHARS = 1_000;
const KEPT_CHARS = 300;

/**
 * Tell the first few errors of the variables of an operation; none when they fit, or when there is no operation to run. The
 * engine goes on for fifty errors, and repeats the whole value in each.
 */
export function variableErrors({ schema, document, operationName, variableValues }: ExecutionArgs) {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  if (definitions.length === 0) return [];
  const { errors = [] } = getVariableValues(schema, definitions, variableValues ?? {}, { maxErrors: MAX_ERRORS });
  return errors.slice(0, MAX_ERRORS).map(presented);
}

function presented({ message, nodes, originalError }: GraphQLError): GraphQLError {
  const isLong = message.length > MAX_MESSAGE_CHARS;
  return new GraphQLError(isLong ? `${message.slice(0, KEPT_CHARS)} … ${message.slice(-KEPT_CHARS)}` : message, {
    nodes: nodes ?? null,
    originalError,
    // Nothing is executed: to those who accept GraphQL's own media type the status says so.
    extensions: { http: { spec: true, status: ERROR_CODES.bad_request.status } },
  });
}
