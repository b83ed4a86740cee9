import { type GraphQLSchema, getNullableType, isInterfaceType, isListType, isObjectType, parse } from 'graphql';
import { type Deprecation, deprecationOf } from '../../shared/contract/deprecation.ts';
import type { JsonSchema, Refer } from '../openapi/json-schema.ts';
import type { Conversions, Vocabulary } from './conversion.ts';
import { conversionOf, type Project, projectorOf } from './project.ts';
import { objectSchema, schemaOfShape } from './schema.ts';
import { fragmentShape, type Member, type Shape, shapeOf } from './shape.ts';

/** What the row of an operation answers. */
export interface Answer {
  /**
   * Form the body of the data. `null` = the object does not exist.
   * @throws Error when the operation answered nothing
   */
  body(data: unknown): unknown;
  /** @param isOpen whether the row adds properties to the body, which is then no named schema */
  schema(refer: Refer, isOpen: boolean): JsonSchema;
  /** The deprecations of the fields that it shows. */
  deprecations(): readonly Deprecation[];
}

export interface AnswerDeps {
  readonly conversions: Conversions;
  /** Makes the error of a refusal with its details. */
  readonly errorOf: (refusal: never, details: unknown) => Error;
  readonly schema: GraphQLSchema;
  /** The operations with their marks. */
  readonly documents: Readonly<Record<string, { readonly row: string }>>;
}

/** Derive the answers of rows from their operations and the schema, each when it is first needed. */
export function createAnswers({ schema, documents, conversions, errorOf }: AnswerDeps): (operation: string) => Answer {
  const isRefusal = refusalTypes(schema);
  // Nothing is read at a start while nothing is deprecated.
  const hasDeprecated = Object.values(schema.getTypeMap()).some(
    (type) => isObjectType(type) && Object.values(type.getFields()).some(({ deprecationReason }) => deprecationReason),
  );
  let detailsOf: Project | undefined;
  const refuse = (answer: unknown) => {
    if (!isRefusal((answer as { readonly __typename: string }).__typename)) return;
    detailsOf ??= projectorOf(refusalShape(schema, documents), { conversions, refuse: () => {} });
    throw errorOf(answer as never, detailsOf(answer as never));
  };
  const vocabulary: Vocabulary = { conversions, refuse };
  return (operation) => {
    const find = () => {
      const text = documents[operation]?.row;
      if (text === undefined) throw new Error(`no operation is named ${operation}`);
      return bodyOf(shapeOf(schema, parse(text)));
    };
    let body: BodyPlace | undefined;
    let project: ((data: unknown) => unknown) | undefined;
    return {
      body(data) {
        body ??= find();
        project ??= projectBody(body, vocabulary);
        return project(data);
      },
      schema(refer, isOpen) {
        body ??= find();
        return bodySchema(body, conversions, refer, isOpen);
      },
      deprecations() {
        if (!hasDeprecated) return [];
        body ??= find();
        return deprecationsIn(body.shape);
      },
    };
  };
}

function deprecationsIn(shape: Shape | undefined): readonly Deprecation[] {
  return (shape?.members ?? []).flatMap(({ field, shape: below }) => [
    ...[deprecationOf(field.deprecationReason ?? '') ?? []].flat(),
    ...deprecationsIn(below),
  ]);
}

/** Name of the interface of all refusals, and of the fragment with the details of each. */
const REFUSAL = 'Refusal';

function refusalTypes(schema: GraphQLSchema): (typename: string) => boolean {
  const type = schema.getType(REFUSAL);
  const names = new Set(isInterfaceType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : []);
  return (typename) => names.has(typename);
}

/** The shape of the details: of the fragment, in any operation that has it. */
function refusalShape(schema: GraphQLSchema, documents: AnswerDeps['documents']): Shape {
  const found = Object.values(documents).find(({ row }) => row.includes(`fragment ${REFUSAL} on`));
  if (!found) throw new Error('no operation selects refusals');
  return fragmentShape(schema, parse(found.row), REFUSAL);
}

/** Where a body is in the data of an operation. */
interface BodyPlace {
  /** The fields that lead to it; empty: it is the data itself. */
  readonly path: readonly Member[];
  readonly shape: Shape | undefined;
}

/**
 * The body is the only field of an operation, or a member that is joined into it (`@at(path: ".")`) when it is the only one. It is
 * the data itself where the only field has a place in it.
 */
function bodyOf(data: Shape): BodyPlace {
  const [member, ...more] = data.members;
  if (!member || more.length > 0) throw new Error('the operation of a row has one field');
  if (member.place?.length) return { path: [], shape: data };
  const path = [member];
  for (let last = member; ; ) {
    const [only, ...others] = last.conversion === undefined ? (last.shape?.members ?? []) : [];
    if (!only || others.length > 0 || only.place?.length !== 0) return { path, shape: last.shape };
    path.push(only);
    last = only;
  }
}

function projectBody({ path, shape }: BodyPlace, vocabulary: Vocabulary): (data: unknown) => unknown {
  const last = path.at(-1);
  const conversion = last && conversionOf(last, vocabulary.conversions);
  const one = shape && projectorOf(shape, vocabulary);
  return (data) => {
    let raw: unknown = data;
    for (const { name } of path) raw = (raw as Readonly<Record<string, unknown>> | null)?.[name] ?? null;
    if (raw === null) return null;
    const body = !one ? raw : Array.isArray(raw) ? raw.map((item) => one(item)) : one(raw as never);
    return conversion ? conversion.convert(body, { raw, namesOf: () => [] }) : body;
  };
}

function bodySchema({ path, shape }: BodyPlace, conversions: Conversions, refer: Refer, isOpen: boolean): JsonSchema {
  const last = path.at(-1);
  const make = isOpen ? objectSchema : schemaOfShape;
  const one = shape ? make(shape, conversions, refer) : {};
  const plain = last && isListType(getNullableType(last.field.type)) ? { type: 'array', items: one } : one;
  return (last && conversionOf(last, conversions)?.schema(plain, refer)) ?? plain;
}
