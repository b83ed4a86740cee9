/** The request that a plan answers. */
export interface PlanOrigin {
  /** `operationId` of the row. */
  readonly row: string;
  readonly input: object;
}

const origins = new WeakMap<object, PlanOrigin>();

/** Remember the request of a plan, as long as the plan itself is in use. */
export function rememberOrigin(plan: object, origin: PlanOrigin): void {
  origins.set(plan, origin);
}

/** A plan that is built in place of another one answers the same request: a request of its own would come from code of another party. */
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
