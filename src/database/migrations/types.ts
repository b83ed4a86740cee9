import type { RawBuilder } from 'kysely';

/** One forward step. A released one must not be edited: add another. */
export interface Migration {
  /** Four digits and words; names sort in the order of application. */
  readonly name: string;
  readonly up: readonly RawBuilder<unknown>[];
}
