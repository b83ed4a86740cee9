import type { Timers } from '../../src/shared/timers.ts';

/** Timeouts of requests to upstreams, independent of the load of the machine. */
export interface WaitTimeouts {
  readonly timeouts: Timers;
  /** Time out soon for a provider or node with this fault, which never answers. */
  endFor(kind: string): void;
  /** Wait for every answer, as at the start. */
  restore(): void;
}

const NEVER_ANSWERS: ReadonlySet<string> = new Set(['hang', 'slowDrip']);
const LONG_MS = 60_000;
/** This many turns of the event loop without an answer count as silence: load makes turns longer, not fewer. */
const SILENT_TURNS = 30;
const TURN_MS = 10;

interface Wait {
  ended: boolean;
  timer: NodeJS.Timeout | undefined;
}

export function createWaitTimeouts(): WaitTimeouts {
  let isShort = false;
  /** Answered requests. */
  let answers = 0;
  const until = (callback: () => void, wait: Wait, observed: number, left: number): void => {
    wait.timer = setTimeout(() => {
      if (wait.ended) return;
      // Another request was answered meanwhile, so not all are silent.
      if (answers !== observed) return until(callback, wait, answers, SILENT_TURNS);
      if (left > 0) return until(callback, wait, observed, left - 1);
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
