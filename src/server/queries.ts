import { type DocumentNode, type ExecutionArgs, parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import { COST_PER_POINT, DOOR_POINTS, type Limits, type Tier } from './limits.ts';
import { costlyVariables, costOf } from './query-cost.ts';
import { checkShape, fitsShape, QueryTooComplexError } from './query-limits.ts';
import { countTokens, measureShape, type Shape } from './query-shape.ts';

export interface QueriesDeps {
  readonly limits: Limits;
  /** Points of a persisted operation by its text; `undefined` for any other text. */
  readonly persistedPoints: (text: string) => number | undefined;
}

/** A text that was read once. */
export interface Query {
  readonly document: DocumentNode;
  /** What a persisted operation is charged; `undefined` for documents that callers write. */
  readonly points: number | undefined;
}

/** What an answer tells of its cost; persisted operations have only their points. */
export interface QueryCost {
  readonly cost?: number;
  readonly limit?: number;
  readonly points: number;
}

/** The documents that callers send: each is parsed, measured, validated and costed once. */
export interface Queries {
  /** Parse a text. @throws QueryTooComplexError when it is beyond the tier's limits; GraphQLError when it is no GraphQL */
  read(text: string, tier: Tier): DocumentNode;
  /** Find a text that was read and found valid before, and that is within the tier's limits. */
  valid(text: string, tier: Tier): Query | undefined;
  isValid(document: DocumentNode): boolean;
  noteValid(document: DocumentNode): void;
  /** Compute what an operation is charged. @throws QueryTooComplexError when it costs more than the tier may ask at once */
  costOf(args: ExecutionArgs, tier: Tier): QueryCost;
}

interface Known extends Query {
  readonly tokens: number;
  readonly shape: Shape;
  /** Whether validation has found nothing; the schema never changes. */
  valid: boolean;
  /** Names of the variables that the cost depends on, by definition of the document. */
  readonly costly: readonly string[];
  /** Costs by operation and the values of those variables. */
  readonly costs: Map<string, number>;
}

/** Characters of text whose documents are kept parsed: a document takes up to 170 bytes per character of its text. */
const CACHED_CHARS = 200_000;
const CACHED_DOCUMENTS = 1_000;
/** Costs kept of one document. */
const CACHED_COSTS = 32;

export function createQueries({ limits, persistedPoints }: QueriesDeps): Queries {
  const texts = new LRUCache<string, Known>({
    max: CACHED_DOCUMENTS,
    maxSize: CACHED_CHARS,
    sizeCalculation: (_known, text) => text.length + 1,
  });
  /** The persisted ones, whose number is ours: nothing that callers write displaces them. */
  const persisted = new Map<string, Known>();
  const documents = new WeakMap<DocumentNode, Known>();
  const find = (text: string): Known | undefined => persisted.get(text) ?? texts.get(text);
  const keep = (text: string, known: Known): void => {
    if (known.points === undefined) texts.set(text, known);
    else persisted.set(text, known);
    documents.set(known.document, known);
  };

  const parsed = (text: string, maxTokens: number): Known | null => {
    const cached = find(text);
    if (cached !== undefined) return cached;
    const tokens = countTokens(text, maxTokens);
    if (tokens > maxTokens) return null;
    const document = parse(text);
    return {
      document,
      tokens,
      shape: measureShape(document),
      points: persistedPoints(text),
      valid: false,
      costly: costlyVariables(document),
      costs: new Map(),
    };
  };

  const costIn = (known: Known | undefined, args: ExecutionArgs): number | null => {
    const variables = args.variableValues ?? {};
    const compute = () =>
      costOf({
        schema: args.schema,
        document: args.document,
        operationName: args.operationName,
        variables,
        context: args.contextValue as object,
      });
    const key = known === undefined ? undefined : costKey(known.costly, variables, args.operationName);
    if (known === undefined || key === undefined) return compute();
    const before = known.costs.get(key);
    if (before !== undefined) return before;
    const cost = compute();
    if (known.costs.size >= CACHED_COSTS) known.costs.clear();
    if (cost !== null) known.costs.set(key, cost);
    return cost;
  };

  return {
    read(text, tier) {
      const ours = persistedPoints(text) !== undefined;
      const limit = limits[tier].tokens;
      const known = parsed(text, ours ? Number.POSITIVE_INFINITY : limit);
      if (known === null || (!ours && known.tokens > limit)) {
        throw new QueryTooComplexError({ measure: 'tokens', limit, tier });
      }
      if (!ours) checkShape(known.shape, limits[tier], tier);
      // What is refused is not worth its memory.
      keep(text, known);
      return known.document;
    },
    valid(text, tier) {
      const known = find(text);
      if (!known?.valid) return undefined;
      if (known.points !== undefined) return known;
      return known.tokens <= limits[tier].tokens && fitsShape(known.shape, limits[tier]) ? known : undefined;
    },
    isValid: (document) => documents.get(document)?.valid ?? false,
    noteValid(document) {
      const known = documents.get(document);
      if (known) known.valid = true;
    },
    costOf(args, tier) {
      const known = documents.get(args.document);
      if (known?.points !== undefined) return { points: known.points };
      const limit = limits[tier].cost;
      const cost = costIn(known, args);
      if (cost !== null && cost > limit) throw new QueryTooComplexError({ measure: 'cost', limit, actual: cost, tier });
      const points = Math.max(DOOR_POINTS, Math.ceil((cost ?? 0) / COST_PER_POINT));
      return { ...(cost === null ? {} : { cost, limit }), points };
    },
  };
}

/** Name the values that decide the cost; `undefined` when one of them is none that may be given. */
function costKey(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>>,
  operationName: string | null | undefined,
): string | undefined {
  let key = operationName ?? '';
  for (const name of names) {
    const value = variables[name];
    if (value != null && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
    key += ` ${value}`;
  }
  return key;
}
