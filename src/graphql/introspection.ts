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
  /** Find the answer to one of the introspection queries that tools send, up to its extensions. `undefined` = another query. */
  find(text: string): Buffer | undefined;
}

/** Options that tools switch on or off; each decides over a few lines of the query. */
const OPTIONS = [
  'descriptions',
  'specifiedByUrl',
  'directiveIsRepeatable',
  'schemaDescription',
  'inputValueDeprecation',
  'oneOf',
] as const satisfies readonly (keyof IntrospectionOptions)[];
/** Longer than the longest of them, white space included. */
const MAX_CHARS = 8_000;
/** The forms of the query that are kept, each with an answer of its own: tools send one of two. The one not asked for longest goes first. */
const MAX_KEPT = 8;

/** Answer the standard introspection query from bytes: it is asked by every tool, and always answered with the same. */
export function createIntrospection(schema: GraphQLSchema): Introspection {
  const kept = new LRUCache<string, Buffer>({ max: MAX_KEPT });
  let standard: ReadonlySet<string> | undefined;
  return {
    find(text) {
      if (text.length > MAX_CHARS || !text.includes('__schema')) return undefined;
      const query = stripped(text);
      const known = kept.get(query);
      if (known) return known;
      standard ??= standardQueries();
      if (!standard.has(query)) return undefined;
      const { data } = executeSync({ schema, document: parse(text) });
      const bytes = ownBytes(Buffer.from(`{"data":${JSON.stringify(data)}`));
      kept.set(query, bytes);
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

/** Every combination of the options. */
function standardQueries(): ReadonlySet<string> {
  const queries = new Set<string>();
  for (let bits = 0; bits < 2 ** OPTIONS.length; bits += 1) {
    const chosen = Object.fromEntries(OPTIONS.map((name, i) => [name, (bits & (2 ** i)) !== 0]));
    queries.add(stripIgnoredCharacters(getIntrospectionQuery(chosen)));
  }
  return queries;
}
