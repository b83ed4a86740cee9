import { GraphQLInt, GraphQLObjectType, GraphQLSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { Compiler } from '../../src/graphql/compiler.ts';
import type { ExecutionContext } from '../../src/graphql/context.ts';
import { useEngine } from '../../src/graphql/plugins/use-engine.ts';
import { toGraphQLError } from '../../src/http/errors.ts';
import { RateLimitedError } from '../../src/limits/budgets.ts';
import { silentLogger } from '../../src/shared/logger.ts';

/** The events of a stream: each waits in the queue and is charged before it is executed. */

const steps: string[] = [];
const field = {
  type: GraphQLInt,
  resolve: (event: unknown) => {
    steps.push(`execute ${event}`);
    return event;
  },
};
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { tick: field } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      tick: {
        ...field,
        subscribe: async function* () {
          for (let event = 1; ; event += 1) yield event;
        },
      },
    },
  }),
});

/** Subscribe with the plugin's engine, with points for so many events after the first one. */
async function streamOf(kind: 'anonymous' | 'key', affordable: number) {
  steps.length = 0;
  let left = affordable;
  const plugin = useEngine({
    compiler: {} as Compiler,
    admission: {
      charge: async (_info, points) => {
        if (left === 0) {
          throw new RateLimitedError({ scope: 'client', policy: 'anonymous', limit: 600, windowSec: 60 }, 30);
        }
        left -= 1;
        steps.push(`charge ${points}`);
        return points;
      },
    },
    fairQueue: { enter: async () => void steps.push('wait'), enterOrRefusal: async () => null },
    formatError: (error, correlationId) => toGraphQLError(error, correlationId, silentLogger),
  });
  const caller = kind === 'key' ? { kind, keyId: 'k', tier: 'partner' } : { kind };
  const contextValue = {
    info: { correlationId: 'c', caller, clientIp: '127.0.0.1' },
    operation: { account: { points: 7 } },
  } as unknown as ExecutionContext;
  let subscribe: ((args: object) => Promise<AsyncIterableIterator<{ data?: unknown; errors?: unknown }>>) | undefined;
  plugin.onSubscribe?.({
    setSubscribeFn: (own: never) => {
      subscribe = own;
    },
  } as never);
  return subscribe?.({ schema, document: parse('subscription { tick }'), contextValue });
}

test('behavior: the operation has paid for the first event, and each further one is charged as it', async () => {
  const stream = await streamOf('anonymous', 5);
  expect([await stream?.next(), await stream?.next()]).toMatchObject([
    { value: { data: { tick: 1 } } },
    { value: { data: { tick: 2 } } },
  ]);
  expect(steps).toEqual(['wait', 'execute 1', 'wait', 'charge 7', 'execute 2']);
  await stream?.return?.();
  expect(await stream?.next()).toEqual({ done: true, value: undefined });
});

test('behavior: of a key each event is a point', async () => {
  const stream = await streamOf('key', 5);
  await stream?.next();
  await stream?.next();
  expect(steps).toContain('charge 1');
});

test('error: a budget that is used up ends the stream with its error, before the event is executed', async () => {
  const stream = await streamOf('anonymous', 0);
  await stream?.next();
  expect(await stream?.next()).toMatchObject({ value: { errors: [{ extensions: { code: 'rate_limited' } }] } });
  expect(await stream?.next()).toEqual({ done: true, value: undefined });
  expect(steps).toEqual(['wait', 'execute 1', 'wait']);
});
