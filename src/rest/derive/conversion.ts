import type { JsonSchema, Refer } from '../openapi/json-schema.ts';

/** The names in a body of the fields of an object, by their paths in the graph. A field may stand twice. */
export type NamesOf = (path: string) => readonly string[];

/** A value of a body in another form than that of the graph: a small function with its schema, used by name (`@via`). */
export interface Conversion {
  /** Schema of the converted value, from that of the value in the body. */
  readonly schema: (of: JsonSchema, refer: Refer) => JsonSchema;
  /**
   * Convert.
   * @param value as the body would have it, marks below applied; never null, unless `takesNull`
   * @returns `undefined` = absent
   */
  readonly convert: (value: unknown, at: Place) => unknown;
  /** What the description of the field says of the converted value beside, a sentence: its unit. */
  readonly says?: string | ((of: JsonSchema) => string);
  /** Whether null is converted too. */
  readonly takesNull?: boolean;
  /** Whether the result may be absent although the value is not null. */
  readonly mayBeAbsent?: boolean;
}

/** Where a value is converted. */
export interface Place {
  /** The value as the operation answered it. */
  readonly raw: unknown;
  readonly namesOf: NamesOf;
}

export type Conversions = Readonly<Record<string, Conversion>>;

/** What rows have beside their operations. */
export interface Vocabulary {
  readonly conversions: Conversions;
  /** Throw the error of an object of a union, if it is a refusal. */
  readonly refuse: (answer: unknown) => void;
}
