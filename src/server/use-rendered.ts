import { type DocumentNode, type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql';
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
  /** How long the answer to a visit's latest execution holds. */
  holdsOf(visit: Visit): Collected | undefined;
}

interface Kept {
  /** `data` as JSON. */
  readonly text: string;
  readonly holds: Collected;
}

/** A result that brings its own text; Yoga asks for it when it writes the answer. */
type Rendered = ExecutionResult & { stringify(result: ExecutionResult): string };

const OVERHEAD_BYTES = 512;

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
  const collected = new WeakMap<Visit, Collected>();
  const numbered = numberDocuments();

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
      const key = isRepeatable(context, args)
        ? `${numbered(args.document)} ${args.operationName ?? ''} ${JSON.stringify(args.variableValues ?? {})}`
        : undefined;
      const known = key === undefined ? undefined : find(key);
      if (known) {
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
          kept.set(key, { text, holds });
          setResult(withText(result, text));
        },
      };
    },
  };
  return { plugin, holdsOf: (visit) => collected.get(visit) };
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

/** Documents are parsed once per text: the same object is the same text. */
function numberDocuments(): (document: DocumentNode) => number {
  const numbers = new WeakMap<DocumentNode, number>();
  let last = 0;
  return (document) => {
    let number = numbers.get(document);
    if (number === undefined) {
      last += 1;
      number = last;
      numbers.set(document, number);
    }
    return number;
  };
}
