import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** Measures of a document without the schema, fragments expanded. */
export interface Shape {
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
}

const EMPTY_SHAPE: Shape = { depth: 0, fields: 0, aliases: 0, directives: 0 };

/**
 * Measure a document in time linear to its text. Each fragment is measured once and multiplied where it is spread, so
 * fragments that double each other cost nothing to measure. A cycle counts once; validation refuses it.
 */
export function measureShape(document: DocumentNode): Shape {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const measured = new Map<string, Shape>();
  const ofFragment = (name: string): Shape => {
    const known = measured.get(name);
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    if (fragment === undefined) return EMPTY_SHAPE;
    measured.set(name, EMPTY_SHAPE);
    const own = { ...EMPTY_SHAPE, directives: fragment.directives?.length ?? 0 };
    const shape = add(own, ofSelections(fragment.selectionSet));
    measured.set(name, shape);
    return shape;
  };
  const ofSelections = (set: SelectionSetNode): Shape => {
    let sum = EMPTY_SHAPE;
    for (const node of set.selections) {
      const own = { ...EMPTY_SHAPE, directives: node.directives?.length ?? 0 };
      if (node.kind === Kind.FRAGMENT_SPREAD) sum = add(sum, add(own, ofFragment(node.name.value)));
      else if (node.kind === Kind.INLINE_FRAGMENT) sum = add(sum, add(own, ofSelections(node.selectionSet)));
      else {
        const below = node.selectionSet ? ofSelections(node.selectionSet) : EMPTY_SHAPE;
        sum = add(sum, {
          depth: below.depth + 1,
          fields: below.fields + 1,
          aliases: below.aliases + (node.alias === undefined ? 0 : 1),
          directives: below.directives + own.directives,
        });
      }
    }
    return sum;
  };
  let whole = EMPTY_SHAPE;
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const own = { ...EMPTY_SHAPE, directives: node.directives?.length ?? 0 };
    whole = add(whole, add(own, ofSelections(node.selectionSet)));
  }
  // Validation reads unused fragments before it refuses them.
  for (const name of fragments.keys()) {
    if (!measured.has(name)) whole = add(whole, ofFragment(name));
  }
  return whole;
}

function add(a: Shape, b: Shape): Shape {
  return {
    depth: Math.max(a.depth, b.depth),
    fields: a.fields + b.fields,
    aliases: a.aliases + b.aliases,
    directives: a.directives + b.directives,
  };
}
