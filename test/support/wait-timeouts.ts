import type { Timers } from '../../src/shared/timers.ts';

/** How long requests to upstreams are waited for, by what a test knows of them and not by how busy the machine is. */
export interface WaitTimeouts {
  readonly timeouts: Timers;
  /** Give up soon when a provider, or a node, with this fault never answers. */
  endFor(kind: string): void;
  /** Wait for whatever answers, as at the start. */
  restore(): void;
}

const NEVER_ANSWERS: ReadonlySet<string> = new Set(['hang', 'slowDrip']);
const LONG_MS = 60_000;
/** So many turns of the event loop without an answer of anybody are silence: a busy machine makes turns longer, not fewer. */
const SILENT_TURNS = 30;
const TURN_MS = 10;

interface Wait {
  ended: boolean;
  timer: NodeJS.Timeout | undefined;
}

export function createWaitTimeouts(): WaitTimeouts {
  let isShort = false;
  /** Requests that were answered. */
  let answers = 0;
  const until = (callback: () => void, wait: Wait, seen: number, left: number): void => {
    wait.timer = setTimeout(() => {
      if (wait.ended) return;
      // Another was answered in the meantime: they are not all silent.
      if (answers !== seen) return until(callback, wait, answers, SILENT_TURNS);
      if (left > 0) return until(callback, wait, seen, left - 1);
      wait.ended = true;
      callback();
    }, TURN_MS);
  };
  return {
    timeouts: {
      setTimeout: (callback) => {
        const wait: Wait = { ended: false, timer: undefined };
        if (isShort) until(callback, wait, answers, SILENT_TURNS);
        else wait.timer = setTimeout(callback, LONG_MS);
        return wait;
      },
      clearTimeout: (handle) => {
        const wait = handle as Wait;
        if (!wait.ended) answers += 1;
        wait.ended = true;
        clearTimeout(wait.timer);
      },
    },
    endFor(kind) {
      if (NEVER_ANSWERS.has(kind)) isShort = true;
    },
    restore() {
      isShort = false;
    },
  };
}
