import type { RawBuilder } from 'kysely';

/** One step forward. Never edit one that was released: add the next. */
export interface Migration {
  /** Sorts in the order of application: four digits and words. */
  readonly name: string;
  readonly up: readonly RawBuilder<unknown>[];
}
