import type { Timers } from '../../src/shared/timers.ts';

/** Timers that fire by themselves, and at once when they are due after a move of the clock. */
export interface DueTimers extends Timers {
  /** Fire the timers that are due by the clock. */
  runDue(): void;
  /** Time until each of them is due, ms. */
  pendingMs(): readonly number[];
}

interface Pending {
  readonly handle: NodeJS.Timeout;
  readonly dueAtMs: number;
  readonly fire: () => void;
}

export function createDueTimers(now: () => number): DueTimers {
  const pending = new Set<Pending>();
  return {
    setTimeout(callback, ms) {
      const fire = () => {
        pending.delete(one);
        clearTimeout(one.handle);
        callback();
      };
      const one: Pending = { handle: setTimeout(() => fire(), ms), dueAtMs: now() + ms, fire };
      pending.add(one);
      return one;
    },
    clearTimeout(handle) {
      const one = handle as Pending | null;
      if (one === null) return;
      clearTimeout(one.handle);
      pending.delete(one);
    },
    pendingMs: () => [...pending].map(({ dueAtMs }) => dueAtMs - now()),
    runDue() {
      for (const one of [...pending]) if (one.dueAtMs <= now()) one.fire();
    },
  };
}
