import { settlesWithin } from '../../shared/calls/wait-timeout.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Timers } from '../../shared/timers.ts';
import type { DatabaseProblem } from './problems.ts';

/** Pause between checks, and how long a statement waits for one, ms. */
const PAUSE_MS = 2_000;
const WAIT_MS = 1_000;

/** Keeps statements from a database whose schema was not checked, because it was away at the start. */
export interface SchemaEntry {
  /** Withhold the database until a check finds no problem. */
  withhold(problem: DatabaseProblem, check: () => Promise<DatabaseProblem | null>): void;
  /** Why statements may not be sent; `null` = they may. At most one check per pause is made, and statements wait for it. */
  problem(): Promise<DatabaseProblem | null>;
}

export function createSchemaEntry(clock: Clock, timers: Timers): SchemaEntry {
  let withheld: { problem: DatabaseProblem; checkedMs: number; readonly check: () => Promise<DatabaseProblem | null> };
  let isOpen = true;
  let checking: Promise<void> | undefined;
  return {
    withhold(problem, check) {
      withheld = { problem, checkedMs: clock.now(), check };
      isOpen = false;
    },
    async problem() {
      if (isOpen) return null;
      const sinceMs = clock.now() - withheld.checkedMs;
      if (checking === undefined && sinceMs >= 0 && sinceMs < PAUSE_MS) return withheld.problem;
      checking ??= withheld.check().then((found) => {
        isOpen = found === null;
        withheld = { ...withheld, problem: found ?? withheld.problem, checkedMs: clock.now() };
        checking = undefined;
      });
      await settlesWithin(checking, WAIT_MS, timers);
      return isOpen ? null : withheld.problem;
    },
  };
}
