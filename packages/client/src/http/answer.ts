import { InvalidAnswerError, type ServiceError, serviceError } from '../errors.ts';
import { isRecord } from '../json.ts';
import type { HttpAnswer } from './transport.ts';

/** Parse an answer as JSON. @throws InvalidAnswerError for another content type, or text that is no JSON */
export function parseJson({ status, headers, text }: HttpAnswer): unknown {
  const type = headers.get('content-type') ?? 'none';
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    throw new InvalidAnswerError(
      'content_type',
      status,
      `Expected JSON, and the answer (status ${status}) has the content type ${type}: check baseUrl.`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidAnswerError('not_json', status, `The answer (status ${status}) is not valid JSON.`, error);
  }
}

/** Read the error envelope of an answer. @throws InvalidAnswerError when it has none */
export function errorOf(answer: HttpAnswer): ServiceError {
  const body = parseJson(answer);
  const error = isRecord(body) ? body.error : undefined;
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') {
    throw new InvalidAnswerError('status', answer.status, `Status ${answer.status} without the service's error body.`);
  }
  const { correlationId } = error;
  return serviceError({
    code: error.code,
    message: error.message,
    status: answer.status,
    requestId:
      typeof correlationId === 'string' ? correlationId : (answer.headers.get('x-correlation-id') ?? undefined),
    details: error.details,
    retryAfter: retryAfterOf(answer.headers),
  });
}

/** `Retry-After` in seconds, from either of its forms; absent or unreadable = `undefined`. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = /GMT$/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
