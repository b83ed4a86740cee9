import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';

export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

export interface CompilerDeps {
  readonly now: () => number;
  /** Run a callback when the event loop is idle. */
  readonly later: (work: () => void) => void;
}

export interface Compiler {
  /** The executor of an operation: the compiled one if there is one, otherwise `execute`. */
  executorOf(args: ExecutionArgs, execute: Execute): Execute;
  /** Count the execution of an operation that may safely be executed twice. Frequent ones are compiled. */
  noteExecuted(args: ExecutionArgs): void;
}

interface Operation {
  count: number;
  compiled: CompiledQuery | undefined;
}

/** Compiling costs some ten executions, so an operation has to be repeated first. */
const MIN_EXECUTIONS = 2;
/** Minimum time between two compilations, ms. A client that always sends new queries gets them interpreted. */
const PAUSE_MS = 100;
const MAX_OPERATIONS = 500;
/**
 * Maximum total size of the documents, in characters: a compiled operation takes some 25 bytes per character, and its document
 * more.
 */
const MAX_CHARS = 200_000;

/**
 * Compile frequent operations to functions. A compiled operation returns the same as an interpreted one, except that its
 * errors lack their location in the document: an answer with errors is executed again by the interpreter.
 */
export function createCompiler({ now, later }: CompilerDeps): Compiler {
  const operations = new LRUCache<string, Operation>({ max: MAX_OPERATIONS, maxSize: MAX_CHARS });
  const ids = new WeakMap<DocumentNode, number>();
  let lastId = 0;
  let readyAtMs = 0;

  const keyOf = ({ document, operationName }: ExecutionArgs): string => {
    let id = ids.get(document);
    if (id === undefined) {
      lastId += 1;
      id = lastId;
      ids.set(document, id);
    }
    return `${id} ${operationName ?? ''}`;
  };
  const compile = (args: ExecutionArgs, operation: Operation): void => {
    if (operation.compiled || now() < readyAtMs) return;
    readyAtMs = now() + PAUSE_MS;
    const compiled = compileQuery(args.schema, args.document, args.operationName ?? undefined, {
      // Stack traces of resolver errors are not used.
      disablingCapturingStackErrors: true,
    });
    if (isCompiledQuery(compiled)) operation.compiled = compiled as CompiledQuery;
    // Compilation failed, and is not tried again.
    else operation.count = Number.NEGATIVE_INFINITY;
  };

  return {
    executorOf(args, execute) {
      const compiled = operations.get(keyOf(args))?.compiled;
      if (!compiled) return execute;
      return (given) => {
        const result = compiled.query(given.rootValue, given.contextValue, given.variableValues);
        const checked = (made: ExecutionResult) => (made.errors === undefined ? made : execute(given));
        return result instanceof Promise ? result.then(checked) : checked(result);
      };
    },
    noteExecuted(args) {
      const key = keyOf(args);
      const known = operations.get(key);
      if (known?.compiled) return;
      const operation = known ?? { count: 0, compiled: undefined };
      operation.count += 1;
      if (!known) operations.set(key, operation, { size: args.document.loc?.source.body.length || 1 });
      if (operation.count >= MIN_EXECUTIONS) later(() => compile(args, operation));
    },
  };
}
