import type { Config } from '../config/config.ts';
import type { PersistedOperation } from '../graphql/yoga.ts';
import type { KeyService } from '../keys/verify-key.ts';
import { type Admission, createAdmission } from '../limits/admission.ts';
import { createBudgets } from '../limits/budgets.ts';
import { type CountedClient, countedAddress, countedClient } from '../limits/clients.ts';
import type { FairQueue } from '../limits/fair-queue.ts';
import { createMemoryLimiters, createRedisLimiters } from '../limits/limiters.ts';
import { ADMISSION_POINTS, pointsOf } from '../limits/points.ts';
import {
  budgetHeaders,
  openRequestContext,
  type RateLimitStatus,
  type RequestContext,
} from '../limits/request-context.ts';
import { createLimits, type Limits, tierOf, WINDOW_SEC } from '../limits/tier-limits.ts';
import { withUsage } from '../limits/usage.ts';
import { onceAlive } from '../redis/connection.ts';
import type { RedisConnections } from '../redis/connections.ts';
import type { AnyRoute, Entry, RestRequest, RestSurface } from '../rest/types.ts';
import type { KeyUsage } from '../services/key-usage.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { bearerOf, type RequestInfo } from '../shared/request-info.ts';

export interface GatewayDeps {
  readonly config: Config;
  readonly keys: Pick<KeyService, 'verify'> & Partial<Pick<KeyService, 'watch' | 'knows' | 'accepted'>>;
  /** Counts the use of keys. Absent: nothing is counted. */
  readonly usage?: Pick<KeyUsage, 'note'> | undefined;
  readonly clock: Clock;
  readonly fairQueue: FairQueue;
  /** `undefined` = limits are counted by this process. */
  readonly redisConnections: RedisConnections | undefined;
  readonly logger: Logger;
  /** Called with each error that refuses a REST request, for metrics. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Called on every charge that this process counts while Redis does not answer, for metrics. */
  readonly onInsured?: (() => void) | undefined;
}

/** An admitted REST request, with the context of its execution. */
export interface RestEntry extends Entry {
  readonly requestContext: RequestContext;
}

export interface Gateway {
  readonly limits: Limits;
  readonly admission: Admission;
  /** Admit or refuse a REST request. Never throws. */
  admitRest(
    request: RestRequest,
    route: { readonly surface: RestSurface; readonly operation: string } | null,
  ): Promise<RestEntry>;
  /** The client of a key that was accepted before, by its header; `undefined` = none was. */
  keyOf(authorization: string): CountedClient | undefined;
  /** The client of a request before its key is checked: a key that was accepted before is one, any other counts as its address. */
  clientOf(info: Pick<RequestInfo, 'clientIp' | 'authorization'>): CountedClient;
  /**
   * Wait in the fair queue, before the key is checked.
   * @throws CallerLeftError, RateLimitedError
   */
  turn(request: Pick<RestRequest, 'clientIp' | 'headers' | 'left'>): Promise<void>;
  /**
   * The status of a caller without points left; `undefined` = it may have some. A key that was accepted before has a budget of
   * its own, any other is charged to its address.
   */
  exhausted(clientIp: string, authorization: string | undefined): RateLimitStatus | undefined;
  /**
   * Charge a request for a file to its address.
   * @returns the headers of its budget
   * @throws RateLimitedError
   */
  chargeFile(request: RestRequest, points: number): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
}

/** Points of each persisted operation: those of the REST row that executes it. */
export function persistedOperations(
  manifest: Readonly<Record<string, { readonly sha256: string; readonly document: string }>>,
  routes: readonly AnyRoute[],
): ReadonlyMap<string, PersistedOperation> {
  const surfaces = new Map(routes.map(({ operation, surface }) => [operation, surface]));
  return new Map(
    Object.entries(manifest).map(([name, { sha256, document }]) => [
      name,
      { sha256, document, points: pointsOf(name, surfaces.get(name) ?? 'Public') },
    ]),
  );
}

/** Wire keys, limits and budgets: shared through Redis if configured, otherwise local to this process. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { config, keys, clock, fairQueue, redisConnections, logger, onError, onInsured } = deps;
  const { env } = config;
  const limits = createLimits({
    anonymous: env.RATE_LIMIT_ANONYMOUS,
    partner: env.RATE_LIMIT_PARTNER,
    ops: env.RATE_LIMIT_OPS,
  });
  const redis = redisConnections?.connect('rate-limits');
  const limiters =
    redis === undefined || redisConnections === undefined
      ? createMemoryLimiters({ limits, clock })
      : createRedisLimiters({
          limits,
          clock,
          redis,
          prefix: redisConnections.prefix,
          onceAlive: (resume) => onceAlive(redis, resume),
          onInsured,
        });
  const counted = createBudgets({ limits, limiters, clock, logger });
  const budgets = deps.usage ? withUsage(counted, deps.usage) : counted;
  const admission = createAdmission({
    verify: (header) => keys.verify(header),
    watch: keys.watch,
    knows: keys.knows,
    budgets,
    onAdmission: (keyId) => deps.usage?.note(keyId, { calls: 1 }),
  });
  const keyOf: Gateway['keyOf'] = (authorization) => {
    const key = keys.accepted?.(authorization);
    return key ? { tier: key.tier, identity: key.keyId } : undefined;
  };
  const clientOf: Gateway['clientOf'] = ({ clientIp, authorization }) =>
    (authorization === undefined ? undefined : keyOf(authorization)) ?? countedAddress(clientIp);
  return {
    limits,
    admission,
    keyOf,
    clientOf,
    turn: ({ clientIp, headers, left }) =>
      fairQueue.enter(clientOf({ clientIp, authorization: bearerOf(headers.authorization) }), left),
    async admitRest(request, route) {
      const requestContext = openRequestContext({
        correlationId: request.correlationId,
        clientIp: request.clientIp,
        authorization: bearerOf(request.headers.authorization),
        left: request.left,
        needsKey: request.needsKey,
      });
      const points = route === null ? ADMISSION_POINTS : pointsOf(route.operation, route.surface);
      let refusal: unknown = null;
      try {
        await admission.admit(requestContext, route?.surface ?? 'Public', points);
      } catch (error) {
        refusal = error;
        onError?.(error);
      }
      const keyed = requestContext.authorization !== undefined;
      return {
        refusal,
        headers: () => budgetHeaders(requestContext, WINDOW_SEC),
        turn: () => fairQueue.enter(countedClient(requestContext), requestContext.left),
        async giveBack() {
          const counted = Math.min(points, limits[tierOf(requestContext.caller)].points);
          if (counted > ADMISSION_POINTS) await admission.refund(requestContext, counted - ADMISSION_POINTS);
        },
        keyed,
        requestContext,
      };
    },
    exhausted(clientIp, authorization) {
      const key = authorization === undefined ? undefined : keyOf(authorization);
      const status = budgets.exhausted(authorization !== undefined && key ? { authorization } : { clientIp });
      if (status && key) deps.usage?.note(key.identity, { calls: 1, refusals: 1 });
      return status;
    },
    async chargeFile({ correlationId, clientIp }, points) {
      const requestContext = openRequestContext({ correlationId, clientIp, authorization: undefined });
      await budgets.chargeAhead(requestContext, points);
      return budgetHeaders(requestContext, WINDOW_SEC);
    },
    async close() {
      redis?.disconnect();
    },
  };
}
