import { GraphQLInputObjectType, type GraphQLSchema } from 'graphql';
import { QueryTooComplexError } from '../limits/query-too-complex.ts';
import type { RequestContext } from '../limits/request-context.ts';
import { type Limits, tierOf } from '../limits/tier-limits.ts';
import { countParameters, type KnownNames, parseJson, parseJsonBody, parseQuery } from '../rest/input.ts';
import { MethodNotAllowedError } from '../rest/router.ts';
import type { RestRequest } from '../rest/types.ts';
import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import { isRecord } from '../shared/input/record.ts';

export type GraphQLParams = Readonly<Record<string, unknown>>;

const METHODS = ['GET', 'POST'];
const JSON_PARAMETERS = ['variables', 'extensions'];
/** The parameters of an operation, with the type of their values. */
const PARAMETERS: Readonly<Record<string, 'text' | 'object'>> = {
  query: 'text',
  documentId: 'text',
  operationName: 'text',
  variables: 'object',
  extensions: 'object',
};

/**
 * List the names that a request may have: its parameters, the fields of all inputs, and the variables of documents.
 * @param operations the persisted ones, whose documents are not in the request
 */
export function createKnownNames(
  schema: GraphQLSchema,
  operations: readonly { readonly document: string }[],
): KnownNames {
  const fixed = new Set([...Object.keys(PARAMETERS), ...operations.flatMap(({ document }) => variablesIn(document))]);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type instanceof GraphQLInputObjectType) for (const name of Object.keys(type.getFields())) fixed.add(name);
  }
  return (text) => {
    let variables: ReadonlySet<string> | undefined;
    return (name) => {
      if (fixed.has(name)) return true;
      variables ??= new Set(variablesIn(text));
      return variables.has(name);
    };
  };
}

const VARIABLE = /\$(\w+)/g;

/** The variables that a text names, also inside a string of JSON. */
function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(VARIABLE)].map(([, name = '']) => name);
}

/**
 * Read the parameters of a GraphQL request: one operation or a batch.
 * @param ready called after the request has arrived; resolves when it may be processed
 * @throws MethodNotAllowedError, UnsupportedMediaTypeError, PayloadTooLargeError, BadRequestError, QueryTooComplexError
 */
export async function readGraphQL(
  request: RestRequest,
  requestContext: RequestContext,
  limits: Limits,
  known: KnownNames,
  ready: () => Promise<void> = async () => {},
): Promise<GraphQLParams | readonly GraphQLParams[]> {
  checkAccept(request.headers.accept);
  if (!METHODS.includes(request.method)) throw new MethodNotAllowedError(request.method, request.path, METHODS);
  if (request.method === 'GET') {
    await ready();
    return readGet(request.query, known);
  }
  const tier = tierOf(requestContext.caller);
  const { bodyBytes, batch } = limits[tier];
  const body = await parseJsonBody(request, bodyBytes, ready, known);
  if (!Array.isArray(body)) return asParams(body);
  if (body.length === 0)
    throw new BadRequestError('The batch is empty. Send at least one operation.', { field: 'body' });
  if (body.length > batch) {
    throw new QueryTooComplexError({ measure: 'batch', limit: batch, actual: body.length, tier });
  }
  return body.map(asParams);
}

/** Yoga compares each media type of the header with its own ones. */
const MAX_ACCEPT_CHARS = 1_000;

/** @throws BadRequestError */
function checkAccept(accept: string | undefined): void {
  if (accept === undefined || accept.length <= MAX_ACCEPT_CHARS) return;
  throw new BadRequestError(
    `The header "Accept" has ${accept.length} characters. Send the media types that the client reads, at most ${MAX_ACCEPT_CHARS} characters.`,
    { field: 'headers.accept', value: formatValue(accept), limit: { maxLength: MAX_ACCEPT_CHARS } },
  );
}

function readGet(query: string, known: KnownNames): GraphQLParams {
  countParameters(query, (name) => Object.hasOwn(PARAMETERS, name));
  const given = parseQuery(query);
  const params: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(given)) {
    if (text === '') continue;
    params[name] = JSON_PARAMETERS.includes(name)
      ? parseJson(text, `query.${name}`, `The parameter "${name}" is not valid JSON.`, () => known(given.query ?? ''))
      : text;
  }
  return checkParameters(params, 'query');
}

function asParams(value: unknown): GraphQLParams {
  if (isRecord(value)) return checkParameters(value, 'body');
  throw new BadRequestError('A GraphQL request is a JSON object with "query" or "documentId", or an array of them.', {
    field: 'body',
  });
}

/**
 * Check names and types. The GraphQL server checks them as well, but its errors do not name the parameter in their details.
 * @throws BadRequestError
 */
function checkParameters(params: GraphQLParams, place: 'query' | 'body'): GraphQLParams {
  for (const [name, value] of Object.entries(params)) {
    if (value === null) continue;
    const type = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    const field = `${place}.${name}`;
    if (type === undefined) {
      const known = Object.keys(PARAMETERS).join(', ');
      throw new BadRequestError(`${formatValue(name)} is not a parameter of GraphQL. Send ${known}.`, { field });
    }
    if (type === 'text' ? typeof value !== 'string' : !isRecord(value)) {
      throw new BadRequestError(`"${name}" has to be ${type === 'text' ? 'a string' : 'a JSON object'}.`, { field });
    }
  }
  return params;
}
