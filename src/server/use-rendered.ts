import { type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { collectIn } from '../resolvers/collect.ts';
import type { AppContext } from '../resolvers/context.ts';
import type { Collected } from '../resolvers/validity.ts';
import type { Clock } from '../shared/clock.ts';
import type { Compiler, Execute } from './compiled.ts';
import type { ServerContext } from './server-context.ts';
import type { Visit } from './visit.ts';

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
  /**
   * Find the answer to what the front door has read of a request, when it was given before in the same form. Who sends it
   * charges its cost.
   */
  ready(params: unknown, accept: string | undefined, textOf: (id: string) => string | undefined): Ready | undefined;
  /** How long the answer to a visit's latest execution holds. */
  holdsOf(visit: Visit): Collected | undefined;
}

interface Kept {
  /** `data` as JSON. */
  readonly text: string;
  readonly holds: Collected;
  /** What the operation costs, as told in the extensions. */
  readonly cost: unknown;
  /** Media types by `Accept` header, as they were negotiated. */
  readonly mediaTypes: Map<string, string>;
  /** The answer up to its extensions, made when it is first asked for again. */
  bytes?: Buffer;
}

/** A kept answer, ready to be sent with extensions of its own. */
export interface Ready {
  /** Everything before the extensions. */
  readonly head: Buffer;
  readonly contentType: string;
  readonly cost: unknown;
}

/** A result that brings its own text; Yoga asks for it when it writes the answer. */
type Rendered = ExecutionResult & { stringify(result: ExecutionResult): string };

const OVERHEAD_BYTES = 512;
/** Clients of one kind send one `Accept` header. */
const MAX_MEDIA_TYPES = 8;

/**
 * Answer equal operations of callers without a key from text, as long as it holds: equal by document, operation name and
 * variables. Stands behind what admits and charges, so that a repeated answer is limited and counted like any other; its
 * extensions are made anew each time. Answers with errors, of keys, or of anything beside the snapshot are never kept.
 */
export function createRenderedOperations(options: RenderedOptions): RenderedOperations {
  const { clock, maxBytes, compiler, onLookup } = options;
  const kept = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ text }, key) => 2 * (text.length + key.length) + OVERHEAD_BYTES,
  });
  const answered = new WeakMap<Visit, Kept>();
  const collected = new WeakMap<Visit, Collected>();

  const find = (key: string): Kept | undefined => {
    const known = kept.get(key);
    const holds = known !== undefined && clock.now() < known.holds.untilMs && known.holds.holds();
    onLookup?.(holds);
    if (known && !holds) kept.delete(key);
    return holds ? known : undefined;
  };

  const plugin: Plugin<ServerContext> = {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as unknown as AppContext & ServerContext;
      const key = isRepeatable(context, args) ? keyOf(context.params as Params) : undefined;
      const known = key === undefined ? undefined : find(key);
      if (known) {
        answered.set(context.info, known);
        setResultAndStopExecution(withText({ data: {} }, known.text));
        return undefined;
      }
      const holds = collectIn(context);
      collected.set(context.info, holds);
      if (compiler) setExecuteFn(compiler.executorOf(args, executeFn as unknown as Execute) as typeof executeFn);
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined || result.data == null) return;
          if (holds.reusable) compiler?.executed(args);
          if (key === undefined || !holds.reusable || clock.now() >= holds.untilMs || !holds.holds()) return;
          const text = JSON.stringify(result.data);
          const one: Kept = { text, holds, cost: result.extensions?.cost, mediaTypes: new Map() };
          kept.set(key, one);
          answered.set(context.info, one);
          setResult(withText(result, text));
        },
      };
    },
    onResponse({ request, response, serverContext }) {
      const one = answered.get((serverContext as unknown as ServerContext).info);
      const contentType = response.headers.get('content-type');
      if (!one || contentType === null || response.status !== 200 || one.mediaTypes.size >= MAX_MEDIA_TYPES) return;
      one.mediaTypes.set(request.headers.get('accept') ?? '', contentType);
    },
  };
  return {
    plugin,
    holdsOf: (visit) => collected.get(visit),
    ready(params, accept, textOf) {
      if (!isParams(params)) return undefined;
      const { query, documentId } = params;
      const text = query ?? (typeof documentId === 'string' ? textOf(documentId) : undefined);
      const key = text === undefined ? undefined : keyOf({ ...params, query: text });
      const known = key === undefined ? undefined : kept.get(key);
      const contentType = known?.mediaTypes.get(accept ?? '');
      if (known === undefined || key === undefined || contentType === undefined || !find(key)) return undefined;
      known.bytes ??= Buffer.from(`{"data":${known.text}`);
      return { head: known.bytes, contentType, cost: known.cost };
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

interface Params {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
  readonly documentId?: unknown;
}

const KNOWN_PARAMS: ReadonlySet<string> = new Set(['query', 'operationName', 'variables', 'documentId']);

/** One operation and nothing beside it that could mean something. */
function isParams(params: unknown): params is Params {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return false;
  const { query, operationName } = params as Record<string, unknown>;
  return (
    (query === undefined || typeof query === 'string') &&
    (operationName == null || typeof operationName === 'string') &&
    Object.keys(params).every((name) => KNOWN_PARAMS.has(name))
  );
}

function keyOf({ query = '', operationName, variables }: Params): string {
  return `${operationName ?? ''} ${JSON.stringify(variables ?? {})} ${query}`;
}
