import {
  type DocumentNode,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { RestResponse, StreamResponse } from '../rest/types.ts';
import {
  DEPRECATION_DOCUMENT,
  type Deprecation,
  deprecationHeaders,
  deprecationOf,
} from '../shared/contract/deprecation.ts';
import { textIn } from './graphql-request.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * Create the function that returns the headers of an answer whose documents use deprecated fields, arguments or values;
 * `undefined` = none. Documents are parsed only while the schema has a deprecated part.
 */
export function createDeprecations(
  schema: GraphQLSchema,
  textOf: (id: string) => string | undefined,
): (params: object) => Headers | undefined {
  if (!hasDeprecated(schema)) return () => undefined;
  return (params) => {
    const operations: readonly object[] = Array.isArray(params) ? params : [params];
    const used = operations.flatMap((operation) => {
      const document = documentOf(textIn(operation, textOf));
      return document ? usedIn(document, schema) : [];
    });
    return deprecationHeaders(used, DEPRECATION_DOCUMENT);
  };
}

/** Add the headers of deprecated parts to an answer. */
export function withDeprecations<R extends RestResponse | StreamResponse>(response: R, more: Headers | undefined): R {
  return more === undefined ? response : { ...response, headers: { ...response.headers, ...more } };
}

/** A text that is not a document is refused elsewhere. */
function documentOf(text: string | undefined): DocumentNode | undefined {
  try {
    return text === undefined ? undefined : parse(text);
  } catch {
    return undefined;
  }
}

function hasDeprecated(schema: GraphQLSchema): boolean {
  return Object.values(schema.getTypeMap()).some((type) => {
    if (isEnumType(type)) return type.getValues().some((value) => value.deprecationReason != null);
    if (isInputObjectType(type))
      return Object.values(type.getFields()).some((field) => field.deprecationReason != null);
    if (!isObjectType(type) && !isInterfaceType(type)) return false;
    return Object.values(type.getFields()).some(
      (field) => field.deprecationReason != null || field.args.some((arg) => arg.deprecationReason != null),
    );
  });
}

function usedIn(document: DocumentNode, schema: GraphQLSchema): readonly Deprecation[] {
  const info = new TypeInfo(schema);
  const reasons = new Set<string>();
  const note = (part: { readonly deprecationReason?: string | null | undefined } | null | undefined) => {
    if (part?.deprecationReason != null) reasons.add(part.deprecationReason);
  };
  visit(
    document,
    visitWithTypeInfo(info, {
      [Kind.FIELD]: () => note(info.getFieldDef()),
      [Kind.ARGUMENT]: () => note(info.getArgument()),
      [Kind.OBJECT_FIELD]: ({ name }) => {
        const type = info.getParentInputType();
        if (isInputObjectType(type)) note(type.getFields()[name.value]);
      },
      [Kind.ENUM]: () => note(info.getEnumValue()),
    }),
  );
  return [...reasons].flatMap((reason) => deprecationOf(reason) ?? []);
}
