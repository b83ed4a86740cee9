import { InvalidAnswerError, type ServiceError, serviceError } from './errors.ts';
import type { CallOptions, Requests } from './http/requests.ts';
import { isRecord } from './json.ts';

export interface GraphqlAnswer<Data> {
  readonly data: Data;
  /** Failures of parts of the answer, which are `null` in `data`. */
  readonly errors: readonly ServiceError[];
}

/**
 * Run a GraphQL query. It is repeated like a read; do not send mutations.
 *
 * @throws ServiceError when the answer has no data, with the first of its errors
 */
export async function queryGraphql<Data>(
  requests: Requests,
  query: string,
  variables: object,
  options: CallOptions = {},
): Promise<GraphqlAnswer<Data>> {
  const { status, body } = await requests.send(
    {
      method: 'POST',
      path: '/graphql',
      body: { query, variables },
      isRead: true,
      hasEntityTag: false,
      // An answer that refuses the document has a status of its own, and its errors in the form of GraphQL.
      statuses: [200, 400, 401, 404, 413, 429, 500, 503],
    },
    options,
  );
  const { data, errors } = graphqlResult(body, status);
  const [first] = errors;
  const hasData = isRecord(data) && Object.values(data).some((value) => value !== null);
  if (!hasData && first) throw first;
  if (!isRecord(data)) throw new InvalidAnswerError('shape', status, 'The GraphQL answer has neither data nor errors.');
  return { data: data as Data, errors };
}

/** The data and the errors of a GraphQL result, or of an error envelope in its place. @throws InvalidAnswerError */
export function graphqlResult(body: unknown, status: number): { data: unknown; errors: ServiceError[] } {
  if (!isRecord(body)) throw new InvalidAnswerError('shape', status, 'The GraphQL answer is not an object.');
  const { errors = isRecord(body.error) ? [{ message: body.error.message, extensions: body.error }] : [] } = body;
  if (!Array.isArray(errors)) throw new InvalidAnswerError('shape', status, '"errors" is not a list.');
  return { data: body.data, errors: errors.map((error) => graphqlError(error, status)) };
}

function graphqlError(error: unknown, httpStatus: number): ServiceError {
  const { message, extensions } = isRecord(error) ? error : { message: undefined, extensions: undefined };
  const { code, status, correlationId, details, retryAfterSec, retryable } = isRecord(extensions) ? extensions : {};
  return serviceError({
    code: typeof code === 'string' ? code : 'internal',
    message: typeof message === 'string' ? message : 'The service reported an error without a message.',
    status: typeof status === 'number' ? status : httpStatus,
    requestId: typeof correlationId === 'string' ? correlationId : undefined,
    details,
    retryAfter: typeof retryAfterSec === 'number' ? retryAfterSec : undefined,
    retryable: typeof retryable === 'boolean' ? retryable : undefined,
  });
}
