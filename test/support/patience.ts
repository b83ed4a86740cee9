import type { Fault } from '../../devnet/upstreams/index.ts';
import type { Timers } from '../../src/shared/timers.ts';

/** How long requests to upstreams are waited for, by what a test knows of them and not by how busy the machine is. */
export interface Patience {
  readonly timeouts: Timers;
  /** Give up soon when a provider with this fault never answers. */
  endFor(kind: Fault['kind']): void;
  /** Wait for whatever answers, as at the start. */
  restore(): void;
}

const NEVER_ANSWERS: ReadonlySet<Fault['kind']> = new Set(['hang', 'slowDrip']);
const LONG_MS = 60_000;
const SHORT_MS = 250;

export function createPatience(): Patience {
  let patienceMs = LONG_MS;
  return {
    timeouts: {
      setTimeout: (callback) => setTimeout(callback, patienceMs),
      clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
    },
    endFor(kind) {
      if (NEVER_ANSWERS.has(kind)) patienceMs = SHORT_MS;
    },
    restore() {
      patienceMs = LONG_MS;
    },
  };
}
