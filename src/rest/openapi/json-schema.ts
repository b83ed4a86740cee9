import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Collects the named schemas (`.meta({ id })`) of all conversions, for `components.schemas`. */
export interface SchemaCollector {
  /** Convert a schema; its named parts become references. */
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

export function createSchemaCollector(): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    convert(schema, io) {
      const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: tidy });
      const { $schema: _dialect, $defs = {}, ...own } = withComponentRefs(converted) as Record<string, unknown>;
      for (const [name, part] of Object.entries($defs as Record<string, JsonSchema>))
        components[name] = withoutId(part);
      const { id } = own;
      if (typeof id !== 'string') return own;
      components[id] = withoutId(own);
      return { $ref: `#/components/schemas/${id}` };
    },
  };
}

/**
 * Remove additions of the library that readers do not need: patterns of formats, and JavaScript's number bounds. Restore the
 * defaults that it drops for transformed values.
 */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Record<string, unknown> }): void {
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
  // A tuple: linters disagree on whether "prefixItems" is sufficient.
  if (Array.isArray(jsonSchema.prefixItems)) {
    Object.assign(jsonSchema, {
      items: {},
      minItems: jsonSchema.prefixItems.length,
      maxItems: jsonSchema.prefixItems.length,
    });
  }
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function withComponentRefs(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function withoutId({ id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
