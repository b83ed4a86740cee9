import { type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Visit } from '../../limits/request-context.ts';
import type { AppContext } from '../../resolvers/common/context.ts';
import { createSeen } from '../../shared/admission-filter.ts';
import { ownBytes } from '../../shared/bytes.ts';
import { type CacheValidity, isValidAt } from '../../shared/cache-validity.ts';
import { createKept, type Fill } from '../../shared/cached.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Compiler, Execute } from '../compiled.ts';
import type { ServerContext } from '../context.ts';
import { type Asked, keyOf } from '../graphql-request.ts';
import type { QueryCost } from '../queries.ts';

export interface RenderedOptions {
  readonly clock: Clock;
  /** Most bytes of answers kept, their questions included. */
  readonly maxBytes: number;
  /** Absent: everything is interpreted. */
  readonly compiler?: Compiler;
  /** Told of every look-up, for metrics. */
  readonly onLookup?: (hit: boolean) => void;
}

export interface RenderedOperations {
  readonly plugin: Plugin<ServerContext>;
  /** The media type that answers without errors have for an `Accept` header; `undefined` before it was negotiated. */
  mediaTypeOf(accept: string | undefined): string | undefined;
  /** Find the answer to an operation that was asked before. Who sends it charges its cost. */
  ready(asked: Asked): Ready | undefined;
  /** What is kept now. */
  readonly fill: Fill;
}

interface Kept {
  /** `data` as JSON. */
  readonly text: string;
  readonly validity: CacheValidity;
  /** What the operation costs, as told in the extensions. */
  readonly cost: QueryCost;
  /** The answer up to its extensions, made when it is first asked for again. */
  bytes?: Buffer;
}

/** A kept answer, ready to be sent with extensions of its own. */
export interface Ready {
  /** Everything before the extensions. */
  readonly head: Buffer;
  readonly cost: QueryCost;
}

/** A result that brings its own text; Yoga asks for it when it writes the answer. */
type Rendered = ExecutionResult & { stringify(result: ExecutionResult): string };

/** What an entry costs beside its texts. */
const ENTRY_BYTES = 768;
/** Operations remembered at least, to tell those that come back. */
const MAX_ASKED = 10_000;
/** Clients of one kind send one `Accept` header; who sends an unusual one is answered the usual way. */
const MAX_MEDIA_TYPES = 100;
const MAX_ACCEPT_CHARS = 200;
const JSON_TYPE = /^application\/(graphql-response\+)?json\b/;

/**
 * Answer equal operations of callers without a key from text, as long as it holds: equal by document, operation name and
 * variables. Stands behind what admits and charges, so that a repeated answer is limited and counted like any other; its
 * extensions are made anew each time. Answers with errors, of keys, or of anything beside the snapshot are never kept.
 */
export function createRenderedOperations(options: RenderedOptions): RenderedOperations {
  const { clock, maxBytes, compiler, onLookup } = options;
  const kept = createKept<Kept>({
    maxBytes,
    // The text, and the bytes made from it; whatever is not Latin takes two bytes a character.
    bytesOf: ({ text }, key) => 2 * (text.length + key.length) + ENTRY_BYTES,
  });
  /** Media types by `Accept` header, as they were negotiated for what is kept: answers without errors. */
  const mediaTypes = new LRUCache<string, string>({ max: MAX_MEDIA_TYPES });
  const answered = new WeakSet<Visit>();

  const find = (key: string): Kept | undefined => {
    const known = kept.get(key);
    if (known === undefined) return undefined;
    if (isValidAt(known.validity, clock.now())) return known;
    kept.delete(key);
    return undefined;
  };

  // Most of what is asked once is never asked again, and costs the garbage collector more to keep than to make.
  const asked = createSeen(MAX_ASKED);
  const keep = (key: string, text: string, validity: CacheValidity, cost: QueryCost): void => {
    if (!asked(key) || !isValidAt(validity, clock.now())) return;
    kept.set(key, { text, validity, cost });
  };

  const plugin: Plugin<ServerContext> = {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as unknown as AppContext & ServerContext;
      const key = isRepeatable(context, args) ? keyOfParams(context.params) : undefined;
      const known = key === undefined ? undefined : find(key);
      if (key !== undefined) onLookup?.(known !== undefined);
      if (known) {
        answered.add(context.info);
        if (context.operation) context.operation.kept = known.text.length;
        setResultAndStopExecution(withText({ data: {} }, known.text));
        return undefined;
      }
      if (compiler) setExecuteFn(compiler.executorOf(args, executeFn as unknown as Execute) as typeof executeFn);
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined || result.data == null) return;
          const validity = context.cacheHints.validity();
          if (validity === undefined) return;
          compiler?.executed(args);
          if (key === undefined) return;
          const text = JSON.stringify(result.data);
          keep(key, text, validity, result.extensions?.cost as QueryCost);
          answered.add(context.info);
          setResult(withText(result, text));
        },
      };
    },
    onResponse({ request, response, serverContext }) {
      if (response.status !== 200 || !answered.has((serverContext as unknown as ServerContext).info)) return;
      const accept = request.headers.get('accept') ?? '';
      if (accept.length > MAX_ACCEPT_CHARS || mediaTypes.has(accept)) return;
      const contentType = response.headers.get('content-type');
      // An answer told as an event stream is other bytes.
      if (contentType !== null && JSON_TYPE.test(contentType)) mediaTypes.set(accept, contentType);
    },
  };
  return {
    plugin,
    fill: kept,
    mediaTypeOf: (accept) => mediaTypes.get(accept ?? ''),
    ready({ key }) {
      const known = kept.peek(key) === undefined ? undefined : find(key);
      if (!known) return undefined;
      onLookup?.(true);
      known.bytes ??= ownBytes(Buffer.from(`{"data":${known.text}`));
      return { head: known.bytes, cost: known.cost };
    },
  };
}

/** Whether the answer could be somebody else's as well. */
function isRepeatable({ transport, caller }: AppContext & ServerContext, args: ExecutionArgs): boolean {
  if (transport !== 'graphql' || caller.kind !== 'anonymous') return false;
  return getOperationAST(args.document, args.operationName)?.operation === 'query';
}

function withText(result: ExecutionResult, text: string): Rendered {
  return {
    ...result,
    stringify: ({ extensions }) =>
      extensions === undefined ? `{"data":${text}}` : `{"data":${text},"extensions":${JSON.stringify(extensions)}}`,
  };
}

function keyOfParams(params: unknown): string {
  const { query = '', operationName, variables } = params as Params;
  return keyOf(query, operationName, variables);
}

interface Params {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}
