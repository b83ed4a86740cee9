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
import { ADMISSION_POINTS, COST_PER_POINT, type Limits, type Tier } from '../limits/limits.ts';
import { costlyVariables, costOf, type OperationCost } from '../limits/query-cost.ts';
import { checkShape, QueryTooComplexError } from '../limits/query-limits.ts';
import { type Scan, scanDocument } from '../limits/query-scan.ts';
import { measureShape, type Shape } from '../limits/query-shape.ts';

export interface QueriesDeps {
  readonly limits: Limits;
  /** Points of a persisted operation by its text; `undefined` for any other text. */
  readonly persistedPoints: (text: string) => number | undefined;
}

/** What an answer tells of its cost; persisted operations have only their points. */
export interface QueryCost {
  readonly cost?: number | undefined;
  readonly limit?: number | undefined;
  readonly points: number;
  /** What is charged for the execution, in units of cost, and what of that is for lists that may be shorter than asked. */
  readonly execution?: number | undefined;
  readonly sized?: number | undefined;
}

/** What it costs to read a document: `parse` alone when it turns out not to be GraphQL. */
export interface ReadingCost {
  readonly parse: number;
  readonly whole: number;
  /** What was found of a document that is not known. */
  readonly scan?: Scan | undefined;
}

/** The documents that callers send: each is parsed, measured, validated and costed once. */
export interface Queries {
  /**
   * Scan a text, and tell what parsing and validating it costs, in units of the cost of a query; nothing when it is known.
   * @throws QueryTooComplexError when it is beyond the tier's limits; GraphQLError when it is no GraphQL
   */
  readingCost(text: string, tier: Tier): ReadingCost;
  /**
   * Parse a text.
   * @param scanned what its scan for this tier has found, when it was scanned already
   * @throws QueryTooComplexError when it is beyond the tier's limits; GraphQLError when it is no GraphQL
   */
  read(text: string, tier: Tier, scanned?: Scan): DocumentNode;
  isValid(document: DocumentNode): boolean;
  isPersisted(document: DocumentNode): boolean;
  /**
   * Validate a document that was read, up to the first few errors.
   * @param suggestions whether the first one may say what was meant; finding that out costs more than finding the error
   */
  validate(
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: readonly ValidationRule[] | undefined,
    suggestions: boolean,
  ): readonly GraphQLError[];
  noteValid(document: DocumentNode): void;
  /** Note how many fields the answer to a persisted operation had. @returns what its execution has cost, in units of cost */
  noteExecuted(document: DocumentNode, fields: number): number;
  /** Compute what an operation is charged. @throws QueryTooComplexError when it costs more than the tier may ask at once */
  costOf(args: ExecutionArgs, tier: Tier): QueryCost;
}

interface Known {
  readonly text: string;
  readonly document: DocumentNode;
  /** What a persisted operation is charged; `undefined` for documents that callers write. */
  readonly points: number | undefined;
  readonly scan: Scan;
  readonly shape: Shape;
  /** What executing a persisted operation cost the last time. */
  executed: number;
  /** Whether validation has found nothing; the schema never changes. */
  valid: boolean;
  /** Names of the variables that the cost depends on, by definition of the document. */
  readonly costly: readonly string[];
  /** Costs by operation and the values of those variables. */
  readonly costs: Map<string, OperationCost>;
}

/** Characters of text whose documents are kept parsed: a document takes up to 170 bytes per character of its text. */
const CACHED_CHARS = 200_000;
const CACHED_DOCUMENTS = 1_000;
/** Errors of a document that are told. */
const MAX_ERRORS = 5;
/** What a document may cost to validate that is validated again for the rest of its errors: some 200 tokens. */
const LISTED_COST = 20;
/** Persisted operations are ours: they have no limits. */
const UNSCANNED: Scan = { tokens: 0, brackets: 0, selections: 0, fragments: 0, parseCost: 0, validationCost: 0 };
const NO_SHAPE: Shape = { depth: 0, fields: 0, aliases: 0, directives: 0 };
const KNOWN: ReadingCost = { parse: 0, whole: 0 };
/** Fields of persisted operations are a quarter as dear as those of documents that callers write. */
const PERSISTED_FIELDS_PER_COST = 4;
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
    documents.set(known.document, known);
    if (known.points !== undefined) persisted.set(text, known);
  };

  const scan = (text: string, tier: Tier): Scan => {
    const found = scanDocument(text, limits[tier]);
    if (typeof found === 'string') throw new QueryTooComplexError({ measure: found, limit: limits[tier][found], tier });
    checkShape({ ...found, ...NO_SHAPE, validation: Math.ceil(found.validationCost) }, limits[tier], tier);
    return found;
  };
  const parsed = (text: string, tier: Tier, before: Scan | undefined): Known => {
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

  const costIn = (known: Known | undefined, args: ExecutionArgs, limit: number): OperationCost | null => {
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
    const key = known === undefined ? undefined : costKey(known.costly, variables, args.operationName);
    if (known === undefined || key === undefined) return compute();
    const before = known.costs.get(key);
    if (before !== undefined) return before;
    const cost = compute();
    if (known.costs.size >= CACHED_COSTS) known.costs.clear();
    // Beyond its limit a cost may be less than the whole: another tier may ask for more.
    if (cost !== null && cost.cost <= limit) known.costs.set(key, cost);
    return cost;
  };

  return {
    readingCost(text, tier) {
      if (find(text)?.valid || persistedPoints(text) !== undefined) return KNOWN;
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
      // What is refused is not worth its memory.
      keep(text, known);
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
      // What is not valid is not worth its memory: it may be different each time.
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
      const found = costIn(known, args, limit);
      if (found === null) return { points: ADMISSION_POINTS };
      const { cost, sized } = found;
      if (cost > limit) throw new QueryTooComplexError({ measure: 'cost', limit, actual: cost, tier });
      const points = Math.max(ADMISSION_POINTS, Math.ceil(cost / COST_PER_POINT));
      return { cost, limit, points, execution: cost, sized };
    },
  };
}

/** What executing a persisted operation costs: its price, or its latest answer, whichever is more. */
function executionOf({ points = 0, executed }: Known): number {
  return Math.max(points * COST_PER_POINT, executed);
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
