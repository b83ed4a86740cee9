import { ClientError, ConnectionError, InvalidAnswerError } from '../errors.ts';
import { graphqlResult } from '../graphql-request.ts';
import type { Requests } from '../http/requests.ts';
import { pauseBefore } from '../http/retry.ts';
import { isRecord } from '../json.ts';
import { countLimitOf, requireFunction, timeLimitOf } from '../option-checks.ts';
import { notify } from '../wait.ts';
import { readEvents } from './events.ts';

/** The state of the connection of a stream of changes. */
export type LiveState =
  | { readonly kind: 'connected' }
  /** It connects again after `pauseMs`, from where it stopped. */
  | { readonly kind: 'disconnected'; readonly error: ClientError; readonly pauseMs: number };

export interface LiveOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onState?: ((state: LiveState) => void) | undefined;
  /** Attempts to connect in a row that may fail before the iteration throws; default: no limit. */
  readonly maxFailures?: number | undefined;
  /** Longest silence of a connection, ms; default 60,000. */
  readonly silenceMs?: number | undefined;
}

export interface Subscription {
  readonly query: string;
  /** Field of the subscription. */
  readonly field: string;
  /** Whether a change has what the variables are made of. */
  readonly isChange?: ((change: Readonly<Record<string, unknown>>) => boolean) | undefined;
  /** Variables of the next connection, which continue after the last received change. */
  variables(): object;
}

const MAX_EVENT_LENGTH = 8 * 1024 * 1024;
/** Ids that a header can carry; with any other id the stream begins anew. */
const ID = /^[\x21-\x7e]{1,1024}$/;
const MAX_PAUSE_MS = 30_000;

/**
 * Yield every change of a GraphQL subscription. A broken connection is opened again, from the last change on.
 *
 * @throws ServiceError when the service refuses the subscription, InputError for an option that is not allowed, or the reason of the signal
 */
export async function* follow<Change>(
  requests: Requests,
  subscription: Subscription,
  { signal, onState, ...limits }: LiveOptions,
): AsyncGenerator<Change> {
  const maxFailures = countLimitOf('maxFailures', limits.maxFailures ?? Number.POSITIVE_INFINITY);
  const silenceMs = timeLimitOf('silenceMs', limits.silenceMs ?? 60_000);
  requireFunction('onState', onState);
  let failures = 0;
  let shortConnections = 0;
  let lastId: string | undefined;
  for (;;) {
    const startedMs = performance.now();
    try {
      const headers: Record<string, string> = {
        ...requests.headers(),
        accept: 'text/event-stream',
        'content-type': 'application/json',
      };
      if (lastId !== undefined) headers['last-event-id'] = lastId;
      const events = readEvents(
        {
          url: `${requests.baseUrl}/graphql`,
          method: 'POST',
          headers,
          body: JSON.stringify({ query: subscription.query, variables: subscription.variables() }),
          signal,
        },
        { fetch: requests.fetch, silenceMs, maxEventLength: MAX_EVENT_LENGTH },
      );
      let isConnected = false;
      for await (const { type, data, id } of events) {
        if (type === 'complete') break;
        if (type !== 'next') continue;
        const change = changeOf<Change>(data, subscription);
        if (!isConnected) notify(onState, { kind: 'connected' });
        isConnected = true;
        failures = 0;
        lastId = id !== undefined && ID.test(id) ? id : undefined;
        yield change;
      }
      throw new ConnectionError('The service ended the stream of changes.');
    } catch (error) {
      if (signal?.aborted || !(error instanceof ClientError) || !error.retryable) throw error;
      failures += 1;
      if (failures > maxFailures) throw error;
      const asked = 'retryAfter' in error && typeof error.retryAfter === 'number' ? error.retryAfter * 1_000 : 0;
      // A service that ends every stream after its first change is not asked again at once each time.
      shortConnections = performance.now() - startedMs < MAX_PAUSE_MS ? shortConnections + 1 : 0;
      const attempts = Math.max(failures, shortConnections) - 1;
      const pauseMs = Math.max(Math.min(pauseBefore(attempts), MAX_PAUSE_MS), asked);
      notify(onState, { kind: 'disconnected', error, pauseMs });
      await requests.wait(pauseMs, signal);
    }
  }
}

function changeOf<Change>(text: string, { field, isChange }: Subscription): Change {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new InvalidAnswerError('not_json', 200, 'An event is not valid JSON.', error);
  }
  const { data, errors } = graphqlResult(parsed, 200);
  const change = isRecord(data) ? data[field] : undefined;
  if (isRecord(change) && (isChange === undefined || isChange(change))) return change as Change;
  throw errors[0] ?? new InvalidAnswerError('shape', 200, `An event has no ${field}.`);
}
