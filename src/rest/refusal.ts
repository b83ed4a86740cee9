import { AppError, ERROR_CODES, type ErrorCode } from '../shared/errors.ts';

/** A builder's answer that is a refusal. */
interface Refusal {
  readonly __typename: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterSec: number | null;
}

/** Error code of the contract for each refusal. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  StaleDataRefusal: 'stale_data',
  NoRouteRefusal: 'no_route',
  InsufficientLiquidityRefusal: 'insufficient_liquidity',
  LimitExceededRefusal: 'bad_request',
  SimulationRevertedRefusal: 'simulation_reverted',
  SimulationMismatchRefusal: 'simulation_mismatch',
  NotSimulatedRefusal: 'upstream_unavailable',
  NotEligibleRefusal: 'bad_request',
  PositionProxyRefusal: 'bad_request',
  AmbiguousYieldLoopsRefusal: 'bad_request',
};

/** Convert a builder's refusal to the error of the envelope. */
export function refusalError({ __typename, message, retryable, retryAfterSec }: Refusal, details: unknown): AppError {
  const code = CODES[__typename];
  if (code === undefined) throw new Error(`the refusal ${__typename} has no error code`);
  return new AppError(code, message, {
    // A reverted simulation is retryable when a fresh quote may resolve it.
    status: code === 'simulation_reverted' && retryable ? 503 : ERROR_CODES[code].status,
    retryable,
    details,
    retryAfterSec: retryAfterSec ?? undefined,
  });
}
