import { type DocumentNode, type GraphQLSchema, getOperationAST } from 'graphql';
import type { AppContext } from '../resolvers/context.ts';
import type { Admission } from './admission.ts';
import type { Asked } from './asked.ts';
import { DOOR_POINTS, WINDOW_SEC } from './limits.ts';
import type { Queries, QueryCost } from './queries.ts';
import type { TextAnswer } from './text-answer.ts';
import type { RenderedOperations } from './use-rendered.ts';
import { budgetExtension, type Visit } from './visit.ts';

export interface DirectDeps {
  readonly schema: GraphQLSchema;
  readonly queries: Queries;
  readonly rendered: RenderedOperations;
  readonly admission: Admission;
  /** Whether a field of the document has a limit of its own, which is not counted here. */
  readonly asksLimited: (document: DocumentNode) => boolean;
  readonly createContext: (visit: Visit, trusted: boolean) => AppContext;
}

/** What became of an operation: its answer, what was charged for it without one, or nothing at all. */
export interface Taken {
  readonly answer?: TextAnswer;
  readonly charged?: QueryCost;
}

const NOTHING: Taken = {};

/**
 * Build the short way for queries of admitted callers without a key: the answer that is kept, or the execution of a document
 * that was parsed and validated before. It makes no request and response objects and asks no hooks; what they would do is
 * done here in the same order: cost, budget, execution, extensions. Whatever is not plain (a document or media type that is
 * new, limited fields, errors) goes the usual way.
 *
 * @throws RateLimitedError, QueryTooComplexError
 */
export function createDirect({ schema, queries, rendered, admission, asksLimited, createContext }: DirectDeps) {
  const charge = async (visit: Visit, { points }: QueryCost): Promise<void> => {
    if (points > DOOR_POINTS) await admission.charge(visit, points - DOOR_POINTS);
  };

  return async (asked: Asked, visit: Visit, accept: string | undefined): Promise<Taken> => {
    const contentType = rendered.mediaTypeOf(accept);
    if (contentType === undefined) return NOTHING;
    const ready = rendered.ready(asked);
    if (ready !== undefined) {
      await charge(visit, ready.cost);
      const end = Buffer.from(endOf(ready.cost, visit));
      return { answer: { contentType, body: Buffer.concat([ready.head, end]), standing: visit.standing } };
    }
    const query = queries.valid(asked.text, 'anonymous');
    if (!query || getOperationAST(query.document, asked.operationName)?.operation !== 'query') return NOTHING;
    if (asksLimited(query.document)) return NOTHING;
    const args = {
      schema,
      document: query.document,
      operationName: asked.operationName,
      variableValues: asked.variables,
      contextValue: createContext(visit, query.points !== undefined),
    };
    const cost = queries.costOf(args, 'anonymous');
    await charge(visit, cost);
    const data = await rendered.execute(args, asked, cost);
    if (data === undefined) return { charged: cost };
    return { answer: { contentType, body: `{"data":${data}${endOf(cost, visit)}`, standing: visit.standing } };
  };
}

function endOf(cost: QueryCost, visit: Visit): string {
  return `,"extensions":${JSON.stringify({ cost, ...budgetExtension(visit, WINDOW_SEC).extensions })}}`;
}
