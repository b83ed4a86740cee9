import type { Caller } from '../resolvers/common/caller.ts';
import { type Awaitable, andThen } from '../shared/awaitable.ts';
import { AppError, UnauthorizedError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Budgets } from './budgets.ts';
import { ADMISSION_POINTS } from './points.ts';
import type { RequestContext } from './request-context.ts';

/** Text of the refusal of a connection that is one too many. */
export const TOO_MANY_CONNECTIONS =
  'Too many connections are open, of this address or of all clients without a key. Reuse or close some, or send a key.';
export const CONNECTIONS_RETRY_SEC = 2;

/** A request without a valid key on a connection that is one too many without. */
export class TooManyConnectionsError extends AppError<{ readonly waitingFor: readonly string[] }> {
  constructor() {
    super('not_ready', TOO_MANY_CONNECTIONS, {
      details: { waitingFor: ['other connections to be closed'] },
      retryAfterSec: CONNECTIONS_RETRY_SEC,
    });
  }
}

export type ApiSurface = 'GraphQL' | 'Public' | 'Partner' | 'Ops' | 'Status';

export interface AdmissionDeps {
  /** Check an `Authorization` header; `null` = no valid key. */
  readonly verify: (header: string) => Promise<{ readonly keyId: string; readonly tier: 'partner' | 'ops' } | null>;
  /** Call `onEnd` when a header is no longer accepted; returns the function that stops the watch. */
  readonly watch?: ((header: string, onEnd: (why: unknown) => void) => () => void) | undefined;
  /** Whether a header can be judged without a first look-up of its key. Absent: never. */
  readonly knows?: ((header: string) => boolean) | undefined;
  readonly budgets: Budgets;
  /** Called with the key of each request that has a valid one. */
  readonly onAdmission?: ((keyId: string) => void) | undefined;
}

export interface Admission {
  /**
   * Admit or refuse a request: check its key, charge its budget, and compare its tier with the surface. The fields behind the
   * surface check the tier again; this check only saves work. A key that is not valid counts as none where none is needed: the
   * read is charged to the address, besides the attempt.
   * @throws UnauthorizedError, RateLimitedError, UpstreamUnavailableError, TooManyConnectionsError
   */
  admit(requestContext: RequestContext, surface: ApiSurface, points?: number): Awaitable<void>;
  /** Call `onEnd` when the key of an admitted request ends, for streams. Returns the function that stops the watch. */
  follow(requestContext: RequestContext, onEnd: (why: unknown) => void): () => void;
  /**
   * Charge an admitted request again, once its cost is known.
   * @returns the points that were counted
   * @throws as `admit`
   */
  charge(requestContext: RequestContext, points: number): Awaitable<number>;
  /** Refund points for work that was not done. Never throws. */
  refund(requestContext: RequestContext, points: number): Awaitable<void>;
}

/** `null` = the key is not valid, and the attempt is charged. */
type KeyResult = Caller | null;

/** Create the admission that every GraphQL and REST request passes first. */
export function createAdmission({ verify, watch, knows, budgets, onAdmission }: AdmissionDeps): Admission {
  const judge = async (
    requestContext: RequestContext,
    authorization: string,
    surface: ApiSurface,
  ): Promise<KeyResult> => {
    // A request with an unknown key is charged to the address before the database is asked, so that guessing keys is limited.
    const isGuess = knows === undefined || !knows(authorization);
    const giveBack = isGuess ? await budgets.chargeAhead(requestContext, ADMISSION_POINTS) : noop;
    try {
      const key = await verify(authorization);
      if (key === null) {
        if (!isGuess) await budgets.chargeAhead(requestContext, ADMISSION_POINTS);
        return null;
      }
      giveBack();
      return { kind: 'key', keyId: key.keyId, tier: key.tier };
    } catch (error) {
      giveBack();
      // Public reads need no key and go on while keys cannot be checked.
      if (surface === 'Public' && error instanceof UpstreamUnavailableError) return ANONYMOUS;
      throw error;
    }
  };
  /** Charge a request whose key is judged, and compare its tier with the surface. */
  const enter = (
    requestContext: RequestContext,
    judged: KeyResult,
    surface: ApiSurface,
    points: number,
  ): Awaitable<void> => {
    requestContext.caller = judged ?? ANONYMOUS;
    if (requestContext.caller.kind === 'key') onAdmission?.(requestContext.caller.keyId);
    if (requestContext.needsKey && requestContext.caller.kind !== 'key')
      return Promise.reject(new TooManyConnectionsError());
    // What is open to everybody stays open to a caller whose key has ended.
    const opened = opens(requestContext.caller, surface);
    requestContext.refusedKey = judged === null && opened;
    const due = opened ? points : judged === null ? 0 : ADMISSION_POINTS;
    const charged = due > 0 ? budgets.charge(requestContext, due, surface === 'Public' ? 'open' : 'closed') : 0;
    return andThen(charged, () => {
      if (opened) return undefined;
      requestContext.rateLimit = null;
      return Promise.reject(new UnauthorizedError());
    });
  };
  return {
    admit(requestContext, surface, points = ADMISSION_POINTS) {
      const { authorization } = requestContext;
      if (authorization === undefined) return enter(requestContext, ANONYMOUS, surface, points);
      return judge(requestContext, authorization, surface).then((judged) =>
        enter(requestContext, judged, surface, points),
      );
    },
    follow: ({ caller, authorization }, onEnd) =>
      caller.kind === 'key' && authorization !== undefined ? (watch?.(authorization, onEnd) ?? noop) : noop,
    charge: (requestContext, points) => budgets.charge(requestContext, points, 'closed'),
    refund: (requestContext, points) => budgets.refund(requestContext, points),
  };
}

/** The caller of a request without a key. */
const ANONYMOUS: Caller = { kind: 'anonymous' };

const noop = (): void => {};

function opens(caller: Caller, surface: ApiSurface): boolean {
  if (surface === 'Partner') return caller.kind === 'key';
  if (surface === 'Ops') return caller.kind === 'key' && caller.tier === 'ops';
  return true;
}
