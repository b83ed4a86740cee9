import type { Timers } from '../../src/shared/timers.ts';

/** How long requests to upstreams are waited for, by what a test knows of them and not by how busy the machine is. */
export interface Patience {
  readonly timeouts: Timers;
  /** Give up soon: what is asked now never answers. */
  end(): void;
  /** Wait for whatever answers, as at the start. */
  restore(): void;
}

const LONG_MS = 60_000;
const SHORT_MS = 250;

export function createPatience(): Patience {
  let patienceMs = LONG_MS;
  return {
    timeouts: {
      setTimeout: (callback) => setTimeout(callback, patienceMs),
      clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
    },
    end() {
      patienceMs = SHORT_MS;
    },
    restore() {
      patienceMs = LONG_MS;
    },
  };
}
