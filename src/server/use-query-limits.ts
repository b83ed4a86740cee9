import { type DocumentNode, type ExecutionArgs, GraphQLError, parse, type Source } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Admission } from './admission.ts';
import { COST_PER_POINT, DOOR_POINTS, type Limits, tierOf } from './limits.ts';
import { costOf } from './query-cost.ts';
import { checkShape, QueryTooComplexError } from './query-limits.ts';
import { countTokens, measureShape, type Shape } from './query-shape.ts';
import type { ServerContext } from './server-context.ts';

export interface QueryLimitsDeps {
  readonly limits: Limits;
  readonly admission: Admission;
  /** Points of a persisted operation by its text; `undefined` for any other text. */
  readonly persistedPoints: (text: string) => number | undefined;
}

interface Known {
  readonly document: DocumentNode;
  readonly tokens: number;
  readonly shape: Shape;
  readonly points: number | undefined;
  /** Whether validation has found nothing; the schema never changes. */
  valid: boolean;
}

/** What an answer tells of its cost; persisted operations have only their points. */
interface CostExtension {
  readonly cost?: number;
  readonly limit?: number;
  readonly points: number;
}

/** Characters of text whose documents are kept parsed. */
const CACHED_CHARS = 2_000_000;
/** A parsed document takes a hundred times its text: thirty thousand small ones would take hundreds of megabytes. */
const CACHED_DOCUMENTS = 1_000;

/**
 * Refuse queries before they are validated (their shape) and before they are executed (their cost), and charge what they
 * cost. Persisted operations are ours and known to be affordable: they are only charged.
 */
export function useQueryLimits({ limits, admission, persistedPoints }: QueryLimitsDeps): Plugin<ServerContext> {
  const texts = new LRUCache<string, Known>({
    max: CACHED_DOCUMENTS,
    maxSize: CACHED_CHARS,
    sizeCalculation: (_known, text) => text.length + 1,
  });
  const documents = new WeakMap<DocumentNode, Known>();

  const read = (text: string, maxTokens: number): Known | null => {
    const cached = texts.get(text);
    if (cached !== undefined) return cached;
    const tokens = countTokens(text, maxTokens);
    if (tokens > maxTokens) return null;
    const document = parse(text);
    const known = { document, tokens, shape: measureShape(document), points: persistedPoints(text), valid: false };
    texts.set(text, known);
    documents.set(document, known);
    return known;
  };

  const charge = async (args: ExecutionArgs): Promise<CostExtension> => {
    const context = args.contextValue as ServerContext;
    const tier = tierOf(context.info.caller);
    const limit = limits[tier].cost;
    const persistedCost = documents.get(args.document)?.points;
    const cost =
      persistedCost === undefined
        ? costOf({
            schema: args.schema,
            document: args.document,
            operationName: args.operationName,
            variables: args.variableValues ?? {},
            context,
          })
        : null;
    if (cost !== null && cost > limit) throw new QueryTooComplexError({ measure: 'cost', limit, actual: cost, tier });
    const points = persistedCost ?? Math.max(DOOR_POINTS, Math.ceil((cost ?? 0) / COST_PER_POINT));
    if (points > DOOR_POINTS) await admission.charge(context.info, points - DOOR_POINTS);
    return { ...(cost === null ? {} : { cost, limit }), points };
  };

  return {
    onParse({ context, setParseFn }) {
      const { caller } = context.info;
      const tier = tierOf(caller);
      const tierLimits = limits[tier];
      setParseFn((source: string | Source) => {
        const text = typeof source === 'string' ? source : source.body;
        const persisted = persistedPoints(text) !== undefined;
        try {
          const known = read(text, persisted ? Number.POSITIVE_INFINITY : tierLimits.tokens);
          if (known === null || (!persisted && known.tokens > tierLimits.tokens)) {
            throw new QueryTooComplexError({ measure: 'tokens', limit: tierLimits.tokens, tier });
          }
          if (!persisted) checkShape(known.shape, tierLimits, tier);
          return known.document;
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw new GraphQLError(error instanceof Error ? error.message : 'unreadable', {
            originalError: error instanceof Error ? error : null,
          });
        }
      });
    },
    onValidate({ params, setResult }) {
      const known = documents.get(params.documentAST);
      if (known?.valid) setResult([]);
      return ({ valid }) => {
        if (known && valid) known.valid = true;
      };
    },
    async onExecute({ args }) {
      const context = args.contextValue;
      if (context.transport === 'rest') return undefined;
      const cost = await charge(args as ExecutionArgs);
      return {
        onExecuteDone({ result, setResult }) {
          if (!(Symbol.asyncIterator in result)) setResult({ ...result, extensions: { ...result.extensions, cost } });
        },
      };
    },
    async onSubscribe({ args }) {
      await charge(args as unknown as ExecutionArgs);
    },
  };
}
