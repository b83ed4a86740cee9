import { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { GivenTarget } from '../../shared/input/manage-fields.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import type { EstimateFieldsFragment, PlanFieldsFragment } from '../generated/operations.ts';

/** Bounds of a build by their names in the contract. */
export interface BoundsBody {
  readonly slippage?: string | undefined;
  readonly maxSwapLossPct?: string | undefined;
  readonly minAmountOut?: string | undefined;
}

/** Map the bounds of a build to the names of the schema. */
export function boundsVariables({ slippage, maxSwapLossPct, minAmountOut }: BoundsBody) {
  // An input type refuses a field that it does not have, even an undefined one.
  return withoutUndefined({
    maxSlippageBps: slippage === undefined ? undefined : new Decimal(slippage).shiftedBy(4).toFixed(),
    maxSwapLossPct,
    minAmountOut,
  });
}

/** Map a target to the input of the schema; one of the two is given. */
export function targetVariables({ leverage, desiredLtv }: GivenTarget): { leverage: string } | { ltvPct: string } {
  return leverage === undefined ? { ltvPct: String(desiredLtv) } : { leverage: String(leverage) };
}

/**
 * Run a check of a body, whose errors name the field alone, and add the location of the field.
 * @throws the error of the check
 */
export function inBody(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof BadRequestError) || error.details === undefined) throw error;
    throw new BadRequestError(error.message, { ...error.details, field: `body.${error.details.field}` });
  }
}

/** The slippage as a ratio, as in the contract. */
export function slippageRatio({ effectiveSlippageBps }: EstimateFieldsFragment): number {
  return ratioOf(effectiveSlippageBps);
}

function ratioOf(bps: string): number {
  return Number(new Decimal(bps).shiftedBy(-4).toFixed());
}

/** A call in the form of the contract: a value of zero is left out. */
export function bodyCall({ to, data, value }: Omit<PlanFieldsFragment['calls'][number], 'isApproval'>) {
  return { to, data, value: value === '0' ? undefined : value };
}

/** Costs by their names in the contract. */
export function contractCosts(costs: EstimateFieldsFragment['costs']) {
  return costs.map(({ kind, tokenAddress: token, symbol, amount, valueUsd: usd, shareOfEquityPct: pctOfEquity }) => {
    return { kind, token, symbol, amount, usd, pctOfEquity };
  });
}

/** The worst case by its names in the contract. */
export function contractWorstCase(worstCase: EstimateFieldsFragment['worstCase']) {
  if (worstCase === null) return null;
  const { equity, paidOut, ltvPct: ltv, yieldLtvPct: yieldLtv } = worstCase;
  return { equity, paidOut, ltv, yieldLtv };
}

/** Issues by their names in the contract, slippage as a ratio. */
export function contractIssues(issues: EstimateFieldsFragment['issues']) {
  return issues.map(
    ({
      kind,
      tokenAddress: token,
      askedSlippageBps: asked,
      effectiveSlippageBps: effective,
      toLendersAmount: toLenders,
      ...issue
    }) => ({
      ...issue,
      kind: kind.toLowerCase(),
      token,
      toLenders,
      requestedSlippage: asked === null ? null : ratioOf(asked),
      effectiveSlippage: effective === null ? null : ratioOf(effective),
    }),
  );
}

/** Received amounts by their names in the contract. */
export function contractReceived(received: PlanFieldsFragment['received']) {
  return received?.map(({ token: { address: token, symbol }, amount }) => ({ token, symbol, amount })) ?? null;
}
