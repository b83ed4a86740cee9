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
   * @param around the object around it, as the operation answered it
   * @param namesOf names in the body of the fields of that object
   * @returns `undefined` = absent
   */
  readonly convert: (value: unknown, around: Readonly<Record<string, unknown>>, namesOf: NamesOf) => unknown;
  /** Whether null is converted too. */
  readonly takesNull?: boolean;
  /** Whether the result may be absent although the value is not null. */
  readonly mayBeAbsent?: boolean;
}

export type Conversions = Readonly<Record<string, Conversion>>;
