import { type Store, useRateLimiter } from '@envelop/rate-limiter';
import {
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { RateLimitedError } from '../../limits/budgets.ts';
import { type CountedClient, countedClient, NETWORK_CLIENTS } from '../../limits/clients.ts';
import { needsKey } from '../../limits/field-scopes.ts';
import { type Limits, type Tier, type TierLimits, tierOf, WINDOW_SEC } from '../../limits/tier-limits.ts';
import type { ServerContext } from '../context.ts';

export interface FieldLimitsDeps {
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
}

type OnExecute = NonNullable<Plugin<ServerContext>['onExecute']>;

/** Maximum number of counters (field and client). */
const MAX_ENTRIES = 20_000;

/**
 * Limit how often a client calls the fields that ask an upstream or a chain, per tier. Root fields are counted before the
 * execution, every alias by itself. A field below the root is counted when it is resolved, once per object of a list and per
 * event of a subscription. The limit is per process; the client's budget is shared.
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
  /** @param clients how many clients have one counter */
  const pluginOf = (tier: Tier, clients: number, identityOf: (client: CountedClient) => string) =>
    useRateLimiter({
      identifyFn: (context) => identityOf(countedClient((context as ServerContext).info)),
      configByField: configOf(schema, limits[tier]).map((field) => ({ ...field, max: clients * field.max })),
      store,
      onRateLimitError({ type, field }) {
        throw refusal(`${type.name}.${field.name}`, tier, limits[tier], clients);
      },
    });
  const ofClient = (tier: Tier) => pluginOf(tier, 1, ({ identity }) => identity);
  const plugins = { anonymous: ofClient('anonymous'), partner: ofClient('partner'), ops: ofClient('ops') };
  const ofNetwork = pluginOf('anonymous', NETWORK_CLIENTS, ({ network = '' }) => network);
  const limitedFields = new Set(
    Object.values(limits).flatMap((of) => configOf(schema, of).map(({ type, field }) => `${type}.${field}`)),
  );
  const asking = new WeakMap<DocumentNode, boolean>();
  /** Computed once per document, because most have no limited field. */
  const asksLimited = (document: DocumentNode): boolean => {
    let found = asking.get(document);
    if (found === undefined) {
      found = asksAny(schema, document, limitedFields);
      asking.set(document, found);
    }
    return found;
  };
  /** Count one call of a field below the root. Refused calls are not counted. @throws RateLimitedError */
  const countCall = ({ info }: ServerContext, coordinate: string): void => {
    const tier = tierOf(info.caller);
    const max = limits[tier].calls[coordinate];
    if (limits[tier].points === 0 || max === undefined) return;
    const { identity, network } = countedClient(info);
    const nowMs = Date.now();
    const counters: (readonly [identity: string, clients: number])[] = [[identity, 1]];
    if (network !== undefined) counters.push([network, NETWORK_CLIENTS]);
    const counted = counters.map(([contextIdentity, clients]) => {
      const key = keyOf({ contextIdentity, fieldIdentity: nameOf(coordinate) });
      const recent = (calls.get(key) ?? []).filter((atMs) => atMs + WINDOW_SEC * 1_000 > nowMs);
      if (recent.length >= clients * max) throw limited(coordinate, tier, limits[tier], clients);
      return { key, times: [...recent, nowMs] };
    });
    for (const { key, times } of counted) calls.set(key, times);
  };
  const counterOf = (context: ServerContext) => ({
    countCall: (coordinate: string) => countCall(context, coordinate),
  });
  return {
    onSubscribe({ args, extendContext }) {
      extendContext(counterOf(args.contextValue as unknown as ServerContext) as never);
    },
    onExecute(payload) {
      payload.extendContext(counterOf(payload.args.contextValue) as never);
      const tier = tierOf(payload.args.contextValue.info.caller);
      if (limits[tier].points === 0 || !asksLimited(payload.args.document)) return undefined;
      // The library takes arguments from the variables as they are, without the defaults of the document.
      const args = { ...payload.args, variableValues: coercedVariables(payload.args as unknown as ExecutionArgs) };
      const count = (plugin: typeof ofNetwork) =>
        plugin.onExecute?.({ ...payload, args } as never) as ReturnType<OnExecute>;
      const counted = count(plugins[tier]);
      if (countedClient(payload.args.contextValue.info).network === undefined) return counted;
      return Promise.resolve(counted).then(() => count(ofNetwork));
    },
  };
}

/** @param fields by coordinate: fields of the same name are common further down */
function asksAny(schema: GraphQLSchema, document: DocumentNode, fields: ReadonlySet<string>): boolean {
  let found = false;
  const types = new TypeInfo(schema);
  const visitor = {
    Field: ({ name }: FieldNode) => {
      found ||= fields.has(`${types.getParentType()?.name}.${name.value}`);
      return found ? BREAK : undefined;
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
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

/** The variables with their defaults; as they are when they do not fit, which the query limits have refused before. */
function coercedVariables({ schema, document, operationName, variableValues = {} }: ExecutionArgs) {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  return getVariableValues(schema, definitions, variableValues ?? {}, { maxErrors: 1 }).coerced ?? variableValues;
}

function nameOf(coordinate: string): string {
  return coordinate.slice(coordinate.indexOf('.') + 1);
}

function limited(coordinate: string, tier: Tier, limits: TierLimits, clients: number): RateLimitedError {
  const limit = clients * (limits.calls[coordinate] ?? limits.keyedCalls);
  return new RateLimitedError(
    { scope: 'field', policy: tier, limit, windowSec: WINDOW_SEC, field: coordinate },
    WINDOW_SEC,
  );
}

function refusal(coordinate: string, tier: Tier, limits: TierLimits, clients: number): GraphQLError {
  const error = limited(coordinate, tier, limits, clients);
  return new GraphQLError(error.message, { originalError: error });
}
