import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { PersistedOperation } from '../graphql/yoga.ts';
import type { KeyService } from '../keys/service.ts';
import { type Admission, createAdmission } from '../limits/admission.ts';
import { addressIdentity, clientIdentity, createBudgets, MAX_ADDRESSES, RateLimitedError } from '../limits/budgets.ts';
import { createMemoryCounters, createRedisCounters, createRedisExchange } from '../limits/counters.ts';
import { createExchangedCounters } from '../limits/exchanged-counters.ts';
import type { Turns } from '../limits/keyed-mutex.ts';
import { createLimits, DOOR_POINTS, type Limits, pointsOf, tierOf, WINDOW_SEC } from '../limits/limits.ts';
import { budgetHeaders, openVisit, type Standing, type Visit } from '../limits/request-context.ts';
import type { AnyRoute, Entry, RestRequest, Surface } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { bearerOf } from '../shared/request-info.ts';
import type { Timers } from '../shared/timers.ts';
import { connectRedis } from '../snapshot/redis-connection.ts';

/** How long a key's budget is believed to be used up without counting: points may be given back meanwhile. */
const USED_UP_MS = 1_000;
/** Keys that this is remembered of. */
const MAX_USED_UP = 1_000;

export interface FrontDoorDeps {
  readonly config: Config;
  readonly keys: Pick<KeyService, 'verify'> & Partial<Pick<KeyService, 'watch' | 'knows' | 'accepts'>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly turns: Turns;
  readonly logger: Logger;
  /** Told of what keeps a REST request out, for metrics. */
  readonly onError?: (error: unknown) => void;
  /** Told how each exchange of counts with other processes ended, for metrics. */
  readonly onExchange?: (ok: boolean) => void;
}

/** A REST request that was let in, with what its execution needs to know. */
export interface RestEntry extends Entry {
  readonly visit: Visit;
}

export interface FrontDoor {
  readonly limits: Limits;
  readonly admission: Admission;
  /** Let a REST request in, or say why not. Never throws. */
  admitRest(
    request: RestRequest,
    route: { readonly surface: Surface; readonly operation: string } | null,
  ): Promise<RestEntry>;
  /** Charge an address for a call of an operation; see `Budgets.chargeAddress`. */
  chargeAddress(clientIp: string, operation: string): Standing | null | undefined;
  /**
   * Where the budget of a caller stands when nothing of it is left; `undefined` = something may be. A key that was found good
   * before has a budget of its own, any other is charged to its address.
   */
  usedUp(clientIp: string, authorization: string | undefined): Standing | undefined;
  /** Charge a request for a file to its address. @returns headers that say where the budget stands. @throws RateLimitedError */
  chargeFile(request: RestRequest, points: number): Readonly<Record<string, string>>;
  /** Count a request for diagnostics, beside the budget: nobody's use of the service may hide how it is. @throws RateLimitedError */
  chargeStatus(request: RestRequest): void;
  close(): Promise<void>;
}

/** Name what a call of each persisted operation costs: what the row that it stands behind costs. */
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

/** Who uses so much of a budget in one process is told of without waiting for the next exchange. */
const URGENT_SHARE = 1 / 8;

/** Requests for diagnostics per address and window: ten a second, many times what a probe asks. */
const STATUS_LIMIT = 600;

/** Wire keys, limits and budgets: shared through Redis where there is one, else kept by this process. */
export function createFrontDoor(deps: FrontDoorDeps): FrontDoor {
  const { config, keys, clock, timers, turns, logger, onError, onExchange } = deps;
  const { env } = config;
  const limits = createLimits({
    anonymous: env.RATE_LIMIT_ANONYMOUS,
    partner: env.RATE_LIMIT_PARTNER,
    ops: env.RATE_LIMIT_OPS,
  });
  const redis =
    env.REDIS_URL === undefined ? undefined : connectRedis({ url: env.REDIS_URL, logger, name: 'rate-limits' });
  const addresses =
    redis === undefined
      ? undefined
      : createExchangedCounters(
          { windowSec: WINDOW_SEC, max: MAX_ADDRESSES, urgentPoints: limits.anonymous.points * URGENT_SHARE },
          { exchange: createRedisExchange(redis), clock, timers, logger, ...(onExchange ? { onExchange } : {}) },
        );
  const budgets = createBudgets({
    limits,
    clock,
    logger,
    ...(redis === undefined ? {} : { shared: createRedisCounters({ windowSec: WINDOW_SEC }, redis) }),
    ...(addresses === undefined ? {} : { addresses }),
  });
  const probes = createMemoryCounters({ windowSec: WINDOW_SEC, max: MAX_ADDRESSES }, clock);
  const publicPoints = new Map<string, number>();
  /** Operations are those of our own rows, so that the map stays small. */
  const publicPointsOf = (operation: string): number => {
    let points = publicPoints.get(operation);
    if (points === undefined) {
      points = pointsOf(operation, 'Public');
      publicPoints.set(operation, points);
    }
    return points;
  };
  const usedUpKeys = new LRUCache<string, { readonly standing: Standing; readonly untilMs: number }>({
    max: MAX_USED_UP,
  });
  const admission = createAdmission({
    onUsedUp(authorization, standing) {
      // Not longer than the window, whose end is told in whole seconds.
      if (standing.resetSec * 1_000 <= USED_UP_MS) return;
      usedUpKeys.set(authorization, { standing, untilMs: clock.now() + USED_UP_MS });
    },
    verify: (header) => keys.verify(header),
    ...(keys.watch === undefined ? {} : { watch: keys.watch }),
    ...(keys.knows === undefined ? {} : { knows: keys.knows }),
    budgets,
  });
  return {
    limits,
    admission,
    async admitRest(request, route) {
      const visit = openVisit({
        correlationId: request.correlationId,
        clientIp: request.clientIp,
        authorization: bearerOf(request.headers.authorization),
      });
      const points = route === null ? DOOR_POINTS : pointsOf(route.operation, route.surface);
      let refusal: unknown = null;
      try {
        await admission.admit(visit, route?.surface ?? 'Public', points);
      } catch (error) {
        refusal = error;
        onError?.(error);
      }
      const keyed = visit.authorization !== undefined;
      return {
        refusal,
        headers: () => budgetHeaders(visit, WINDOW_SEC),
        turn: () => turns.take(clientIdentity(visit)),
        async giveBack() {
          const counted = Math.min(points, limits[tierOf(visit.caller)].points);
          if (counted > DOOR_POINTS) await admission.refund(visit, counted - DOOR_POINTS);
        },
        keyed,
        visit,
      };
    },
    chargeAddress: (clientIp, operation) => budgets.chargeAddress(clientIp, publicPointsOf(operation)),
    usedUp(clientIp, authorization) {
      if (authorization === undefined || !keys.accepts?.(authorization)) return budgets.usedUp(clientIp);
      const found = usedUpKeys.get(authorization);
      return found !== undefined && clock.now() < found.untilMs ? found.standing : undefined;
    },
    chargeFile({ correlationId, clientIp }, points) {
      const visit = openVisit({ correlationId, clientIp, authorization: undefined });
      budgets.chargeAhead(visit, points);
      return budgetHeaders(visit, WINDOW_SEC);
    },
    chargeStatus({ clientIp }) {
      if (limits.anonymous.points === 0) return;
      const { used, msLeft } = probes.add(addressIdentity(clientIp), DOOR_POINTS);
      const details = { scope: 'client', policy: 'anonymous', limit: STATUS_LIMIT, windowSec: WINDOW_SEC } as const;
      if (used > STATUS_LIMIT) throw new RateLimitedError(details, Math.max(1, Math.ceil(msLeft / 1_000)));
    },
    async close() {
      addresses?.close();
      redis?.disconnect();
    },
  };
}
