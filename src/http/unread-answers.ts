import type { ServerResponse } from 'node:http';
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
  readonly processBytes: number;
  readonly addressBytes: number;
}

/** Counts the bytes that were written and not taken yet, of the process and of each address. */
export interface UnreadAnswers {
  /** Whether an answer of this size must not be written to this address now. Small ones always may. */
  refuses(identity: string, bytes: number): boolean;
  /** Count the unsent bytes of an answer, until its connection has taken or dropped them. */
  note(res: ServerResponse, identity: string): void;
  readonly bytes: number;
}

/** Smaller answers are always written, because a refusal would be as large. */
const LARGE_BYTES = 16 * 1024;

export function createUnread({ processBytes, addressBytes }: UnreadOptions): UnreadAnswers {
  const byAddress = new Map<string, number>();
  let total = 0;
  const add = (identity: string, bytes: number): void => {
    total += bytes;
    const sum = (byAddress.get(identity) ?? 0) + bytes;
    if (sum > 0) byAddress.set(identity, sum);
    else byAddress.delete(identity);
  };
  return {
    refuses: (identity, bytes) =>
      bytes > LARGE_BYTES && (total >= processBytes || (byAddress.get(identity) ?? 0) >= addressBytes),
    note(res, identity) {
      const bytes = res.writableLength;
      if (bytes === 0 || res.destroyed) return;
      add(identity, bytes);
      res.once('close', () => add(identity, -bytes));
    },
    get bytes() {
      return total;
    },
  };
}
