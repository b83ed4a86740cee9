import { z } from 'zod';
import type { Deprecation } from '../../shared/contract/deprecation.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Makes a reference to a named schema; `make` is called for the first one of a name. */
export interface Refer {
  /** @param make absent: another row makes it */
  (name: string, make?: () => JsonSchema): JsonSchema;
  /** The named schema behind a reference, for one that extends it. */
  definition(reference: JsonSchema): JsonSchema;
}

/** The schema of the answers of a row, derived from its operation. */
export interface AnswerSchema {
  derive(refer: Refer): JsonSchema;
  /** The deprecations of its fields. */
  deprecations(): readonly Deprecation[];
}

/** Collects the named schemas (`.meta({ id })`) of all conversions, for `components.schemas`. */
export interface SchemaCollector {
  /** Convert a schema; its named parts become references. */
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** The schema of an answer; its named parts become references. */
  answer(schema: AnswerSchema): JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

export function createSchemaCollector(): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  const making = new Set<string>();
  const add = (name: string, schema: JsonSchema): JsonSchema => {
    const named = nameNested(name, schema, add);
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(named)) {
      throw new Error(`Two schemas have the name ${name}: give one of them an id of its own.`);
    }
    components[name] = named;
    return { $ref: `#/components/schemas/${name}` };
  };
  const makeNamed = (name: string, make?: () => JsonSchema): JsonSchema => {
    if (make !== undefined && !making.has(name)) {
      making.add(name);
      add(name, make());
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const nameOf = ({ $ref }: JsonSchema) => String($ref).slice('#/components/schemas/'.length);
  const refer: Refer = Object.assign(makeNamed, {
    definition: (reference: JsonSchema) => components[nameOf(reference)] ?? {},
  });
  return {
    components,
    answer(schema) {
      return schema.derive(refer);
    },
    convert(schema, io) {
      const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: io === 'input' ? tidy : open });
      const { $schema: _dialect, $defs = {}, ...own } = withComponentRefs(converted) as Record<string, unknown>;
      for (const [name, part] of Object.entries($defs as Record<string, JsonSchema>)) add(name, withoutId(part));
      const { id } = own;
      return typeof id === 'string' ? add(id, withoutId(own)) : own;
    },
  };
}

/** Type the text of a documented parameter: a number where its schema takes one. */
export function typedText(text: string, { type, anyOf = [] }: JsonSchema): string | number {
  const types = [type, ...(anyOf as readonly JsonSchema[]).map((form) => form.type)];
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The schema of an answer as one document: its named parts are under `$defs`. */
export function selfContainedAnswer(schema: AnswerSchema): JsonSchema {
  const $defs: Record<string, JsonSchema> = {};
  const makeNamed = (name: string, make?: () => JsonSchema): JsonSchema => {
    if (make !== undefined && !Object.hasOwn($defs, name)) {
      $defs[name] = {};
      $defs[name] = make();
    }
    return { $ref: `#/$defs/${name}` };
  };
  const definition = ({ $ref }: JsonSchema) => $defs[String($ref).slice('#/$defs/'.length)] ?? {};
  const { $ref, ...own } = schema.derive(Object.assign(makeNamed, { definition }));
  if (typeof $ref !== 'string') return { ...own, $defs };
  const { [$ref.slice('#/$defs/'.length)]: root, ...parts } = $defs;
  return { ...root, ...own, $defs: parts };
}

/** Convert a part of a derived answer that has a schema of its own. */
export function partOfAnswer(schema: z.ZodType, refer: Refer): JsonSchema {
  const converted = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any', override: open });
  const { $schema: _dialect, $defs = {}, ...own } = converted as Record<string, unknown>;
  const parts = $defs as Readonly<Record<string, JsonSchema>>;
  const referred = (value: JsonSchema): JsonSchema =>
    JSON.parse(
      JSON.stringify(value, (_key, node: unknown) => {
        const { $ref, ...rest } = (typeof node === 'object' && node !== null ? node : {}) as JsonSchema;
        if (typeof $ref !== 'string' || !$ref.startsWith('#/$defs/')) return node;
        const name = $ref.slice('#/$defs/'.length);
        return { ...refer(name, () => referred(withoutId(parts[name] ?? {}))), ...rest };
      }),
    );
  const { id } = own;
  return typeof id === 'string' ? refer(id, () => referred(withoutId(own))) : referred(own);
}

/** Convert a schema to one document: its named parts are under `$defs`. */
export function selfContainedSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const override = io === 'input' ? tidy : open;
  const converted = withoutIds(z.toJSONSchema(schema, { io, unrepresentable: 'any', override }));
  const { $schema: _dialect, $ref, $defs = {}, ...own } = converted as Record<string, unknown>;
  if (typeof $ref !== 'string') return { ...own, $defs };
  const { [$ref.slice('#/$defs/'.length)]: root, ...parts } = $defs as Record<string, JsonSchema>;
  return { ...root, ...own, $defs: parts };
}

/** Validators refuse the names of parts as identifiers. A property of this name has a schema, not a text. */
function withoutIds(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === 'id' && typeof value === 'string' ? undefined : value)),
  );
}

/**
 * Replace the records inside a named schema by references to schemas that are named after their place, e.g.
 * `StrategyCollateral`: generated clients then have a type for each of them.
 */
function nameNested(
  name: string,
  schema: JsonSchema,
  add: (name: string, schema: JsonSchema) => JsonSchema,
): JsonSchema {
  const visit = (place: string, nested: JsonSchema): JsonSchema => {
    if (nested.type === 'object' && nested.properties !== undefined) {
      const { description } = nested;
      return { ...add(place, nested), ...withoutUndefined({ description }) };
    }
    return inside(place, nested);
  };
  const inside = (
    place: string,
    { properties, items, additionalProperties, anyOf, oneOf, ...rest }: Parts,
  ): JsonSchema => ({
    ...rest,
    ...mapped({ anyOf, oneOf }, (options) => options.map((option) => visit(place, option))),
    ...mapped({ items, additionalProperties }, (part) => (isSchema(part) ? visit(singular(place), part) : part)),
    ...mapped({ properties }, (fields) =>
      Object.fromEntries(
        Object.entries(fields).map(([field, part]) => [field, visit(`${name}${capital(field)}`, part)]),
      ),
    ),
  });
  return inside(name, schema);
}

/** The parts of a schema that contain further schemas. */
type Parts = JsonSchema & {
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly items?: JsonSchema | undefined;
  readonly additionalProperties?: JsonSchema | boolean | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly oneOf?: readonly JsonSchema[] | undefined;
};

function mapped<T>(parts: Readonly<Record<string, T | undefined>>, map: (part: T) => unknown): JsonSchema {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([key, part]) => (part === undefined ? [] : [[key, map(part)]])),
  );
}

function isSchema(part: unknown): part is JsonSchema {
  return typeof part === 'object' && part !== null;
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function singular(words: string): string {
  return words.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
}

/** Answers are open: a version of the interface may add fields to them. */
function open(context: Parameters<typeof tidy>[0]): void {
  if (context.jsonSchema.additionalProperties === false) delete context.jsonSchema.additionalProperties;
  tidy(context);
}

/**
 * Remove additions of the library that readers do not need: patterns of formats, and JavaScript's number bounds. Restore the
 * defaults that it drops for transformed values. Generators need the width of integers.
 */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Record<string, unknown> }): void {
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern;
  if (jsonSchema.type === 'integer') jsonSchema.format ??= 'int32';
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function withComponentRefs(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function withoutId({ id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
