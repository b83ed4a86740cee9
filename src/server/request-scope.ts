import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestInfo } from './request-info.ts';

/**
 * The request being answered, for the one place that has no other way to know it: the error formatter of the GraphQL
 * server also runs before a context exists (malformed bodies, unknown persisted ids).
 */
const storage = new AsyncLocalStorage<RequestInfo>();

export function runInRequest<T>(info: RequestInfo, run: () => T): T {
  return storage.run(info, run);
}

export function currentCorrelationId(): string | undefined {
  return storage.getStore()?.correlationId;
}
