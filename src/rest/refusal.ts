import { AppError, ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import { isErrorCode } from './envelope.ts';
import type { RefusalFieldsFragment } from './generated/operations.ts';

/** Seconds after which a refused build may be retried: market state is refreshed, quotes change. */
const RETRY_AFTER_SEC = 5;

/** Convert a builder's refusal to the error of the envelope. */
export function refusalError(refusal: RefusalFieldsFragment): AppError {
  const code: ErrorCode = isErrorCode(refusal.code) ? refusal.code : 'internal';
  return new AppError(code, refusal.message, {
    status: refusal.status || ERROR_CODES[code].status,
    retryable: refusal.retryable,
    details: detailsOf(refusal),
    retryAfterSec: refusal.retryable ? RETRY_AFTER_SEC : undefined,
  });
}

/** Whether a builder's answer is a refusal: every refusal has a code. */
export function isRefusal<T extends { readonly __typename: string }>(
  answer: T,
): answer is Extract<T, RefusalFieldsFragment> {
  return 'code' in answer;
}

function detailsOf(refusal: RefusalFieldsFragment): unknown {
  switch (refusal.__typename) {
    case 'StaleDataRefusal': {
      const { group, asOf, staleAfterSec, staleForSec, reference, feed, deviationPct } = refusal;
      const given = Object.entries({ reference, feed, deviationPct }).filter(([, value]) => value !== null);
      return { group, asOf, staleAfterSec, staleForSec, ...Object.fromEntries(given) };
    }
    case 'NoRouteRefusal': {
      const { tokenIn, tokenOut, amountIn, venues } = refusal;
      return { tokenIn, tokenOut, amountIn, venues };
    }
    case 'InsufficientLiquidityRefusal': {
      const { needed, available, symbol, place, marketId, maxAmount, maxLeverage, maxLtvPct } = refusal;
      const given = Object.entries({ marketId, maxAmount, maxLeverage, maxLtvPct }).filter(
        ([, value]) => value !== null,
      );
      return { needed, available, symbol, place, ...Object.fromEntries(given) };
    }
    case 'LimitExceededRefusal': {
      const limit = Object.fromEntries(refusal.limits.map(({ name, value }) => [name, value]));
      return { field: `body.${refusal.field}`, value: refusal.value, limit };
    }
    case 'SimulationRevertedRefusal': {
      const args = Object.fromEntries(refusal.args.map(({ name, value }) => [name, value]));
      const { reason, callIndex, cause, nextStep } = refusal;
      const known = Object.entries({ cause, nextStep }).filter(([, value]) => value !== null);
      return { reason, args, callIndex, ...Object.fromEntries(known) };
    }
    case 'SimulationMismatchRefusal': {
      const { of, expected, simulated, symbol, tolerancePct, source } = refusal;
      const details = { of, expected, simulated, symbol, tolerancePct };
      return source === null ? details : { ...details, source };
    }
    case 'AmbiguousYieldLoopsRefusal':
      return { field: `body.${refusal.field}`, vaultId: refusal.vaultId, candidates: refusal.candidates };
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
}: Extract<RefusalFieldsFragment, { readonly __typename: 'NotEligibleRefusal' }>): unknown {
  const ways = alternatives.map(({ action, amount, symbol, thenRepay }) => ({
    action,
    amount,
    symbol,
    thenRepay: thenRepay || undefined,
  }));
  return {
    reason,
    rule: rule ?? undefined,
    pointer: pointer ?? undefined,
    alternatives: ways.length === 0 ? undefined : ways,
  };
}
