import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Artifacts } from '../../devnet/chain/compile.ts';

/** Tells instrumented sources whether a mutant is active. One per process that runs tests. */
export interface MutantState {
  /** The active mutant; 0 = none. */
  active: number;
  /** Mutants that were reached since it was cleared. */
  readonly hits: Set<number>;
  on(id: number): boolean;
  /** Count a turn of a loop. @throws Error when a mutant made it endless */
  tick(): void;
  /** Activate a mutant, or none. */
  start(id: number): void;
  /** The contracts that the active mutant of the Solidity changes, compiled. */
  compiled(): Artifacts;
}

/** Test files and compiled contracts made for this run; beside the sources, because packages are loaded in another way. */
export const WORK = process.env.MUTANTS_WORK ?? join(import.meta.dirname, '../../.mutants', String(process.pid));

/** Far more turns than any test makes. */
const MAX_TURNS = 20_000_000;

declare global {
  var __mutants: MutantState;
}

/** Create the state once per process. */
export function mutantState(): MutantState {
  let turns = 0;
  globalThis.__mutants ??= {
    active: 0,
    hits: new Set(),
    on(id) {
      this.hits.add(id);
      return id === this.active;
    },
    tick() {
      turns += 1;
      if (this.active !== 0 && turns > MAX_TURNS) throw new Error('endless');
    },
    start(id) {
      turns = 0;
      this.active = id;
    },
    compiled() {
      const file = join(WORK, `${this.active}.json`);
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Artifacts) : {};
    },
  };
  return globalThis.__mutants;
}
