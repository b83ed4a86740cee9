import {
  executeSync,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionOptions,
  parse,
  stripIgnoredCharacters,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ownBytes } from '../shared/bytes.ts';

export interface Introspection {
  /** Return the answer to a standard introspection query, without its extensions. `undefined` = another query. */
  find(text: string): Buffer | undefined;
}

/** Options of the query that tools set; each adds or removes some of its lines. */
const OPTIONS = [
  'descriptions',
  'specifiedByUrl',
  'directiveIsRepeatable',
  'schemaDescription',
  'inputValueDeprecation',
  'oneOf',
] as const satisfies readonly (keyof IntrospectionOptions)[];
/** Longer than the longest form, white space included. */
const MAX_CHARS = 8_000;
/**
 * Maximum number of cached forms of the query, each with its own answer: tools send one of two. The least recently used one is
 * evicted.
 */
const MAX_ANSWERS = 8;

/** Create the cache of answers to the standard introspection query, which every tool sends, always with the same answer. */
export function createIntrospection(schema: GraphQLSchema): Introspection {
  const answers = new LRUCache<string, Buffer>({ max: MAX_ANSWERS });
  let standard: ReadonlySet<string> | undefined;
  return {
    find(text) {
      if (text.length > MAX_CHARS || !text.includes('__schema')) return undefined;
      const query = stripped(text);
      const known = answers.get(query);
      if (known) return known;
      standard ??= standardQueries();
      if (!standard.has(query)) return undefined;
      const { data } = executeSync({ schema, document: parse(text) });
      const bytes = ownBytes(Buffer.from(`{"data":${JSON.stringify(data)}`));
      answers.set(query, bytes);
      return bytes;
    },
  };
}

function stripped(text: string): string {
  try {
    return stripIgnoredCharacters(text);
  } catch {
    return '';
  }
}

/** The query in every combination of the options. */
function standardQueries(): ReadonlySet<string> {
  const queries = new Set<string>();
  for (let bits = 0; bits < 2 ** OPTIONS.length; bits += 1) {
    const chosen = Object.fromEntries(OPTIONS.map((name, i) => [name, (bits & (2 ** i)) !== 0]));
    queries.add(stripIgnoredCharacters(getIntrospectionQuery(chosen)));
  }
  return queries;
}
