import { isDeepStrictEqual } from 'node:util';
import { type DocumentNode, isNode, listIn, resolved } from './document-node.ts';

/**
 * The direction of a schema: a narrower input breaks clients, and so does a wider answer. The answers to a refused request are
 * an `error`, in which kinds of errors may be added, and those of its `details`.
 */
export type Side = 'input' | 'answer' | 'error' | 'details';

export interface Comparison {
  readonly before: DocumentNode;
  readonly after: DocumentNode;
  /** Date of the comparison, YYYY-MM-DD: a part whose sunset has passed may be removed. */
  readonly today: string;
  readonly changes: string[];
  /** Pairs of named schemas that are compared already. */
  readonly compared: Set<string>;
}

/** Compare types, values, ranges and every keyword that is compared nowhere else. */
export function compareValues(
  comparison: Comparison,
  side: Side,
  before: DocumentNode,
  after: DocumentNode,
  change: (what: string) => void,
): void {
  const isInput = side === 'input';
  const [types, typesNext] = [typesOf(comparison.before, before), typesOf(comparison.after, after)];
  // The narrower one has to allow no more than the other.
  const [wide, narrow] = isInput ? [typesNext, types] : [types, typesNext];
  const extra = [...narrow].filter((type) => !wide.has(type) && !(type === 'integer' && wide.has('number')));
  if (wide.size > 0 && (extra.length > 0 || narrow.size === 0)) {
    change(`type ${[...types].join(' or ') || 'any'} became ${[...typesNext].join(' or ') || 'any'}`);
  }
  const [values, valuesNext] = [valuesOf(before), valuesOf(after)];
  if (values && valuesNext) {
    for (const value of values) if (!valuesNext.has(value)) change(`value ${value} removed`);
  } else if (isInput ? valuesNext && !values : values && !valuesNext) {
    change(isInput ? 'limited to certain values' : 'no longer limited to certain values');
  }
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)].filter(isFurther))) {
    if (keyword === 'format' && isOfBounds(before, after.format)) continue;
    const [known, found] = [before[keyword], after[keyword]];
    if ((isInput ? found : known) !== undefined && !isSame(meaningOf(known), meaningOf(found))) {
      change(`${keyword} ${textOf(known)} became ${textOf(found)}`);
    }
  }
  compareBounds(side, before, after, change);
  const [step, nextStep] = [before.multipleOf, after.multipleOf];
  if (isInput ? !isMultiple(step, nextStep) : !isMultiple(nextStep, step)) {
    change(`multipleOf ${step} became ${nextStep}`);
  }
  // Requests that leave it out mean something else then, also where there was none.
  if (isInput && !isSame(before.default, after.default)) {
    change(`default ${JSON.stringify(before.default)} became ${JSON.stringify(after.default)}`);
  }
  if (before.discriminator !== undefined && !isSame(before.discriminator, after.discriminator)) {
    change('discriminator changed');
  }
}

/** Compare ranges. A bound that is not included any more is narrower than the same bound. */
function compareBounds(side: Side, before: DocumentNode, after: DocumentNode, change: (what: string) => void): void {
  for (const [names, isLower] of BOUNDS) {
    const [bound, next] = [boundOf(before, names, isLower), boundOf(after, names, isLower)];
    const isHigher = next > bound;
    if (next !== bound && (isHigher === isLower) === (side === 'input')) {
      change(`${names[0]} ${bound} became ${next}`);
    }
    const [isExclusive, isNextExclusive] = [before[names[1] ?? ''] === bound, after[names[1] ?? ''] === next];
    if (next === bound && isExclusive !== isNextExclusive && isNextExclusive === (side === 'input')) {
      change(`${names[0]} ${bound} became ${isNextExclusive ? 'exclusive' : 'inclusive'}`);
    }
  }
}

/** Whether every multiple of `step` is one of `of`; absent = any number. */
function isMultiple(step: unknown, of: unknown): boolean {
  if (of === undefined) return true;
  return typeof step === 'number' && typeof of === 'number' && Number.isInteger(step / of);
}

/** Whether two parts are equal; the order of names says nothing. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}

/** Whether the width of an integer tells no more than its bounds. */
function isOfBounds(schema: DocumentNode, format: unknown): boolean {
  const [low, high] = schema.enum
    ? [Math.min(...(schema.enum as number[])), Math.max(...(schema.enum as number[]))]
    : [boundOf(schema, BOUNDS[0]?.[0] ?? [], true), boundOf(schema, BOUNDS[1]?.[0] ?? [], false)];
  return schema.format === undefined && format === 'int32' && low >= -(2 ** 31) && high < 2 ** 31;
}

/** Keywords of bounds, and whether they are lower ones. */
const BOUNDS: readonly (readonly [readonly string[], boolean])[] = [
  [['minimum', 'exclusiveMinimum'], true],
  [['maximum', 'exclusiveMaximum'], false],
  [['minLength'], true],
  [['maxLength'], false],
  [['minItems'], true],
  [['maxItems'], false],
  [['minProperties'], true],
  [['maxProperties'], false],
];

function boundOf(schema: DocumentNode, names: readonly string[], isLower: boolean): number {
  const bounds = names.map((name) => schema[name]).filter((bound) => typeof bound === 'number');
  const none = isLower ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return isLower ? Math.max(none, ...bounds) : Math.min(none, ...bounds);
}

/** Keywords that allow or refuse nothing. */
const ANNOTATIONS = ['description', 'title', 'example', 'examples', 'deprecated', 'externalDocs', '$comment', '$defs'];
/** Keywords with a comparison of their own. */
const COMPARED = new Set([
  ...['$ref', 'type', 'const', 'enum', 'multipleOf', 'default', 'discriminator', 'oneOf', 'anyOf', 'allOf'],
  ...['properties', 'required', 'additionalProperties', 'items', 'prefixItems', 'propertyNames'],
  ...BOUNDS.flatMap(([names]) => names),
]);

const isAnnotation = (keyword: string) => ANNOTATIONS.includes(keyword) || keyword.startsWith('x-');
const isFurther = (keyword: string) => !isAnnotation(keyword) && !COMPARED.has(keyword);

/** A part of a schema without its annotations. */
export function meaningOf(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(meaningOf);
  if (!isNode(part)) return part;
  const entries = Object.entries(part).filter(([name]) => !isAnnotation(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, meaningOf(value)]));
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The types that a schema allows, those of its forms included; empty = any. */
export function typesOf(
  document: DocumentNode,
  schema: DocumentNode,
  above: readonly unknown[] = [],
): ReadonlySet<string> {
  const { $ref } = schema;
  if ($ref !== undefined) {
    return above.includes($ref) ? new Set() : typesOf(document, resolved(document, schema), [...above, $ref]);
  }
  const own = [schema.type].flat().filter((type) => typeof type === 'string');
  if (own.length > 0) return new Set(own);
  const ofForms = (['oneOf', 'anyOf'] as const).map((kind) => {
    const types = listIn(schema, kind).map((form) => typesOf(document, form, above));
    return types.some(({ size }) => size === 0) ? [] : types.flatMap((each) => [...each]);
  });
  const ofMembers = listIn(schema, 'allOf').map((member) => [...typesOf(document, member, above)]);
  const ofValues = [...(valuesOf(schema) ?? [])].map((value) => typeOf(JSON.parse(value)));
  return new Set([...ofForms, ofValues, ...ofMembers].find(({ length }) => length > 0));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function valuesOf(schema: DocumentNode): ReadonlySet<string> | undefined {
  if (schema.const !== undefined) return new Set([JSON.stringify(schema.const)]);
  return Array.isArray(schema.enum) ? new Set(schema.enum.map((value) => JSON.stringify(value))) : undefined;
}

export function namesIn({ required }: DocumentNode): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? required.map(String) : []);
}
