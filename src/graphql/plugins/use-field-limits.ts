import { type Store, useRateLimiter } from '@envelop/rate-limiter';
import { BREAK, type DocumentNode, GraphQLError, type GraphQLSchema, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { clientIdentity, RateLimitedError } from '../../limits/budgets.ts';
import { needsKey } from '../../limits/field-scopes.ts';
import { type Limits, type Tier, type TierLimits, tierOf, WINDOW_SEC } from '../../limits/limits.ts';
import type { ServerContext } from '../context.ts';

export interface FieldLimitsDeps {
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
}

type OnExecute = NonNullable<Plugin<ServerContext>['onExecute']>;

/** Maximum number of counters (field and client). */
const MAX_ENTRIES = 20_000;

/**
 * Limit how often a client calls the fields that ask an upstream or a chain, per tier. Every alias counts. The limit is per
 * process; the client's budget is shared.
 */
export function useFieldLimits({ schema, limits }: FieldLimitsDeps): Plugin<ServerContext> {
  const calls = new LRUCache<string, number[]>({ max: MAX_ENTRIES, ttl: WINDOW_SEC * 1000 });
  const keyOf = (identity: { contextIdentity: string; fieldIdentity: string }) =>
    `${identity.contextIdentity} ${identity.fieldIdentity}`;
  const store: Store = {
    getForIdentity: (identity) => calls.get(keyOf(identity)) ?? [],
    setForIdentity: (identity, timestamps) => {
      calls.set(keyOf(identity), [...timestamps]);
    },
  };
  const pluginOf = (tier: Tier) =>
    useRateLimiter({
      identifyFn: (context) => clientIdentity((context as ServerContext).info),
      configByField: configOf(schema, limits[tier]),
      store,
      onRateLimitError({ type, field }) {
        throw refusal(`${type.name}.${field.name}`, tier, limits[tier]);
      },
    });
  const plugins = {
    anonymous: pluginOf('anonymous'),
    partner: pluginOf('partner'),
    ops: pluginOf('ops'),
  };
  const limited = new Set(Object.values(limits).flatMap((of) => configOf(schema, of).map(({ field }) => field)));
  const asking = new WeakMap<DocumentNode, boolean>();
  /** Computed once per document, because most have no limited field. */
  const asksLimited = (document: DocumentNode): boolean => {
    let found = asking.get(document);
    if (found === undefined) {
      found = namesAny(document, limited);
      asking.set(document, found);
    }
    return found;
  };
  return {
    onExecute(payload) {
      const tier = tierOf(payload.args.contextValue.info.caller);
      if (limits[tier].points === 0 || !asksLimited(payload.args.document)) return undefined;
      return plugins[tier].onExecute?.(payload as never) as ReturnType<OnExecute>;
    },
  };
}

function namesAny(document: DocumentNode, fields: ReadonlySet<string>): boolean {
  let found = false;
  visit(document, {
    Field({ name }) {
      if (!fields.has(name.value)) return undefined;
      found = true;
      return BREAK;
    },
  });
  return found;
}

/** The limited fields of a tier: the named ones, and every other root field that needs a key. */
export function configOf(
  schema: GraphQLSchema,
  limits: TierLimits,
): { type: string; field: string; max: number; window: string }[] {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  return roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const named = limits.calls[`${root?.name}.${field.name}`];
      const max = named ?? (needsKey(field) ? limits.keyedCalls : undefined);
      return max === undefined ? [] : [{ type: String(root?.name), field: field.name, max, window: `${WINDOW_SEC}s` }];
    }),
  );
}

function refusal(coordinate: string, tier: Tier, limits: TierLimits): GraphQLError {
  const limit = limits.calls[coordinate] ?? limits.keyedCalls;
  const error = new RateLimitedError(
    { scope: 'field', policy: tier, limit, windowSec: WINDOW_SEC, field: coordinate },
    WINDOW_SEC,
  );
  return new GraphQLError(error.message, { originalError: error });
}
