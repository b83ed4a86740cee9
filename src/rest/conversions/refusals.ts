import type { Conversions } from '../derive/conversion.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';

const same = (of: JsonSchema): JsonSchema => of;

/** Details of refusals in the forms of the error envelope, whose schemas are in `schemas/errors.ts`. */
export const refusalConversions = {
  /** Seconds; 0 when the age itself is unknown. */
  orZero: { schema: same, takesNull: true, convert: (seconds) => seconds ?? 0 },
  /** The place of a field of the body. */
  inBody: { schema: same, convert: (field) => `body.${field}` },
  /** Values by their names. */
  byName: {
    schema: same,
    convert: (list) =>
      Object.fromEntries(
        (list as readonly { readonly name: string; readonly value: unknown }[]).map(({ name, value }) => [name, value]),
      ),
  },
  /** The failed source of a plan that could not be simulated. */
  notSimulated: { schema: same, convert: () => ({ provider: 'chain', reason: 'not_simulated' }) },
} as const satisfies Conversions;
