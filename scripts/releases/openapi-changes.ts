/** A node of an OpenAPI document. */
export type DocumentNode = Readonly<Record<string, unknown>>;

/** The direction of a schema: a narrower input breaks clients, and so does a wider answer. */
type Side = 'input' | 'answer';

interface Comparison {
  readonly before: DocumentNode;
  readonly after: DocumentNode;
  /** Date of the comparison, YYYY-MM-DD: a part whose sunset has passed may be removed. */
  readonly today: string;
  readonly changes: string[];
  /** Pairs of named schemas that are compared already. */
  readonly compared: Set<string>;
}

/**
 * List the changes of an OpenAPI document that can break a client of the earlier one: removed operations, answer fields and
 * enum values, new required inputs, narrower inputs, and answers that may be absent, null or of another type or range.
 * Additions to answers are none: answers are open.
 */
export function breakingOpenApiChanges(before: DocumentNode, after: DocumentNode, today: string): readonly string[] {
  const comparison: Comparison = { before, after, today, changes: [], compared: new Set() };
  const pathsAfter = nodeIn(after, 'paths');
  for (const [path, methods] of entriesIn(nodeIn(before, 'paths'))) {
    for (const [method, operation] of entriesIn(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const next = nodeIn(pathsAfter, path)[method];
      if (isNode(next)) compareOperations(comparison, name, operation, next);
      else if (!isOver(comparison, operation)) comparison.changes.push(`${name}: removed`);
    }
  }
  return [...new Set(comparison.changes)].sort();
}

function compareOperations(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  if (listIn(before, 'security').length === 0 && listIn(after, 'security').length > 0)
    changes.push(`${name}: needs a key`);
  compareParameters(comparison, name, before, after);
  const [bodyBefore, bodyAfter] = [jsonOf(before.requestBody), jsonOf(after.requestBody)];
  if (bodyBefore === undefined && bodyAfter !== undefined) changes.push(`${name} body: new required input`);
  if (bodyBefore && bodyAfter) compareSchemas(comparison, 'input', `${name} body`, bodyBefore, bodyAfter);
  for (const [status, response] of entriesIn(nodeIn(before, 'responses'))) {
    const next = nodeIn(after, 'responses')[status];
    if (next === undefined && status.startsWith('2')) changes.push(`${name} ${status}: removed`);
    const [schemaBefore, schemaAfter] = [jsonOf(response), jsonOf(next)];
    if (schemaBefore && schemaAfter)
      compareSchemas(comparison, 'answer', `${name} ${status}`, schemaBefore, schemaAfter);
  }
}

function compareParameters(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const byName = (operation: DocumentNode) =>
    new Map(listIn(operation, 'parameters').map((parameter) => [`${parameter.in}.${parameter.name}`, parameter]));
  const [known, next] = [byName(before), byName(after)];
  for (const [place, parameter] of known) {
    const found = next.get(place);
    if (found === undefined) comparison.changes.push(`${name} ${place}: removed`);
    else compareSchemas(comparison, 'input', `${name} ${place}`, nodeIn(parameter, 'schema'), nodeIn(found, 'schema'));
  }
  for (const [place, { required }] of next) {
    if (required === true && known.get(place)?.required !== true) {
      comparison.changes.push(`${name} ${place}: new required input`);
    }
  }
}

function compareSchemas(
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
    const named = isNamed ? String(before.$ref).replace(/^.*\//, '') : place;
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
  }
  compareFields(comparison, side, place, before, after);
  for (const part of ['items', 'additionalProperties'] as const) {
    const [one, other] = [before[part], after[part]];
    if (isNode(one) && isNode(other)) compareSchemas(comparison, side, `${place}[]`, one, other);
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
  for (const [names, isLower] of BOUNDS) {
    const [bound, next] = [boundOf(before, names, isLower), boundOf(after, names, isLower)];
    const isHigher = next > bound;
    if (next !== bound && (isHigher === isLower) === (side === 'input')) {
      change(`${names[0]} ${bound} became ${next}`);
    }
  }
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

/** Whether a part was deprecated and its sunset has passed. */
function isOver({ today }: Comparison, part: DocumentNode): boolean {
  const { sunset } = nodeIn(part, 'x-deprecation');
  return typeof sunset === 'string' && sunset <= today;
}

function resolved(document: DocumentNode, schema: DocumentNode): DocumentNode {
  if (typeof schema.$ref !== 'string') return schema;
  const name = schema.$ref.replace(/^.*\//, '');
  return nodeIn(nodeIn(nodeIn(document, 'components'), 'schemas'), name);
}

function jsonOf(part: unknown): DocumentNode | undefined {
  if (!isNode(part)) return undefined;
  const { schema } = nodeIn(nodeIn(part, 'content'), 'application/json');
  return isNode(schema) ? schema : undefined;
}

function isNode(value: unknown): value is DocumentNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isObject(schema: DocumentNode): boolean {
  return schema.type === 'object';
}

function nodeIn(node: DocumentNode, name: string): DocumentNode {
  const part = node[name];
  return isNode(part) ? part : {};
}

function listIn(node: DocumentNode, name: string): readonly DocumentNode[] {
  const part = node[name];
  return Array.isArray(part) ? part.filter(isNode) : [];
}

function entriesIn(node: DocumentNode): readonly (readonly [string, DocumentNode])[] {
  return Object.entries(node).flatMap(([name, part]) => (isNode(part) ? [[name, part] as const] : []));
}

function namesIn({ required }: DocumentNode): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? required.map(String) : []);
}
