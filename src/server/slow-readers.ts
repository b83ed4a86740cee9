import type { ServerResponse } from 'node:http';

export interface SlowReadersDeps {
  /** How long a reader may take nothing while there is something for it, ms. */
  readonly limitMs: number;
  readonly onCut?: () => void;
}

export interface SlowReaders {
  watch(res: ServerResponse): void;
  close(): void;
}

const SWEEPS_PER_LIMIT = 5;
const LONGEST_SWEEP_MS = 1_000;

/**
 * Cut off whoever stops reading: an answer that waits for its reader holds memory and a connection. A reader that is only
 * slow, and takes something now and then, is left alone.
 */
export function createSlowReaders({ limitMs, onCut }: SlowReadersDeps): SlowReaders {
  const watched = new Map<ServerResponse, { takenBytes: number; waitedMs: number }>();
  const everyMs = Math.min(limitMs / SWEEPS_PER_LIMIT, LONGEST_SWEEP_MS);
  const sweep = setInterval(() => {
    for (const [res, state] of watched) {
      const { socket } = res;
      if (!socket || !res.writableNeedDrain) {
        state.waitedMs = 0;
        continue;
      }
      const takenBytes = socket.bytesWritten - socket.writableLength;
      state.waitedMs = takenBytes === state.takenBytes ? state.waitedMs + everyMs : 0;
      state.takenBytes = takenBytes;
      if (state.waitedMs < limitMs) continue;
      onCut?.();
      res.destroy();
    }
  }, everyMs);
  sweep.unref();
  return {
    watch(res) {
      watched.set(res, { takenBytes: 0, waitedMs: 0 });
      res.once('close', () => watched.delete(res));
    },
    close: () => clearInterval(sweep),
  };
}
