import { AppError, UpstreamUnavailableError } from './errors.ts';

/** The reason of a failure in one word, without any text of a provider. */
export function failureWord(error: unknown): string {
  if (error instanceof UpstreamUnavailableError) return error.details?.reason ?? error.code;
  return error instanceof AppError ? error.code : 'internal';
}
