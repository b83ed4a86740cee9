import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionPlace } from './connections.ts';

/** State of an open connection. */
export interface Connection {
  /** The newest answer, even if it has ended. */
  answer: ServerResponse | null;
  /** Answers of pipelined requests that wait for an earlier one; `null` = none did. */
  waiting: Set<ServerResponse> | null;
  takenBytes: number;
  waitedMs: number;
  readonly place: ConnectionPlace;
}

export interface SlowReadersDeps {
  readonly connections: ReadonlyMap<Socket, Connection>;
  /** How long a reader may read nothing while data waits for it, ms. */
  readonly limitMs: number;
  readonly onCut?: (() => void) | undefined;
}

export interface SlowReaders {
  close(): void;
}

const SWEEPS_PER_LIMIT = 5;
const MAX_SWEEP_MS = 1_000;

/**
 * Close the connections of callers that stop reading, because unread answers take memory. A slow reader that takes something
 * from time to time is left alone.
 */
export function createSlowReaders({ connections, limitMs, onCut }: SlowReadersDeps): SlowReaders {
  const everyMs = Math.min(limitMs / SWEEPS_PER_LIMIT, MAX_SWEEP_MS);
  const sweep = setInterval(() => {
    for (const [socket, state] of connections) {
      if (!state.answer || (socket.writableLength === 0 && !socket.writableNeedDrain)) {
        state.waitedMs = 0;
        continue;
      }
      const takenBytes = socket.bytesWritten - socket.writableLength;
      state.waitedMs = takenBytes === state.takenBytes ? state.waitedMs + everyMs : 0;
      state.takenBytes = takenBytes;
      if (state.waitedMs < limitMs) continue;
      onCut?.();
      state.answer.destroy();
    }
  }, everyMs);
  sweep.unref();
  return { close: () => clearInterval(sweep) };
}
