import type { HttpMessage } from '../../devnet/http.ts';

/** One hostile request, and the statuses that it may get: those that refuse it, or also the answer, where it is paid for. */
export interface Attack {
  readonly name: string;
  readonly path?: string;
  readonly init: HttpMessage;
  readonly status: readonly number[];
  /** The code in the body; absent where several fit. */
  readonly code?: string;
}

export const JSON_TYPE = { 'content-type': 'application/json' };

/** A POST to GraphQL. */
export function post(name: string, body: unknown, code: string, status: number[] = [400]): Attack {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { name, init: { method: 'POST', headers: JSON_TYPE, body: text }, status, code };
}

export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** A document in a POST. */
export const query = (name: string, text: string, code = 'query_too_complex'): Attack =>
  post(name, { query: text }, code);
