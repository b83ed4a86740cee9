import { type DocumentNode, type FieldNode, Kind, type ValueNode, visit } from 'graphql';

/*
 * What a body of /v1 shows otherwise than the graph, marked in the operation of its row. A null is absent, and a field has its
 * name in the operation, unless a mark says otherwise. The directives are declared in `operations/marks.graphql`.
 */

export interface Marks {
  /** `@number`: a JSON number instead of an exact decimal. */
  readonly isNumber: boolean;
  /** `@null`: null stays; `ifNone`: where a gap says that there is none, or that it cannot apply. */
  readonly keepsNull: 'always' | 'ifNone' | undefined;
  /** `@at`: where the value stands, from the object around it. Empty: its members are members of that object. */
  readonly place: readonly string[] | undefined;
  /** Description of an object that is made for `place`. */
  readonly about: string | undefined;
  /** `@via`: name of the conversion. */
  readonly conversion: string | undefined;
  /** `@hide`: selected for a conversion only. */
  readonly isHidden: boolean;
}

const NAMES: ReadonlySet<string> = new Set(['number', 'null', 'at', 'via', 'hide']);

/** Read the marks of a field. */
export function marksOf({ directives = [] }: FieldNode): Marks {
  const found = new Map(
    directives.map((node) => [
      node.name.value,
      new Map(node.arguments?.map(({ name, value }) => [name.value, constant(value)])),
    ]),
  );
  const path = found.get('at')?.get('path');
  const about = found.get('at')?.get('about');
  const conversion = found.get('via')?.get('fn');
  const nulls = found.get('null');
  return {
    isNumber: found.has('number'),
    keepsNull: nulls && (nulls.get('ifNone') === true ? 'ifNone' : 'always'),
    place: typeof path !== 'string' ? undefined : path === '.' ? [] : path.split('.'),
    about: typeof about === 'string' ? about : undefined,
    conversion: typeof conversion === 'string' ? conversion : undefined,
    isHidden: found.has('hide'),
  };
}

function constant(value: ValueNode): string | boolean | undefined {
  return value.kind === Kind.STRING || value.kind === Kind.BOOLEAN ? value.value : undefined;
}

/** The document that runs: without marks. */
export function withoutMarks(document: DocumentNode): DocumentNode {
  return visit(document, {
    Directive: ({ name }) => (NAMES.has(name.value) ? null : undefined),
    DirectiveDefinition: () => null,
  });
}
