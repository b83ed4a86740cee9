import { isAsyncIterable } from '@envelop/core';
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Admission } from '../../limits/admission.ts';
import type { ServerContext } from '../context.ts';

export interface StreamKeysOptions {
  readonly admission: Pick<Admission, 'follow'>;
  readonly formatError: (error: unknown, correlationId: string) => GraphQLError;
}

/**
 * End the streams of a key when it is no longer accepted, with the error as last event. A key with a public operation counts as
 * well: its stream has the limits of the key, and a new one those of the address.
 */
export function useStreamKeys({ admission, formatError }: StreamKeysOptions): Plugin<ServerContext> {
  return {
    onSubscribe({ args }) {
      const { info } = args.contextValue as unknown as ServerContext;
      if (info.caller.kind !== 'key') return undefined;
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return;
          setResult(
            endable(result as AsyncIterable<ExecutionResult>, (end) =>
              admission.follow(info, (why) => end({ errors: [formatError(why, info.correlationId)] })),
            ),
          );
        },
      };
    },
  };
}

/**
 * Pass on the values of a source until it ends or is ended, which adds one last value. `follow` returns the function to call
 * at the end.
 */
function endable<T>(
  source: AsyncIterable<T>,
  follow: (end: (last: T) => void) => () => void,
): AsyncIterableIterator<T> {
  const inner = source[Symbol.asyncIterator]();
  const over: IteratorResult<T, undefined> = { done: true, value: undefined };
  let last: IteratorResult<T, undefined> | null = null;
  let wake: ((result: IteratorResult<T, undefined>) => void) | null = null;
  const takeLast = (): IteratorResult<T, undefined> => {
    const result = last ?? over;
    last = over;
    return result;
  };
  const unfollow = follow((value) => {
    if (last !== null) return;
    last = { done: false, value };
    void inner.return?.();
    wake?.(takeLast());
    wake = null;
  });
  const finish = (): void => {
    last ??= over;
    unfollow();
  };
  return {
    next() {
      if (last !== null) return Promise.resolve(takeLast());
      return new Promise((resolve, reject) => {
        wake = resolve;
        inner.next().then(
          (result) => {
            wake = null;
            if (result.done === true) finish();
            // The stream was ended meanwhile: this value is dropped.
            resolve(last === null ? result : takeLast());
          },
          (error: unknown) => {
            wake = null;
            finish();
            reject(error);
          },
        );
      });
    },
    async return() {
      finish();
      await inner.return?.();
      return over;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
