import type { ServerResponse } from 'node:http';
import type { CountedClient } from '../limits/clients.ts';
import { createSlots } from '../limits/slots.ts';
import { AppError } from '../shared/errors.ts';

/** Unread answers take the allowed memory: new large ones are refused until some were read. */
export class UnreadAnswersError extends AppError<{ readonly waitingFor: readonly string[] }> {
  constructor() {
    super('not_ready', 'Too many bytes of earlier answers are unread. Read them, then send the request again.', {
      details: { waitingFor: ['earlier answers to be read'] },
      retryAfterSec: 2,
    });
  }
}

export interface UnreadOptions {
  /** Bytes of the process, shared by the tiers. */
  readonly processBytes: number;
  /** Bytes of one key or address. */
  readonly addressBytes: number;
}

/** Counts the bytes that were written and not taken yet, of each tier and of each client. */
export interface UnreadAnswers {
  /** Whether an answer of this size must not be written to this client now. Small ones always may. */
  refuses(client: CountedClient, bytes: number): boolean;
  /** Count the unsent bytes of an answer, until its connection has taken or dropped them. */
  note(res: ServerResponse, client: CountedClient): void;
  readonly bytes: number;
}

/** Smaller answers are always written, because a refusal would be as large. */
const LARGE_BYTES = 16 * 1024;

export function createUnread({ processBytes, addressBytes }: UnreadOptions): UnreadAnswers {
  const slots = createSlots({ max: processBytes, perClient: () => addressBytes });
  return {
    refuses: (client, bytes) => bytes > LARGE_BYTES && slots.reached(client) !== undefined,
    note(res, client) {
      const bytes = res.writableLength;
      if (bytes === 0 || res.destroyed) return;
      res.once('close', slots.hold(client, bytes));
    },
    get bytes() {
      return slots.count;
    },
  };
}
