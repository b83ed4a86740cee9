import { type GraphQLSchema, getNullableType, isListType, parse } from 'graphql';
import type { JsonSchema, Refer } from '../openapi/json-schema.ts';
import type { Conversions } from './conversion.ts';
import { conversionOf, projectorOf } from './project.ts';
import { objectSchema, schemaOfShape } from './schema.ts';
import { type Member, type Shape, shapeOf } from './shape.ts';

/** What the row of an operation answers. */
export interface Answer {
  /**
   * Form the body of the data. `null` = the object does not exist.
   * @throws Error when the operation answered nothing
   */
  body(data: unknown): unknown;
  /** @param isOpen whether the row adds properties to the body, which is then no named schema */
  schema(refer: Refer, isOpen: boolean): JsonSchema;
}

export interface AnswerDeps {
  readonly schema: GraphQLSchema;
  /** The operations with their marks. */
  readonly documents: Readonly<Record<string, { readonly row: string }>>;
  readonly conversions: Conversions;
}

/** Derive the answers of rows from their operations and the schema, each when it is first needed. */
export function createAnswers({ schema, documents, conversions }: AnswerDeps): (operation: string) => Answer {
  return (operation) => {
    const find = () => {
      const text = documents[operation]?.row;
      if (text === undefined) throw new Error(`no operation is named ${operation}`);
      return bodyMember(shapeOf(schema, parse(text)));
    };
    let body: { readonly path: readonly Member[] } | undefined;
    let project: ((data: unknown) => unknown) | undefined;
    return {
      body(data) {
        body ??= find();
        project ??= projectBody(body.path, conversions);
        return project(data);
      },
      schema(refer, isOpen) {
        body ??= find();
        return bodySchema(body.path, conversions, refer, isOpen);
      },
    };
  };
}

/**
 * The body is the only field of an operation, and a member that is joined into it (`@at(path: ".")`) when it is the only one.
 */
function bodyMember({ members }: Shape): { readonly path: readonly Member[] } {
  const [member, ...more] = members;
  if (!member || more.length > 0) throw new Error('the operation of a row has one field');
  const path = [member];
  for (let last = member; ; ) {
    const [only, ...others] = last.shape?.members ?? [];
    if (!only || others.length > 0 || only.place?.length !== 0 || last.conversion !== undefined) return { path };
    path.push(only);
    last = only;
  }
}

function projectBody(path: readonly Member[], conversions: Conversions): (data: unknown) => unknown {
  const last = path.at(-1) as Member;
  const conversion = conversionOf(last, conversions);
  const one = last.shape ? projectorOf(last.shape, conversions) : undefined;
  const project = (value: unknown): unknown =>
    one === undefined ? value : Array.isArray(value) ? value.map((item) => one(item)) : one(value as never);
  return (data) => {
    let value: unknown = data;
    let around: unknown = data;
    for (const { name } of path) {
      around = value;
      value = (value as Readonly<Record<string, unknown>> | null)?.[name] ?? null;
    }
    if (value === null) return null;
    const body = project(value);
    return conversion ? conversion.convert(body, around as never, () => []) : body;
  };
}

function bodySchema(path: readonly Member[], conversions: Conversions, refer: Refer, isOpen: boolean): JsonSchema {
  const last = path.at(-1) as Member;
  const { shape, field } = last;
  const make = isOpen ? objectSchema : schemaOfShape;
  const one = shape ? make(shape, conversions, refer) : {};
  const plain = isListType(getNullableType(field.type)) ? { type: 'array', items: one } : one;
  return conversionOf(last, conversions)?.schema(plain, refer) ?? plain;
}
