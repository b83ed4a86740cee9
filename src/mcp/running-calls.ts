import type { RestRequest } from '../rest/types.ts';
import { idOf, type Message } from './json-rpc.ts';

export const SESSION_HEADER = 'mcp-session-id';

/** The calls under way in this process, so that a later message can cancel one. */
export interface RunningCalls {
  /**
   * Remember a call while it runs.
   * @returns the signal of its cancellation, and the function to call at its end
   */
  begin(message: Message, request: RestRequest): { readonly cancelled: AbortSignal; end(): void };
  /** Cancel the call that a notification names. One that is not under way here, or of another session, is left alone. */
  cancel(notification: Message, request: RestRequest): void;
  /** Calls under way. */
  readonly count: number;
}

/** A client chooses its own id at most to its own disadvantage: the key or the address is part of the name of a call. */
const SESSION_ID = /^[\x21-\x7e]{1,128}$/;

/** The call was cancelled by its client. */
class CancelledError extends Error {
  constructor() {
    super('the client has cancelled the call');
  }
}

/** Create the register of running calls. Ids of requests are unique within a session only, so calls without one cannot be cancelled. */
export function createRunningCalls(): RunningCalls {
  const running = new Map<string, AbortController>();
  return {
    begin(message, request) {
      const controller = new AbortController();
      const name = nameOf(idOf(message), request);
      // A second call under the same name is a fault of the client, and is not cancelled.
      const isNew = name !== undefined && !running.has(name);
      if (isNew) running.set(name, controller);
      return {
        cancelled: controller.signal,
        end() {
          if (isNew) running.delete(name);
        },
      };
    },
    cancel({ params }, request) {
      if (typeof params !== 'object' || params === null) return;
      const name = nameOf(idOf({ id: (params as { readonly requestId?: unknown }).requestId }), request);
      if (name !== undefined) running.get(name)?.abort(new CancelledError());
    },
    get count() {
      return running.size;
    },
  };
}

function nameOf(id: string | number | null, { headers, clientIp }: RestRequest): string | undefined {
  const session = headers[SESSION_HEADER];
  if (id === null || session === undefined || !SESSION_ID.test(session)) return undefined;
  return JSON.stringify([headers.authorization ?? clientIp, session, id]);
}
