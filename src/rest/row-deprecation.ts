import { DEPRECATION_DOCUMENT, type Deprecation, deprecationHeaders } from '../shared/contract/deprecation.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { AnyRoute } from './types.ts';

/** The keywords of a deprecated operation or field in OpenAPI. */
export function deprecatedMeta(deprecation: Deprecation | undefined): Readonly<Record<string, unknown>> {
  return withoutUndefined({ deprecated: deprecation && true, 'x-deprecation': deprecation });
}

/** The deprecations of a row and of the fields of its answer. */
export function deprecationsOf({ deprecation, response }: AnyRoute): readonly Deprecation[] {
  const ofFields = response.deprecations();
  return deprecation ? [deprecation, ...ofFields] : ofFields;
}

/** The headers of all answers of a row; `undefined` = nothing of it is deprecated. */
export function rowDeprecationHeaders(route: AnyRoute): Readonly<Record<string, string>> | undefined {
  return deprecationHeaders(deprecationsOf(route), DEPRECATION_DOCUMENT);
}
