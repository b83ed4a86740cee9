import type { Conversions } from '../derive/conversion.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';

const same = (of: JsonSchema): JsonSchema => of;
const itemOf = ({ items }: JsonSchema) => items as JsonSchema;
const listOf = (value: unknown) => value as readonly Readonly<Record<string, unknown>>[];

const POINT: JsonSchema = {
  type: 'number',
  minimum: 0,
  description: 'Unix milliseconds, then the value in the requested currency.',
};

/** Lists and objects in another form. */
export const listConversions = {
  /** A list, or an object; absent when it is empty. */
  unlessEmpty: {
    schema: same,
    mayBeAbsent: true,
    convert: (value) => (Object.keys(value as object).length === 0 ? undefined : value),
  },
  /** The first item; absent when the list is empty. */
  first: { schema: itemOf, mayBeAbsent: true, convert: (list) => listOf(list)[0] },
  /** The item of a list that has one. @throws Error when it has none */
  only: {
    schema: itemOf,
    convert: (list) => {
      const [item] = listOf(list);
      if (item === undefined) throw new Error('The answer lacks the only item of a list.');
      return item;
    },
  },
  /** Gaps under the names of the row. */
  named: {
    schema: same,
    convert: (gaps, { namesOf }) =>
      listOf(gaps).flatMap((gap) => {
        const names = namesOf(String(gap.field));
        return (names.length === 0 ? [gap.field] : names).map((field) => ({ ...gap, field }));
      }),
  },
  /** The items of a page that holds all of them. */
  nodes: {
    schema: (of) => (of as { properties: { nodes: JsonSchema } }).properties.nodes,
    convert: (page) => (page as { readonly nodes: unknown }).nodes,
  },
  /** The cursor of the next page; null after the last one. */
  nextCursor: {
    schema: () => ({
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'Send it as "after" for the next page; null = this is the last one.',
    }),
    convert: (page) => {
      const { hasNextPage, endCursor } = page as { readonly hasNextPage: boolean; readonly endCursor?: string };
      return hasNextPage ? endCursor : null;
    },
  },
  /** The first `url` of a list. */
  firstUrl: {
    schema: () => ({ type: 'string', format: 'uri', description: 'Page of the first campaign that has one.' }),
    mayBeAbsent: true,
    convert: (list) => listOf(list).find(({ url }) => url !== undefined)?.url,
  },
  /** Pairs of time and value: `[unix milliseconds, value]`. */
  pairs: {
    schema: (of) => ({ ...of, items: { type: 'array', items: POINT, minItems: 2, maxItems: 2 } }),
    convert: (list) => listOf(list).map(({ at, value }) => [Date.parse(String(at)), Number(value)]),
  },
} as const satisfies Conversions;
