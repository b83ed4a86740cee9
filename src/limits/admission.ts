import type { Caller } from '../resolvers/common/context.ts';
import { type AppError, UnauthorizedError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Budgets } from './budgets.ts';
import { ADMISSION_POINTS } from './limits.ts';
import type { RequestContext } from './request-context.ts';

export type ApiSurface = 'GraphQL' | 'Public' | 'Partner' | 'Ops' | 'Status';

export interface AdmissionDeps {
  /** Check an `Authorization` header; `null` = not a valid key, whatever the reason. */
  readonly verify: (header: string) => Promise<{ readonly keyId: string; readonly tier: 'partner' | 'ops' } | null>;
  /** Tell when a header would no longer be let in; returns what ends the watch. */
  readonly watch?: ((header: string, onEnd: (why: AppError) => void) => () => void) | undefined;
  /** Whether a header can be judged without asking the database for the first time. Absent: none can. */
  readonly knows?: ((header: string) => boolean) | undefined;
  readonly budgets: Budgets;
}

export interface Admission {
  /**
   * Let a requestContext in, or not: check its key, charge its budget, and compare its tier with the surface. The fields behind
   * the surface check the tier again; this only spares refused callers' work.
   * @throws UnauthorizedError, RateLimitedError, UpstreamUnavailableError
   */
  admit(requestContext: RequestContext, surface: ApiSurface, points?: number): Promise<void>;
  /** Call `onEnd` when the key of an admitted requestContext ends, for what lasts longer than a request. Returns what ends the watch. */
  follow(requestContext: RequestContext, onEnd: (why: AppError) => void): () => void;
  /** Charge more to an admitted requestContext, when its cost is known. @returns the points that were counted. @throws as `admit` */
  charge(requestContext: RequestContext, points: number): Promise<number>;
  /** Give points back that were charged for work that was not done. Never throws. */
  refund(requestContext: RequestContext, points: number): Promise<void>;
}

type Judged = { readonly caller: Caller } | { readonly caller: null; readonly charged: boolean };

/** Build the check that every request passes first, the same for GraphQL and REST. */
export function createAdmission({ verify, watch, knows, budgets }: AdmissionDeps): Admission {
  const judge = async (requestContext: RequestContext, authorization: string, surface: ApiSurface): Promise<Judged> => {
    // Guessing is as limited as asking, and is charged before the database is asked.
    const isGuess = knows === undefined || !knows(authorization);
    const giveBack = isGuess ? await budgets.chargeAhead(requestContext, ADMISSION_POINTS) : noop;
    try {
      const key = await verify(authorization);
      if (key === null) return { caller: null, charged: isGuess };
      giveBack();
      return { caller: { kind: 'key', keyId: key.keyId, tier: key.tier } };
    } catch (error) {
      giveBack();
      // Public reads need no key: they go on when keys cannot be checked.
      if (surface === 'Public' && error instanceof UpstreamUnavailableError) return ANONYMOUS;
      throw error;
    }
  };
  return {
    async admit(requestContext, surface, points = ADMISSION_POINTS) {
      const judged =
        requestContext.authorization === undefined
          ? ANONYMOUS
          : await judge(requestContext, requestContext.authorization, surface);
      const { caller } = judged;
      const opened = caller !== null && opens(caller, surface);
      if (caller !== null) requestContext.caller = caller;
      // A key that is refused is charged to the address.
      const isCharged = judged.caller === null && judged.charged;
      const whenStoreFails = surface === 'Public' ? 'open' : 'closed';
      if (!isCharged) await budgets.charge(requestContext, opened ? points : ADMISSION_POINTS, whenStoreFails);
      if (!opened) {
        requestContext.rateLimit = null;
        throw new UnauthorizedError();
      }
    },
    follow: ({ caller, authorization }, onEnd) =>
      caller.kind === 'key' && authorization !== undefined ? (watch?.(authorization, onEnd) ?? noop) : noop,
    charge: (requestContext, points) => budgets.charge(requestContext, points, 'closed'),
    refund: (requestContext, points) => budgets.refund(requestContext, points),
  };
}

/** Without a key nothing is to be checked. */
const ANONYMOUS: Judged = { caller: { kind: 'anonymous' } };

const noop = (): void => {};

function opens(caller: Caller, surface: ApiSurface): boolean {
  if (surface === 'Partner') return caller.kind === 'key';
  if (surface === 'Ops') return caller.kind === 'key' && caller.tier === 'ops';
  return true;
}
