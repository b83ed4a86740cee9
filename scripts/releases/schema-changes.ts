import { type DocumentNode, entriesIn, isNode, listIn, nameOf, nodeIn, resolved } from './document-node.ts';

/** The direction of a schema: a narrower input breaks clients, and so does a wider answer. */
export type Side = 'input' | 'answer';

export interface Comparison {
  readonly before: DocumentNode;
  readonly after: DocumentNode;
  /** Date of the comparison, YYYY-MM-DD: a part whose sunset has passed may be removed. */
  readonly today: string;
  readonly changes: string[];
  /** Pairs of named schemas that are compared already. */
  readonly compared: Set<string>;
}

/** Compare two schemas and their parts. */
export function compareSchemas(
  comparison: Comparison,
  side: Side,
  place: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  if (before.$ref !== undefined || after.$ref !== undefined) {
    const pair = `${side} ${before.$ref} ${after.$ref}`;
    const isNamed = before.$ref !== undefined && after.$ref !== undefined;
    if (isNamed && comparison.compared.has(pair)) return;
    if (isNamed) comparison.compared.add(pair);
    const [name, next] = [nameOf(before), nameOf(after)];
    if (name !== next) comparison.changes.push(`${place}: schema ${name ?? 'none'} became ${next ?? 'none'}`);
    const named = isNamed && name !== undefined ? name : place;
    compareSchemas(comparison, side, named, resolved(comparison.before, before), resolved(comparison.after, after));
    return;
  }
  const change = (what: string) => comparison.changes.push(`${place}: ${what}`);
  compareValues(side, before, after, change);
  const formsBefore = formsOf(before);
  const formsAfter = formsOf(after);
  if (formsBefore.length > 0 && formsAfter.length > 0) {
    for (const [i, form] of formsBefore.entries()) {
      const found = form.$ref === undefined ? formsAfter[i] : formsAfter.find(({ $ref }) => $ref === form.$ref);
      if (found !== undefined) compareSchemas(comparison, side, place, form, found);
      else if (side === 'input') change(`form ${form.$ref ?? i} removed`);
    }
    for (const form of side === 'answer' ? addedForms(comparison, formsBefore, formsAfter) : []) {
      change(`form ${form} added`);
    }
  }
  compareFields(comparison, side, place, before, after);
  for (const part of ['items', 'additionalProperties'] as const) {
    const [one, other] = [before[part], after[part]];
    if (isNode(one) && isNode(other)) compareSchemas(comparison, side, `${place}[]`, one, other);
    else if (side === 'answer' && isNode(one)) change(`${part} may be anything`);
    else if (side === 'input' && isNode(other)) change(`${part} limited`);
  }
  if (
    side === 'input' &&
    before.additionalProperties !== false &&
    after.additionalProperties === false &&
    isObject(before)
  )
    change('no further fields allowed');
}

function compareFields(
  comparison: Comparison,
  side: Side,
  place: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  const { changes } = comparison;
  const [fields, next] = [nodeIn(before, 'properties'), nodeIn(after, 'properties')];
  const [required, requiredNext] = [namesIn(before), namesIn(after)];
  for (const [name, field] of entriesIn(fields)) {
    const found = next[name];
    if (!isNode(found)) {
      if (!isOver(comparison, field)) changes.push(`${place}.${name}: removed`);
      continue;
    }
    if (side === 'answer' && required.has(name) && !requiredNext.has(name)) {
      changes.push(`${place}.${name}: may be absent`);
    }
    compareSchemas(comparison, side, `${place}.${name}`, field, found);
  }
  if (side === 'answer') return;
  for (const name of requiredNext) if (!required.has(name)) changes.push(`${place}.${name}: new required input`);
}

/** Compare types, values and ranges. */
function compareValues(side: Side, before: DocumentNode, after: DocumentNode, change: (what: string) => void): void {
  const [types, typesNext] = [typesOf(before), typesOf(after)];
  // The narrower one has to allow no more than the other.
  const [wide, narrow] = side === 'answer' ? [types, typesNext] : [typesNext, types];
  const extra = [...narrow].filter((type) => !wide.has(type) && !(type === 'integer' && wide.has('number')));
  if (wide.size > 0 && (extra.length > 0 || narrow.size === 0)) {
    change(`type ${[...types].join(' or ') || 'any'} became ${[...typesNext].join(' or ') || 'any'}`);
  }
  const [values, valuesNext] = [valuesOf(before), valuesOf(after)];
  if (values && valuesNext) {
    for (const value of values) if (!valuesNext.has(value)) change(`value ${value} removed`);
  } else if (side === 'input' ? valuesNext && !values : values && !valuesNext) {
    change(side === 'input' ? 'limited to certain values' : 'no longer limited to certain values');
  }
  for (const keyword of ['pattern', 'format'] as const) {
    if (keyword === 'format' && isOfBounds(before, after.format)) continue;
    if (before[keyword] !== after[keyword] && (side === 'input' ? after[keyword] : before[keyword]) !== undefined) {
      change(`${keyword} ${before[keyword]} became ${after[keyword]}`);
    }
  }
  compareBounds(side, before, after, change);
  const [step, nextStep] = [before.multipleOf, after.multipleOf];
  if (side === 'input' ? !isMultiple(step, nextStep) : !isMultiple(nextStep, step)) {
    change(`multipleOf ${step} became ${nextStep}`);
  }
  if (side === 'input' && before.default !== undefined && !isSame(before.default, after.default)) {
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

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
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

/** The types that a schema allows, those of its forms included; empty = any. */
function typesOf(schema: DocumentNode): ReadonlySet<string> {
  const own = [schema.type].flat().filter((type) => typeof type === 'string');
  const forms = formsOf(schema);
  if (own.length > 0 || forms.some(({ $ref }) => $ref !== undefined)) {
    const isNullable = forms.some(({ type }) => type === 'null');
    return new Set(own.length > 0 ? own : ['object', ...(isNullable ? ['null'] : [])]);
  }
  return new Set(forms.flatMap((form) => [...typesOf(form)]));
}

function valuesOf(schema: DocumentNode): ReadonlySet<string> | undefined {
  if (schema.const !== undefined) return new Set([JSON.stringify(schema.const)]);
  return Array.isArray(schema.enum) ? new Set(schema.enum.map((value) => JSON.stringify(value))) : undefined;
}

function formsOf(schema: DocumentNode): readonly DocumentNode[] {
  return [...listIn(schema, 'oneOf'), ...listIn(schema, 'anyOf')];
}

/** The objects that an answer may newly be. Kinds of errors and of their details may be added at any time. */
function addedForms(
  { after }: Comparison,
  before: readonly DocumentNode[],
  next: readonly DocumentNode[],
): readonly string[] {
  return next.flatMap((form, i) => {
    const name = nameOf(form);
    const isKnown = name === undefined ? before[i] !== undefined : before.some(({ $ref }) => $ref === form.$ref);
    if (isKnown || (name !== undefined && /(Error|Details)$/.test(name)) || !isObject(resolved(after, form))) return [];
    return [name ?? String(i)];
  });
}

/** Whether a part was deprecated and its sunset has passed. */
export function isOver({ today }: Comparison, part: DocumentNode): boolean {
  const { sunset } = nodeIn(part, 'x-deprecation');
  return typeof sunset === 'string' && sunset <= today;
}

function isObject(schema: DocumentNode): boolean {
  return schema.type === 'object';
}

function namesIn({ required }: DocumentNode): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? required.map(String) : []);
}
