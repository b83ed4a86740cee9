import type { AnswerCache } from '../http/answer-cache.ts';
import { chooseEncoding } from '../http/compression.ts';
import { closeBody, type OpenBody } from '../http/open-encoding.ts';
import type { Admission } from '../limits/admission.ts';
import { ADMISSION_POINTS, BYTES_PER_POINT, COST_PER_POINT } from '../limits/points.ts';
import { budgetExtension, budgetHeaders, type RequestContext } from '../limits/request-context.ts';
import { type Limits, tierOf, WINDOW_SEC } from '../limits/tier-limits.ts';
import type { RestRequest, RestResponse } from '../rest/types.ts';
import { answerKey, readGraphQLRequest } from './graphql-request.ts';
import type { Introspection } from './introspection.ts';
import { jsonTypeFor } from './media-type.ts';
import type { QueryCost } from './queries.ts';

export interface CachedAnswersDeps {
  /** Absent: only introspection is answered here. */
  readonly cache?: AnswerCache | undefined;
  /** Absent: introspection is off. */
  readonly introspection?: Introspection | undefined;
  readonly admission: Pick<Admission, 'charge'>;
  readonly limits: Limits;
  /** Returns the text of a persisted operation by its id. */
  readonly textOf: (id: string) => string | undefined;
  /** Whether callers without a key may send documents that are not persisted. */
  readonly anyDocument: boolean;
  /** Called on every operation that is answered from the cache, for metrics. */
  readonly onHit?: (() => void) | undefined;
}

/** Serialized data, with its cost for the extensions. */
interface ReadyData {
  /** The answer without its extensions. */
  readonly bytes: Buffer;
  readonly cost: QueryCost;
  readonly isCached: boolean;
  /** The same bytes compressed. */
  readonly open?: OpenBody | undefined;
}

/** Operation names that the standard introspection query may be sent with. */
const INTROSPECTION_NAMES: ReadonlySet<string | undefined> = new Set([undefined, 'IntrospectionQuery']);
const INTROSPECTION_POINTS = 5;
const INTROSPECTION_COST = INTROSPECTION_POINTS * COST_PER_POINT;

/**
 * Create the path for answers without an execution: operations with cached data, and the introspection query of common tools.
 * They are charged for the bytes.
 */
export function createCachedAnswers(deps: CachedAnswersDeps) {
  const { cache, introspection, admission, limits, textOf, anyDocument, onHit } = deps;

  const readIntrospection = (params: unknown, { caller }: RequestContext): ReadyData | undefined => {
    if (introspection === undefined || (!anyDocument && caller.kind !== 'key')) return undefined;
    const request = readGraphQLRequest(params, textOf);
    if (request === undefined || !INTROSPECTION_NAMES.has(request.operationName)) return undefined;
    const bytes = introspection.find(request.text);
    const cost = { cost: INTROSPECTION_COST, limit: limits[tierOf(caller)].cost, points: INTROSPECTION_POINTS };
    return bytes && { bytes, cost, isCached: false };
  };
  const readCached = (params: unknown, { authorization }: RequestContext): ReadyData | undefined => {
    // The answer to a request with a key may depend on its tier.
    if (cache === undefined || authorization !== undefined) return undefined;
    const request = readGraphQLRequest(params, textOf);
    if (request === undefined || (!anyDocument && !request.isPersisted)) return undefined;
    const found = cache.find(answerKey(request.text, request.operationName, request.variables));
    if (found === undefined) return undefined;
    const { bytes } = found.bodies.identity;
    return {
      bytes,
      cost: { ...found.cost, points: Math.ceil(bytes.length / BYTES_PER_POINT) },
      isCached: true,
      open: found.open,
    };
  };

  /**
   * Answer one operation or a batch when every part is cached. `undefined` = it has to be executed.
   * @throws RateLimitedError
   */
  return async (
    params: unknown,
    requestContext: RequestContext,
    headers: RestRequest['headers'],
  ): Promise<RestResponse | undefined> => {
    const contentType = jsonTypeFor(headers.accept);
    if (contentType === undefined) return undefined;
    const operations: readonly unknown[] = Array.isArray(params) ? params : [params];
    const ready: ReadyData[] = [];
    for (const operation of operations) {
      const found =
        readCached(operation, requestContext) ??
        (Array.isArray(params) ? undefined : readIntrospection(params, requestContext));
      if (found === undefined) return undefined;
      ready.push(found);
    }
    for (const { isCached } of ready) if (isCached) onHit?.();
    // The admission point of every operation is paid already.
    const due = ready.reduce((sum, { cost }) => sum + cost.points - ADMISSION_POINTS, 0);
    if (due > 0) await admission.charge(requestContext, due);
    const { extensions: budget } = budgetExtension(requestContext, WINDOW_SEC);
    const parts = ready.map(({ bytes, cost, open }) => {
      const end = Buffer.from(`,"extensions":${JSON.stringify({ cost, ...budget })}}`);
      return { bytes, end, open };
    });
    const isBatch = Array.isArray(params);
    const encoded = isBatch ? undefined : encodedAnswer(parts[0], headers['accept-encoding']);
    return {
      status: 200,
      headers: {
        'content-type': contentType,
        'cache-control': 'no-store',
        ...budgetHeaders(requestContext, WINDOW_SEC),
        ...encoded?.headers,
      },
      body: encoded?.body ?? (isBatch ? listOf(parts) : parts.flatMap(({ bytes, end }) => [bytes, end])),
    };
  };
}

interface Part {
  readonly bytes: Buffer;
  readonly end: Buffer;
  readonly open: OpenBody | undefined;
}

/** Limit of an uncompressed end. */
const MAX_END_BYTES = 65_535;

/** The answer from its compressed bytes, if the caller takes them. */
function encodedAnswer(part: Part | undefined, accepted: string | undefined) {
  const open = part?.open;
  if (!part || !open || part.end.length > MAX_END_BYTES) return undefined;
  const encoding = chooseEncoding(accepted, (name) => name !== 'identity' && open[name].length < part.bytes.length);
  if (encoding === 'identity') return undefined;
  return { headers: { 'content-encoding': encoding }, body: closeBody(open, encoding, part.end) };
}

/** Join the answers of a batch to one JSON list. */
function listOf(parts: readonly Part[]): Buffer[] {
  const joined = parts.flatMap(({ bytes, end }, i) => [Buffer.from(i === 0 ? '[' : ','), bytes, end]);
  return [...joined, Buffer.from(']')];
}
