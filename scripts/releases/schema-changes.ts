import { type DocumentNode, entriesIn, isNode, listIn, nameOf, nodeIn, resolved } from './document-node.ts';
import { isOpenFor, matchedForms } from './schema-forms.ts';
import { type Comparison, compareValues, namesIn, type Side, typesOf } from './schema-values.ts';

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
  if (isOneOfForms(comparison, side, before, after)) return;
  compareValues(comparison, side, before, after, change);
  compareForms(comparison, side, place, before, after);
  compareMembers(comparison, side, place, before, after);
  compareFields(comparison, side, place, before, after);
  compareItems(comparison, side, place, before, after);
}

/** Whether one of the two schemas has forms, and the other one is within them. */
function isOneOfForms(comparison: Comparison, side: Side, before: DocumentNode, after: DocumentNode): boolean {
  const [forms, formsNext] = [formsOf(before), formsOf(after)];
  const isWithin = (one: DocumentNode, other: DocumentNode) => {
    const changes: string[] = [];
    compareSchemas({ ...comparison, changes, compared: new Set() }, side, '', one, other);
    return changes.length === 0;
  };
  if (forms.length === 0 && formsNext.length > 0) {
    const { oneOf, anyOf, ...own } = after;
    const fits = (form: DocumentNode) => isWithin(before, { ...own, ...form });
    return side === 'input' ? formsNext.some(fits) : formsNext.every(fits);
  }
  if (forms.length === 0 || formsNext.length > 0) return false;
  const { oneOf, anyOf, ...own } = before;
  const fits = (form: DocumentNode) => isWithin({ ...own, ...form }, after);
  return side === 'input' ? forms.every(fits) : forms.some(fits);
}

function compareForms(
  comparison: Comparison,
  side: Side,
  place: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  const change = (what: string) => comparison.changes.push(`${place}: ${what}`);
  const [kinds, kindsNext] = [before, after].map((schema) => FORMS.filter((kind) => Array.isArray(schema[kind])));
  const [kind, kindNext] = [kinds?.[0], kindsNext?.[0]];
  const [hasForms, hasFormsNext] = [formsOf(before).length > 0, formsOf(after).length > 0];
  if (hasForms && !hasFormsNext) change(side === 'input' ? 'forms removed' : 'no longer limited to certain forms');
  const isLimited = FORMS.some((each) => listIn(after, each).length > 0 && listIn(before, each).length === 0);
  const isSwitched = kinds?.length === 1 && kindsNext?.length === 1 && kind !== kindNext;
  if (isSwitched && side === 'input' && kindNext === 'oneOf') change('anyOf became oneOf');
  if (isLimited && !isSwitched && side === 'input') change('limited to certain forms');
  if (!hasForms && hasFormsNext && side === 'answer') change('of several forms');
  const lists = isSwitched
    ? [[formsOf(before), formsOf(after)] as const]
    : FORMS.map((each) => [listIn(before, each), listIn(after, each)] as const);
  for (const [forms, formsNext] of lists) {
    if (forms.length === 0 || formsNext.length === 0) continue;
    for (const [form, next] of matchedForms(comparison, forms, formsNext)) {
      if (form !== undefined && next !== undefined) compareSchemas(comparison, side, place, form, next);
      else if (form !== undefined && side === 'input') change(`form ${form.$ref ?? forms.indexOf(form)} removed`);
      else if (next !== undefined && side !== 'input' && !isOpenFor(comparison, side, forms, next)) {
        change(`form ${nameOf(next) ?? formsNext.indexOf(next)} added`);
      }
    }
  }
}

/** Compare the members of `allOf`. One that is missing in a version allows everything there. */
function compareMembers(
  comparison: Comparison,
  side: Side,
  place: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  for (const [member, next] of matchedForms(comparison, listIn(before, 'allOf'), listIn(after, 'allOf'))) {
    if (member === undefined ? side === 'input' : true)
      compareSchemas(comparison, side, place, member ?? {}, next ?? {});
  }
}

function compareItems(
  comparison: Comparison,
  side: Side,
  place: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  const change = (what: string) => comparison.changes.push(`${place}: ${what}`);
  const [first, firstNext] = [listIn(before, 'prefixItems'), listIn(after, 'prefixItems')];
  for (let i = 0; i < Math.max(first.length, firstNext.length); i += 1) {
    // Items without a schema of their own have that of all others.
    compareSchemas(
      comparison,
      side,
      `${place}[${i}]`,
      first[i] ?? nodeIn(before, 'items'),
      firstNext[i] ?? nodeIn(after, 'items'),
    );
  }
  for (const part of ['items', 'additionalProperties', 'propertyNames'] as const) {
    const [one, other] = [before[part], after[part]];
    if (isNode(one) && isNode(other)) compareSchemas(comparison, side, `${place}[]`, one, other);
    else if (side !== 'input' && (isNode(one) || (part === 'items' && one === false && one !== other))) {
      change(`${part} may be anything`);
    } else if (side === 'input' && (isNode(other) || (part === 'items' && other === false && one !== other))) {
      change(`${part} limited`);
    }
  }
  const isClosed = before.additionalProperties !== false && after.additionalProperties === false;
  if (side === 'input' && isClosed && typesOf(comparison.before, before).has('object'))
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
    if (side !== 'input' && required.has(name) && !requiredNext.has(name)) {
      changes.push(`${place}.${name}: may be absent`);
    }
    compareSchemas(comparison, sideOfField(side, name), `${place}.${name}`, field, found);
  }
  if (side !== 'input') return;
  for (const name of requiredNext) if (!required.has(name)) changes.push(`${place}.${name}: new required input`);
}

/** The body of an error is `{ error: { …, details } }`. */
function sideOfField(side: Side, name: string): Side {
  if (side === 'input') return 'input';
  if (side === 'error' && name === 'error') return 'error';
  return side === 'error' && name === 'details' ? 'details' : 'answer';
}

const FORMS = ['oneOf', 'anyOf'] as const;

function formsOf(schema: DocumentNode): readonly DocumentNode[] {
  return FORMS.flatMap((kind) => listIn(schema, kind));
}

/** Whether a part was deprecated and its sunset has passed. */
export function isOver({ today }: Comparison, part: DocumentNode): boolean {
  const { sunset } = nodeIn(part, 'x-deprecation');
  return typeof sunset === 'string' && sunset <= today;
}
