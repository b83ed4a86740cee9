/** Bytes of answers that are being received, bounded over all requests of a process. */
export interface ByteBudget {
  /** Take some bytes; false = the budget is too small, and is unchanged. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  readonly used: number;
}

/** Create a budget of bytes. */
export function createByteBudget(maxBytes: number): ByteBudget {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > maxBytes) return false;
      used += bytes;
      return true;
    },
    give(bytes) {
      used -= bytes;
    },
    get used() {
      return used;
    },
  };
}

/** Thrown by `readBounded`. */
export class BodyTooLargeError extends Error {
  /** `answer` = larger than its own limit; `budget` = all answers together are too large. */
  readonly exceeded: 'answer' | 'budget';

  constructor(exceeded: 'answer' | 'budget') {
    super(`The body exceeds its ${exceeded === 'answer' ? 'maximum size' : 'share of memory'}.`);
    this.name = 'BodyTooLargeError';
    this.exceeded = exceeded;
  }
}

/**
 * Read a body as text. Its bytes count against the budget until they are read completely; a body that becomes too large is
 * cancelled, so that no more of it is received.
 * @throws BodyTooLargeError, and any error of the connection
 */
export async function readBounded(response: Response, maxBytes: number, budget: ByteBudget): Promise<string> {
  const { body } = response;
  if (body === null) return '';
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  const refuse = async (exceeded: 'answer' | 'budget') => {
    await reader.cancel().catch(() => {});
    return new BodyTooLargeError(exceeded);
  };
  try {
    // The length is of the compressed body, which may be the smaller one.
    if (Number(response.headers.get('content-length') ?? 0) > maxBytes) throw await refuse('answer');
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(pieces).toString('utf8');
      if (size + value.byteLength > maxBytes) throw await refuse('answer');
      if (!budget.take(value.byteLength)) throw await refuse('budget');
      size += value.byteLength;
      pieces.push(value);
    }
  } finally {
    budget.give(size);
  }
}
