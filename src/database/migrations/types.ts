import type { RawBuilder } from 'kysely';

/**
 * One forward step. A released one must not be edited: add another. The version before has to run on the schema after, so a
 * step only adds (expand). A step that removes or changes something (contract) follows in a later release, when no version
 * that may still run uses it, and names in `requires` the migration that every such version knows.
 */
export interface Migration {
  /** Four digits and words; names sort in the order of application. */
  readonly name: string;
  readonly up: readonly RawBuilder<unknown>[];
  /** The latest migration that a version has to know to run on the schema after this step; absent: every version runs on it. */
  readonly requires?: string | undefined;
}
