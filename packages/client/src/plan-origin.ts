/** The request that a plan answers. */
export interface PlanOrigin {
  /** `operationId` of the row. */
  readonly row: string;
  readonly input: object;
  /** The same object for every plan of one build. */
  readonly build?: object | undefined;
}

const origins = new WeakMap<object, PlanOrigin>();

/** Remember the request of a plan, as long as the plan itself is in use. */
export function rememberOrigin(plan: object, origin: PlanOrigin): void {
  origins.set(plan, origin);
}

/**
 * A copy of a plan that answers the rest of its request: the loops of a vault that are closed already are not closed again.
 * `all` are those that the plan closes: a request that names none is about them, and after one of them the service would
 * find the others no more.
 */
export function withoutClosed<P extends object>(plan: P, closed: readonly number[], all: readonly number[]): P {
  const origin = origins.get(plan);
  if (origin === undefined || origin.row !== 'equityExitBuild' || closed.length === 0) return plan;
  const { yieldPositionIds: ids = all, ...input } = origin.input as { readonly yieldPositionIds?: readonly number[] };
  const left = ids.filter((id) => !closed.includes(id));
  const rest = { ...plan };
  // The service takes no empty list; a plan that closes another loop is refused.
  rememberOrigin(rest, { ...origin, input: left.length === 0 ? input : { ...input, yieldPositionIds: left } });
  return rest;
}

/**
 * A copy of a plan that closes, whose request names the amounts that are read: what a stranger adds stays behind. `undefined` = the
 * request does so already, sells a part only, or is not known.
 */
export function withExact<P extends object>(plan: P): P | undefined {
  const origin = origins.get(plan);
  const { action, amount, exact } = { ...origin?.input } as { action?: unknown; amount?: unknown; exact?: unknown };
  const isClose = origin?.row === 'equityExitBuild' || (origin?.row === 'manageBuild' && action === 'close');
  if (!origin || !isClose || amount !== undefined || exact === true) return undefined;
  const copy = { ...plan };
  rememberOrigin(copy, { ...origin, input: { ...origin.input, exact: true } });
  return copy;
}

/** A plan that is built in place of another one answers the same request: its own would be that of somebody else's code. */
export function keepOrigin(old: object, plan: object): void {
  const origin = origins.get(old);
  if (origin !== undefined && typeof plan === 'object' && plan !== null) origins.set(plan, origin);
}

/** `undefined` = it was not built by a client of this process. */
export function originOf(plan: object): PlanOrigin | undefined {
  return origins.get(plan);
}

/** The wallet that a plan was built for; `undefined` = unknown. */
export function ownerOf(plan: object): string | undefined {
  const input = originOf(plan)?.input;
  return input !== undefined && 'userAddress' in input ? String(input.userAddress) : undefined;
}
