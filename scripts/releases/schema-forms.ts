import { type DocumentNode, resolved } from './document-node.ts';
import { type Comparison, isSame, meaningOf, namesIn, type Side, typesOf, valuesOf } from './schema-values.ts';

type Pair = readonly [DocumentNode | undefined, DocumentNode | undefined];

/**
 * Match the forms of a schema with those of the other version: by name, by content, by type, and the rest in order. Pairs with
 * one part are removed or added forms.
 */
export function matchedForms(
  { before, after }: Comparison,
  forms: readonly DocumentNode[],
  formsNext: readonly DocumentNode[],
): readonly Pair[] {
  const [left, leftNext] = [[...forms], [...formsNext]];
  const pairs: Pair[] = [];
  const take = (isMatch: (one: DocumentNode, other: DocumentNode) => boolean) => {
    for (const one of [...left]) {
      const other = leftNext.find((next) => isMatch(one, next));
      if (other === undefined) continue;
      left.splice(left.indexOf(one), 1);
      leftNext.splice(leftNext.indexOf(other), 1);
      pairs.push([one, other]);
    }
  };
  const isInline = (one: DocumentNode, other: DocumentNode) => one.$ref === undefined && other.$ref === undefined;
  take((one, other) => isSame(meaningOf(one), meaningOf(other)));
  take(({ $ref }, other) => $ref !== undefined && $ref === other.$ref);
  take((one, other) => isInline(one, other) && isSame([...typesOf(before, one)], [...typesOf(after, other)]));
  take(isInline);
  return [
    ...pairs,
    ...left.map((one) => [one, undefined] as const),
    ...leftNext.map((other) => [undefined, other] as const),
  ];
}

/**
 * Whether an answer may newly have a form: another kind of error, or of the details of one, and another value of an
 * enumeration.
 */
export function isOpenFor(
  { after }: Comparison,
  side: Side,
  known: readonly DocumentNode[],
  added: DocumentNode,
): boolean {
  const form = resolved(after, added);
  const others = known.map((other) => resolved(after, other));
  if (side !== 'answer') {
    const [first = new Set<string>(), ...more] = others.map(namesIn);
    const common = [...first].filter((name) => more.every((names) => names.has(name)));
    return form.type === 'object' && common.every((name) => namesIn(form).has(name));
  }
  const isValue = (schema: DocumentNode) => valuesOf(schema) !== undefined;
  const types = [...typesOf(after, form)];
  return (
    isValue(form) && types.every((type) => others.some((other) => isValue(other) && typesOf(after, other).has(type)))
  );
}
