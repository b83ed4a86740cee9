import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  isCompositeType,
  isObjectType,
  isUnionType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { type Marks, marksOf } from './marks.ts';

/** An object of a body, as its selection and its marks describe it. */
export interface Shape {
  readonly type: GraphQLCompositeType;
  /** The fragment that is its whole selection: its name is that of the component in OpenAPI. */
  readonly fragment: string | undefined;
  readonly members: readonly Member[];
  /** Of a union: the shape of each type. The members are those of all types together. */
  readonly choices: readonly Shape[] | undefined;
}

export interface Member extends Marks {
  /** Name in the answer of the operation. */
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** The names of its fields in the graph: types may have different ones under one name of the answer. */
  readonly fieldNames: ReadonlySet<string>;
  /** The types of the object that have it; the rest has not selected it. */
  readonly types: ReadonlySet<string>;
  /** Whether every type of the object has it. */
  readonly isAlways: boolean;
  /** Of objects and lists of them. */
  readonly shape: Shape | undefined;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Read the shape of the data of an operation. */
export function shapeOf(schema: GraphQLSchema, document: DocumentNode): Shape {
  const fragments = fragmentsOf(document);
  const operation = getOperationAST(document);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) throw new Error('the document has no operation');
  return objectShape(schema, fragments, root, [operation.selectionSet]);
}

/** Read the shape of a fragment of a document. */
export function fragmentShape(schema: GraphQLSchema, document: DocumentNode, name: string): Shape {
  const fragments = fragmentsOf(document);
  const fragment = fragments.get(name);
  const type = schema.getType(fragment?.typeCondition.name.value ?? '');
  if (!fragment || !isCompositeType(type)) throw new Error(`no fragment is named ${name}`);
  return objectShape(schema, fragments, type, [fragment.selectionSet]);
}

function fragmentsOf({ definitions }: DocumentNode): Fragments {
  return new Map(
    definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
}

function possibleTypes(schema: GraphQLSchema, type: GraphQLCompositeType): readonly GraphQLObjectType[] {
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
}

/** One selected field, with the types that its selection applies to. */
interface Selected {
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly fieldNames: ReadonlySet<string>;
  readonly marks: Marks;
  readonly types: ReadonlySet<string>;
  readonly sets: readonly SelectionSetNode[];
}

function objectShape(
  schema: GraphQLSchema,
  fragments: Fragments,
  type: GraphQLCompositeType,
  sets: readonly SelectionSetNode[],
): Shape {
  const choices = choicesOf(schema, fragments, type, sets);
  const all = (choices?.map((choice) => choice.type) ?? possibleTypes(schema, type)).map(({ name }) => name);
  const selected = new Map<string, Selected>();
  const collect = (on: GraphQLCompositeType, types: ReadonlySet<string>, { selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (node.kind !== Kind.FIELD) {
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        const condition = schema.getType(fragment?.typeCondition?.name.value ?? on.name);
        if (!fragment || !isCompositeType(condition)) throw new Error('a fragment is on no type of the schema');
        // What all refusals have is no part of a body.
        if (isUnionType(on) && !isObjectType(condition)) continue;
        const within = new Set(possibleTypes(schema, condition).map(({ name }) => name));
        collect(condition, new Set([...types].filter((name) => within.has(name))), fragment.selectionSet);
        continue;
      }
      const name = node.alias?.value ?? node.name.value;
      const field = fieldOf(on, node.name.value);
      if (!field) continue;
      const known = selected.get(name);
      selected.set(name, {
        name,
        field: known?.field ?? field,
        fieldNames: new Set([...(known?.fieldNames ?? []), field.name]),
        marks: known?.marks ?? marksOf(node),
        types: new Set([...(known?.types ?? []), ...types]),
        sets: [...(known?.sets ?? []), ...(node.selectionSet ? [node.selectionSet] : [])],
      });
    }
  };
  for (const set of sets) collect(type, new Set(all), set);
  const members = [...selected.values()].map(({ name, field, fieldNames, marks, types, sets: below }): Member => {
    const inner = getNamedType(field.type);
    return {
      ...marks,
      name,
      field,
      fieldNames,
      types,
      isAlways: all.every((one) => types.has(one)),
      shape: isCompositeType(inner) && below.length > 0 ? objectShape(schema, fragments, inner, below) : undefined,
    };
  });
  const [only] = choices ?? [];
  const isOne = choices?.length === 1;
  return {
    type,
    fragment: isOne ? only?.fragment : onlyFragment(sets),
    members,
    choices: isOne ? undefined : choices,
  };
}

/** `__typename` is of no use to a body. */
function fieldOf(type: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === '__typename' || isUnionType(type)) return undefined;
  const field = type.getFields()[name];
  if (!field) throw new Error(`${type.name} has no field ${name}`);
  return field;
}

/** The name of the fragment that is all that a body shows of a selection. */
function onlyFragment(sets: readonly SelectionSetNode[]): string | undefined {
  const [set, ...more] = sets;
  const shown = set?.selections.filter((node) => node.kind !== Kind.FIELD || !marksOf(node).isHidden);
  const [node, ...others] = shown ?? [];
  return node?.kind === Kind.FRAGMENT_SPREAD && others.length === 0 && more.length === 0 ? node.name.value : undefined;
}

/** The shapes of a union: one for each fragment on a type of it. */
function choicesOf(
  schema: GraphQLSchema,
  fragments: Fragments,
  type: GraphQLCompositeType,
  sets: readonly SelectionSetNode[],
): readonly Shape[] | undefined {
  if (!isUnionType(type)) return undefined;
  return sets
    .flatMap(({ selections }) => selections)
    .flatMap((node) => {
      if (node.kind === Kind.FIELD) return [];
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
      const on = schema.getType(fragment?.typeCondition?.name.value ?? '');
      if (!fragment) throw new Error(`a fragment of the union ${type.name} is missing`);
      if (!isObjectType(on)) return [];
      const only = { kind: Kind.SELECTION_SET, selections: [node] } as const;
      const isInline = node.kind === Kind.INLINE_FRAGMENT;
      return [objectShape(schema, fragments, on, [isInline ? fragment.selectionSet : only])];
    });
}
