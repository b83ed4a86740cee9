import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ADMISSION_POINTS, COST_PER_POINT } from '../limits/points.ts';
import { costlyVariables, costOf, type OperationCost } from '../limits/query-cost.ts';
import { type Scan, scanDocument } from '../limits/query-scan.ts';
import { measureShape, type Shape } from '../limits/query-shape.ts';
import { checkShape, QueryTooComplexError } from '../limits/query-too-complex.ts';
import type { Limits, Tier } from '../limits/tier-limits.ts';
import type { AppContext } from '../resolvers/common/context.ts';

export interface QueriesDeps {
  readonly limits: Limits;
  /** Points of a persisted operation by its text; `undefined` for any other text. */
  readonly persistedPoints: (text: string) => number | undefined;
}

/** Cost in the extensions of an answer; persisted operations have points only. */
export interface QueryCost {
  readonly cost?: number | undefined;
  readonly limit?: number | undefined;
  readonly points: number;
  /** The charge for the execution, in units of cost, and the part of it for lists that may be shorter than requested. */
  readonly execution?: number | undefined;
  readonly sized?: number | undefined;
  /** The charge for errors that the execution may make. */
  readonly errors?: number | undefined;
}

/** Cost of reading a document: `parse` alone if it is not GraphQL. */
export interface ReadingCost {
  readonly parse: number;
  readonly whole: number;
  /** Scan of a document that is not cached. */
  readonly scan?: Scan | undefined;
}

/** Cache of documents: each is parsed, measured, validated and costed once. */
export interface Queries {
  /**
   * Scan a text, and return the cost of parsing and validating it, in units of query cost; zero for a cached one.
   * @throws QueryTooComplexError when it is beyond the tier's limits; GraphQLError when it is not GraphQL
   */
  readingCost(text: string, tier: Tier): ReadingCost;
  /**
   * Parse a text.
   * @param scanned its scan for this tier, if already done
   * @throws QueryTooComplexError when it is beyond the tier's limits; GraphQLError when it is not GraphQL
   */
  read(text: string, tier: Tier, scanned?: Scan): DocumentNode;
  isValid(document: DocumentNode): boolean;
  isPersisted(document: DocumentNode): boolean;
  /**
   * Validate a parsed document, up to the first few errors.
   * @param suggestions whether the first error may suggest names, which costs more than finding the error
   */
  validate(
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: readonly ValidationRule[] | undefined,
    suggestions: boolean,
  ): readonly GraphQLError[];
  noteValid(document: DocumentNode): void;
  /**
   * Record the number of fields in the answer to a persisted operation.
   * @returns the cost of its execution, in units of cost
   */
  noteExecuted(document: DocumentNode, fields: number): number;
  /**
   * Compute the charge of an operation.
   * @throws QueryTooComplexError when it costs more than the tier's limit
   */
  costOf(args: ExecutionArgs, tier: Tier): QueryCost;
}

interface KnownDocument {
  readonly text: string;
  readonly document: DocumentNode;
  /** Points of a persisted operation; `undefined` for documents of callers. */
  readonly points: number | undefined;
  readonly scan: Scan;
  readonly shape: Shape;
  /** Cost of the last execution of a persisted operation. */
  executed: number;
  /** Whether validation succeeded; the schema never changes. */
  valid: boolean;
  /** Names of the variables that the cost depends on. */
  readonly costly: readonly string[];
  /** Costs by operation and the values of these variables. */
  readonly costs: Map<string, OperationCost>;
}

/**
 * Maximum total size of the texts whose documents are cached, in characters: a document takes up to 170 bytes per character.
 */
const CACHED_CHARS = 200_000;
const CACHED_DOCUMENTS = 1_000;
/** Maximum number of errors of a document in an answer. */
const MAX_ERRORS = 5;
/** Maximum validation cost of a document that is validated again to list its other errors: some 200 tokens. */
const LISTED_COST = 20;
/** Persisted operations are trusted and have no limits. */
const UNSCANNED: Scan = {
  tokens: 0,
  lines: 0,
  brackets: 0,
  selections: 0,
  fragments: 0,
  parseCost: 0,
  validationCost: 0,
};
const NO_SHAPE: Shape = { depth: 0, fields: 0, aliases: 0, directives: 0 };
const NO_COST: ReadingCost = { parse: 0, whole: 0 };
/** Fields of persisted operations cost a quarter of those in documents of callers. */
const PERSISTED_FIELDS_PER_COST = 4;
/** Maximum number of cached costs per document. */
const CACHED_COSTS = 32;

export function createQueries({ limits, persistedPoints }: QueriesDeps): Queries {
  const texts = new LRUCache<string, KnownDocument>({
    max: CACHED_DOCUMENTS,
    maxSize: CACHED_CHARS,
    sizeCalculation: (_known, text) => text.length + 1,
  });
  /** Persisted documents, which documents of callers do not evict. */
  const persisted = new Map<string, KnownDocument>();
  const documents = new WeakMap<DocumentNode, KnownDocument>();
  const find = (text: string): KnownDocument | undefined => persisted.get(text) ?? texts.get(text);
  const remember = (text: string, known: KnownDocument): void => {
    documents.set(known.document, known);
    if (known.points !== undefined) persisted.set(text, known);
  };

  const scan = (text: string, tier: Tier): Scan => {
    const found = scanDocument(text, limits[tier]);
    if (typeof found === 'string') throw new QueryTooComplexError({ measure: found, limit: limits[tier][found], tier });
    checkShape({ ...found, ...NO_SHAPE, validation: Math.ceil(found.validationCost) }, limits[tier], tier);
    return found;
  };
  const parsed = (text: string, tier: Tier, before: Scan | undefined): KnownDocument => {
    const points = persistedPoints(text);
    const scanned = points === undefined ? (before ?? scan(text, tier)) : UNSCANNED;
    const document = parse(text);
    return {
      text,
      document,
      scan: scanned,
      shape: measureShape(document),
      points,
      executed: 0,
      valid: false,
      costly: costlyVariables(document),
      costs: new Map(),
    };
  };

  return {
    readingCost(text, tier) {
      if (find(text)?.valid || persistedPoints(text) !== undefined) return NO_COST;
      const found = scan(text, tier);
      return { parse: found.parseCost, whole: found.parseCost + found.validationCost, scan: found };
    },
    read(text, tier, scanned) {
      const known = find(text) ?? parsed(text, tier, scanned);
      if (known.points === undefined)
        checkShape(
          { ...known.scan, ...known.shape, validation: Math.ceil(known.scan.validationCost) },
          limits[tier],
          tier,
        );
      // Only documents within the limits get here, so refused ones are not remembered.
      remember(text, known);
      return known.document;
    },
    isValid: (document) => documents.get(document)?.valid ?? false,
    isPersisted: (document) => documents.get(document)?.points !== undefined,
    validate(schema, document, rules, suggestions) {
      const first = validate(schema, document, rules, { maxErrors: 1, hideSuggestions: !suggestions }).slice(0, 1);
      const cost = documents.get(document)?.scan.validationCost ?? 0;
      if (first.length === 0 || cost > LISTED_COST) return first;
      const all = validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: true });
      return [...first, ...all.slice(1)];
    },
    noteValid(document) {
      const known = documents.get(document);
      if (known === undefined) return;
      known.valid = true;
      // Only valid documents enter the cache, because every invalid one may be different.
      if (known.points === undefined) texts.set(known.text, known);
    },
    noteExecuted(document, fields) {
      const known = documents.get(document);
      if (known === undefined) return 0;
      known.executed = fields / PERSISTED_FIELDS_PER_COST;
      return executionOf(known);
    },
    costOf(args, tier) {
      const known = documents.get(args.document);
      if (known?.points !== undefined) {
        const execution = executionOf(known);
        return { points: Math.ceil(execution / COST_PER_POINT), execution };
      }
      const limit = limits[tier].cost;
      const found = cachedCost(known, args, limit);
      if (found === null) return { points: ADMISSION_POINTS };
      const { cost, sized, errors } = found;
      const most = cost + errors;
      if (most > limit) throw new QueryTooComplexError({ measure: 'cost', limit, actual: most, tier });
      const points = Math.max(ADMISSION_POINTS, Math.ceil(cost / COST_PER_POINT));
      return { cost, limit, points, execution: cost, sized, errors };
    },
  };
}

/** Cost of an operation, computed once per document and values of its variables. */
function cachedCost(known: KnownDocument | undefined, args: ExecutionArgs, limit: number): OperationCost | null {
  const variables = args.variableValues ?? {};
  const compute = () =>
    costOf({
      schema: args.schema,
      document: args.document,
      operationName: args.operationName,
      variables,
      context: args.contextValue as object,
      limit,
    });
  // Lists of the snapshot cost what is there now.
  const sizes = (args.contextValue as Partial<AppContext> | undefined)?.sizes?.version ?? '';
  const key =
    known === undefined ? undefined : costKey(known.costly, variables, `${sizes} ${args.operationName ?? ''}`);
  if (known === undefined || key === undefined) return compute();
  const before = known.costs.get(key);
  if (before !== undefined) return before;
  const cost = compute();
  if (known.costs.size >= CACHED_COSTS) known.costs.clear();
  // A cost above the limit may be incomplete, and another tier may have a higher limit.
  if (cost !== null && cost.cost <= limit) known.costs.set(key, cost);
  return cost;
}

/** Cost of executing a persisted operation: the higher of its price and the cost of its last answer. */
function executionOf({ points = 0, executed }: KnownDocument): number {
  return Math.max(points * COST_PER_POINT, executed);
}

const MAX_CHAINS_IN_KEY = 10;

/** The part of a value that a cost depends on: of a filter, its chains. `undefined` = such costs are not cached. */
function keyPart(value: unknown): string | undefined {
  if (value == null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { chainIds } = value as { readonly chainIds?: unknown };
  if (chainIds == null) return '{}';
  if (!Array.isArray(chainIds)) return undefined;
  const isShort = chainIds.length <= MAX_CHAINS_IN_KEY && chainIds.every((id) => typeof id === 'number');
  return isShort ? `{${chainIds.join()}}` : undefined;
}

/** Cache key of the values that the cost depends on; `undefined` when one of them is invalid. */
function costKey(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>>,
  start: string,
): string | undefined {
  let key = start;
  for (const name of names) {
    const value = variables[name];
    const part = keyPart(value);
    if (part === undefined) return undefined;
    key += ` ${part}`;
  }
  return key;
}
