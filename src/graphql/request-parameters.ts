import { type Limits, tierOf } from '../limits/limits.ts';
import { QueryTooComplexError } from '../limits/query-limits.ts';
import type { RequestContext } from '../limits/request-context.ts';
import { parseJson, parseJsonBody, parseQuery } from '../rest/input.ts';
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
 * Read the parameters of a GraphQL request: one operation or a batch.
 * @param ready called after the request has arrived; resolves when it may be processed
 * @throws MethodNotAllowedError, UnsupportedMediaTypeError, PayloadTooLargeError, BadRequestError, QueryTooComplexError
 */
export async function readGraphQL(
  request: RestRequest,
  requestContext: RequestContext,
  limits: Limits,
  ready: () => Promise<void> = async () => {},
): Promise<GraphQLParams | readonly GraphQLParams[]> {
  if (!METHODS.includes(request.method)) throw new MethodNotAllowedError(request.method, request.path, METHODS);
  if (request.method === 'GET') {
    await ready();
    return readGet(request.query);
  }
  const tier = tierOf(requestContext.caller);
  const { bodyBytes, batch } = limits[tier];
  const body = await parseJsonBody(request, bodyBytes, ready);
  if (!Array.isArray(body)) return asParams(body);
  if (body.length === 0)
    throw new BadRequestError('The batch is empty. Send at least one operation.', { field: 'body' });
  if (body.length > batch) {
    throw new QueryTooComplexError({ measure: 'batch', limit: batch, actual: body.length, tier });
  }
  return body.map(asParams);
}

function readGet(query: string): GraphQLParams {
  const given = parseQuery(query);
  const params: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(given)) {
    if (text === '') continue;
    params[name] = JSON_PARAMETERS.includes(name)
      ? parseJson(text, `query.${name}`, `The parameter "${name}" is not valid JSON.`)
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
