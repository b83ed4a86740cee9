import { type ExecutionArgs, GraphQLError, getOperationAST, getVariableValues } from 'graphql';
import { ERROR_CODES } from '../shared/errors.ts';

/** Maximum number of variable errors in an answer. Each one prints the value and may suggest names. */
const MAX_ERRORS = 5;
/** Characters kept at both ends of a longer message: the variable, and the fault. */
const MAX_MESSAGE_CHARS = 1_000;
const KEPT_CHARS = 300;

/**
 * Return the first few errors of an operation's variables; none when they fit, or when there is no operation to run. The
 * engine would report fifty errors and repeat the whole value in each.
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
    // Nothing is executed: with GraphQL's own media type the HTTP status is an error too.
    extensions: { http: { spec: true, status: ERROR_CODES.bad_request.status } },
  });
}
