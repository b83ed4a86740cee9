import { type GraphQLOutputType, getNamedType, getNullableType, isListType, isObjectType, isUnionType } from 'graphql';
import type { Conversion, Conversions, NamesOf, Vocabulary } from './conversion.ts';
import type { Member, Shape } from './shape.ts';

type Data = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;
type IsNone = (path: string) => boolean;

/**
 * Makes the body of an object from its data.
 * @param isNone of the object around it, for one without gaps of its own
 */
export type Project = (data: Data, isNone?: IsNone) => Body;

/** Make the function that forms the bodies of a shape. The shape is walked here, once. */
export function projectorOf(shape: Shape, vocabulary: Vocabulary): Project {
  const namesOf = namesIn(shape);
  const steps = shape.members.filter(({ isHidden }) => !isHidden).map((member) => step(member, vocabulary, namesOf));
  const hasGaps = shape.members.some(({ name }) => name === 'gaps') && asksGaps(shape);
  const isUnion = isUnionType(shape.type);
  return (data, around = NEVER) => {
    if (isUnion) vocabulary.refuse(data);
    const body: Body = {};
    const isNone = hasGaps ? noneIn(data) : around;
    for (const add of steps) add(data, body, isNone);
    return body;
  };
}

/** Whether a null of an object, or of one inside of it, stays where its gaps say that there is none. */
function asksGaps({ members }: Shape): boolean {
  return members.some(({ keepsNull, shape }) => keepsNull === 'ifNone' || (shape !== undefined && asksGaps(shape)));
}

const NEVER: IsNone = () => false;

/** Whether a gap of the object says that a field was measured as "there is none", or cannot apply. */
function noneIn({ gaps }: Data): IsNone {
  const none = new Set<string>();
  for (const { field, reason } of (gaps ?? []) as readonly { readonly field: string; readonly reason: string }[]) {
    if (reason === 'NONE' || reason === 'NOT_APPLICABLE') none.add(field);
  }
  return (path) => none.has(path);
}

type Step = (data: Data, body: Body, isNone: IsNone) => void;

function step(member: Member, vocabulary: Vocabulary, namesOf: NamesOf): Step {
  const { name, keepsNull } = member;
  const fieldNames = [...member.fieldNames];
  const conversion = conversionOf(member, vocabulary.conversions);
  const format = formatterOf(member, vocabulary);
  const put = putterOf(member);
  return (data, body, isNone) => {
    const value = data[name];
    // Not selected for the type of this object.
    if (value === undefined) return;
    if (value === null && !conversion?.takesNull) {
      if (keepsNull === 'always' || (keepsNull === 'ifNone' && fieldNames.some(isNone))) put(body, null);
      return;
    }
    const formatted = value === null ? null : format(value, isNone);
    const shown = conversion === undefined ? formatted : conversion.convert(formatted, { raw: value, namesOf });
    if (shown !== undefined) put(body, shown);
  };
}

/** @throws Error for a name that no conversion has */
export function conversionOf({ conversion }: Member, conversions: Conversions): Conversion | undefined {
  if (conversion === undefined) return undefined;
  const found = conversions[conversion];
  if (!found) throw new Error(`no conversion is named ${conversion}`);
  return found;
}

type Format = (value: unknown, isNone: IsNone) => unknown;

function formatterOf({ shape, isNumber, field }: Member, vocabulary: Vocabulary): Format {
  if (shape === undefined) return listed(field.type, isNumber ? Number : (value) => value);
  const project = projectorOf(shape, vocabulary) as (value: unknown, isNone: IsNone) => unknown;
  if (!asksGaps(shape)) return listed(field.type, (value) => project(value, NEVER));
  const path = field.name;
  return (value, isNone) =>
    Array.isArray(value)
      ? value.map((item, i) => project(item, (name) => isNone(`${path}.${i}.${name}`)))
      : project(value, (name) => isNone(`${path}.${name}`));
}

/** Format a value, or each one of a list. */
function listed(type: GraphQLOutputType, one: (value: unknown) => unknown): Format {
  const nullable = getNullableType(type);
  if (!isListType(nullable)) return one;
  const item = listed(nullable.ofType, one);
  return (value, isNone) => (value as readonly unknown[]).map((each) => (each === null ? null : item(each, isNone)));
}

function putterOf({ name, place }: Member): (body: Body, value: unknown) => void {
  if (place === undefined) {
    return (body, value) => {
      body[name] = value;
    };
  }
  if (place.length === 0) return (body, value) => void Object.assign(body, value);
  const [last = name, ...around] = [...place].reverse();
  around.reverse();
  return (body, value) => {
    let object = body;
    for (const part of around) {
      object[part] ??= {};
      object = object[part] as Body;
    }
    // A member that another one of the same name has made a place in.
    const known = object[last];
    object[last] = typeof known === 'object' && known !== null ? { ...known, ...(value as object) } : value;
  };
}

/** Name the fields of an object in its body, by their paths in the graph. */
function namesIn(shape: Shape): NamesOf {
  let names: ReadonlyMap<string, readonly string[]> | undefined;
  return (path) => {
    names ??= listNames(shape);
    return names.get(path) ?? [];
  };
}

function listNames(shape: Shape): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  const visit = ({ members }: Shape, graph: string, body: string): void => {
    for (const { field, fieldNames, name, place, shape: below, isHidden } of members) {
      if (isHidden) continue;
      const shown = [body, ...(place ?? [name])].filter(Boolean).join('.');
      for (const fieldName of fieldNames) {
        const path = dotted(graph, fieldName);
        if (place?.length !== 0) names.set(path, [...(names.get(path) ?? []), shown]);
        if (below && isObjectType(getNamedType(getNullableType(field.type)))) visit(below, path, shown);
      }
    }
  };
  visit(shape, '', '');
  return names;
}

function dotted(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
