import { z } from 'zod';
import {
  DEPRECATION_DOCUMENT,
  type Deprecation,
  deprecationHeaders,
  deprecationSentence,
} from '../shared/contract/deprecation.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { AnyRoute } from './types.ts';

const KEY = 'x-deprecation';

/** The keywords of a deprecated operation or field in OpenAPI. */
export function deprecatedMeta(deprecation: Deprecation | undefined): Readonly<Record<string, unknown>> {
  return withoutUndefined({ deprecated: deprecation && true, [KEY]: deprecation });
}

/** Mark a field of an answer as deprecated: in OpenAPI, and in the headers of the rows that return it. */
export function deprecated<T extends z.ZodType>(field: T, deprecation: Deprecation): T {
  const description = [z.globalRegistry.get(field)?.description, deprecationSentence(deprecation)];
  return field.meta({ description: description.filter(Boolean).join(' '), ...deprecatedMeta(deprecation) }) as T;
}

/** The deprecations of a row and of the fields of its answer. */
export function deprecationsOf({ deprecation, response }: AnyRoute): readonly Deprecation[] {
  const ofFields = foundIn.get(response) ?? ('derive' in response ? [] : fieldDeprecations(response));
  foundIn.set(response, ofFields);
  return [...new Set(deprecation ? [deprecation, ...ofFields] : ofFields)];
}

/** Deprecations of the fields of an answer by its schema, which has a thousand parts. */
const foundIn = new WeakMap<object, readonly Deprecation[]>();

function fieldDeprecations(response: z.ZodType): readonly Deprecation[] {
  const found = new Set<Deprecation>();
  const seen = new Set<z.ZodType>();
  const visit = (schema: z.ZodType): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const known = z.globalRegistry.get(schema)?.[KEY];
    if (known !== undefined) found.add(known as Deprecation);
    for (const part of partsOf(schema)) visit(part);
  };
  visit(response);
  return [...found];
}

/** The headers of all answers of a row; `undefined` = nothing of it is deprecated. */
export function rowDeprecationHeaders(route: AnyRoute): Readonly<Record<string, string>> | undefined {
  return deprecationHeaders(deprecationsOf(route), DEPRECATION_DOCUMENT);
}

function partsOf(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodObject) return Object.values(schema.shape as Record<string, z.ZodType>);
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType];
  if (schema instanceof z.ZodUnion) return schema.options as readonly z.ZodType[];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return [schema.unwrap() as z.ZodType];
  return [];
}
