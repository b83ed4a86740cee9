import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type SubscriptionArgs,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Admission } from '../../limits/admission.ts';
import { countedClient } from '../../limits/clients.ts';
import type { FairQueue } from '../../limits/fair-queue.ts';
import { ADMISSION_POINTS } from '../../limits/points.ts';
import type { Compiler, Execute } from '../compiler.ts';
import type { ExecutionContext } from '../context.ts';

export interface EngineDeps {
  readonly compiler: Compiler;
  readonly admission: Pick<Admission, 'charge'>;
  readonly fairQueue: FairQueue;
  readonly formatError: (error: unknown, correlationId: string) => GraphQLError;
}

/**
 * Execute with graphql-js, and frequent operations with their compiled form. Yoga's default executor takes a result with a
 * field named `then` for a promise, and any caller may name a field so. An event of a subscription waits in the fair queue and is
 * charged before it is executed; the operation has paid for the first one.
 */
export function useEngine({ compiler, admission, fairQueue, formatError }: EngineDeps): Plugin<ExecutionContext> {
  const admitEvent = async ({ info, operation }: ExecutionContext, isFirst: boolean): Promise<void> => {
    await fairQueue.enter(countedClient(info), info.left);
    // The fields of a key have fixed prices, which it has paid when it subscribed.
    const points = info.caller.kind === 'key' ? ADMISSION_POINTS : (operation?.account.points ?? ADMISSION_POINTS);
    if (!isFirst) await admission.charge(info, points);
  };
  const subscribe = async (
    args: SubscriptionArgs,
  ): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!isAsyncIterable(source)) return source as ExecutionResult;
    const context = args.contextValue as ExecutionContext;
    return executed(source, {
      admit: (isFirst) => admitEvent(context, isFirst),
      run: (rootValue) => execute({ ...args, rootValue }),
      failed: (error) => ({ errors: [formatError(error, context.info.correlationId)] }),
    });
  };
  return {
    onExecute({ args, setExecuteFn }) {
      setExecuteFn(compiler.executorOf(args as ExecutionArgs, execute as Execute) as never);
      return {
        onExecuteDone({ result }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined) return;
          // A cacheable answer depends on the snapshot alone, so executing it twice is safe.
          if (args.contextValue.cacheHints.validity() !== undefined) compiler.noteExecuted(args as ExecutionArgs);
        },
      };
    },
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe as never),
  };
}

interface EventSteps {
  /** @throws RateLimitedError when the budget is used up */
  readonly admit: (isFirst: boolean) => Promise<void>;
  readonly run: (event: unknown) => Promise<ExecutionResult> | ExecutionResult;
  readonly failed: (error: unknown) => ExecutionResult;
}

/** The results of the events of a source. A refused event ends them with its error. */
function executed(source: AsyncIterable<unknown>, { admit, run, failed }: EventSteps) {
  const events = source[Symbol.asyncIterator]();
  const over: IteratorResult<ExecutionResult, undefined> = { done: true, value: undefined };
  let isFirst = true;
  let hasEnded = false;
  const results: AsyncIterableIterator<ExecutionResult> = {
    async next() {
      const event = hasEnded ? over : await events.next();
      if (event.done === true) return over;
      try {
        await admit(isFirst);
      } catch (error) {
        hasEnded = true;
        void events.return?.();
        return { done: false, value: failed(error) };
      }
      isFirst = false;
      return { done: false, value: await run(event.value) };
    },
    async return() {
      hasEnded = true;
      await events.return?.();
      return over;
    },
    async throw(error) {
      hasEnded = true;
      await events.return?.();
      throw error;
    },
    [Symbol.asyncIterator]: () => results,
  };
  return results;
}
