import { AppError, ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import type { RefusalFieldsFragment } from './generated/operations.ts';

type Refusal = RefusalFieldsFragment;

/** Error code of the contract for each refusal. */
const CODES: Readonly<Record<Refusal['__typename'], ErrorCode>> = {
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
export function refusalError(refusal: Refusal): AppError {
  const code = CODES[refusal.__typename];
  const { message, retryable, retryAfterSec } = refusal;
  return new AppError(code, message, {
    // A reverted simulation is retryable when a fresh quote may resolve it.
    status: code === 'simulation_reverted' && retryable ? 503 : ERROR_CODES[code].status,
    retryable,
    details: detailsOf(refusal),
    retryAfterSec: retryAfterSec ?? undefined,
  });
}

/** @throws the error of a builder's answer that is a refusal */
export function refuse(answer: { readonly __typename: string }): void {
  if (answer.__typename in CODES) throw refusalError(answer as Refusal);
}

/** Whether a builder's answer is a refusal. */
export function isRefusal<T extends { readonly __typename: string }>(answer: T): answer is Extract<T, Refusal> {
  return answer.__typename in CODES;
}

function detailsOf(refusal: Refusal): unknown {
  switch (refusal.__typename) {
    case 'StaleDataRefusal': {
      const { group, asOf, staleAfterSec, staleForSec, reference, feed, deviationPct } = refusal;
      const given = Object.entries({ reference, feed, deviationPct }).filter(([, value]) => value !== null);
      return { group, asOf, staleAfterSec, staleForSec: staleForSec ?? 0, ...Object.fromEntries(given) };
    }
    case 'NoRouteRefusal': {
      const { tokenIn, tokenOut, amountIn, venues } = refusal;
      return { tokenIn, tokenOut, amountIn, venues };
    }
    case 'InsufficientLiquidityRefusal': {
      const { needed, available, loanToken, place, marketId, maxAmount, maxLeverage, maxLtvPct } = refusal;
      const given = Object.entries({ marketId, maxAmount, maxLeverage, maxLtvPct }).filter(
        ([, value]) => value !== null,
      );
      return { needed, available, symbol: loanToken.symbol, place, ...Object.fromEntries(given) };
    }
    case 'LimitExceededRefusal': {
      const limit = Object.fromEntries(refusal.limits.map(({ name, value }) => [name, value]));
      return { field: `body.${refusal.field}`, value: refusal.value, limit };
    }
    case 'SimulationRevertedRefusal': {
      const args = Object.fromEntries(refusal.args.map(({ name, value }) => [name, value]));
      const { contractError: reason, callIndex, cause, nextStep } = refusal;
      const known = Object.entries({ cause, nextStep }).filter(([, value]) => value !== null);
      return { reason, args, callIndex, ...Object.fromEntries(known) };
    }
    case 'SimulationMismatchRefusal': {
      const { shortfall: of, expected, simulated, token, tolerancePct, swapSource: source } = refusal;
      const details = { of, expected, simulated, symbol: token.symbol, tolerancePct };
      return source === null ? details : { ...details, source };
    }
    case 'NotSimulatedRefusal':
      return { provider: 'chain', reason: 'not_simulated' };
    case 'AmbiguousYieldLoopsRefusal': {
      const { field, vaultId, yieldPositionIds } = refusal;
      return { field: `body.${field}`, vaultId, yieldPositionIds };
    }
    case 'PositionProxyRefusal': {
      const { proxy, owner, positionId } = refusal;
      return { field: `body.${refusal.field}`, value: proxy, owner, positionId };
    }
    case 'NotEligibleRefusal':
      return notEligibleDetails(refusal);
  }
}

function notEligibleDetails({
  ineligibility: reason,
  rule,
  pointer,
  alternatives,
}: Extract<Refusal, { readonly __typename: 'NotEligibleRefusal' }>): unknown {
  const ways = alternatives.map(({ action, amount, token, thenRepay }) => ({
    action,
    amount,
    symbol: token.symbol,
    thenRepay: thenRepay || undefined,
  }));
  return {
    reason,
    rule: rule ?? undefined,
    pointer: pointer ?? undefined,
    alternatives: ways.length === 0 ? undefined : ways,
  };
}
