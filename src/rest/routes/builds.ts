import { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { GivenTarget } from '../../shared/input/manage-fields.ts';
import type { EstimateFieldsFragment, PlanFieldsFragment } from '../generated/operations.ts';

/** Bounds of a build as the contract names them. */
export interface BoundsBody {
  readonly slippage?: string | undefined;
  readonly maxSwapLossPct?: string | undefined;
  readonly minAmountOut?: string | undefined;
}

/** Name the bounds of a build as the schema does. */
export function boundsVariables({ slippage, maxSwapLossPct, minAmountOut }: BoundsBody) {
  return {
    ...(slippage === undefined ? {} : { maxSlippageBps: new Decimal(slippage).shiftedBy(4).toFixed() }),
    ...(maxSwapLossPct === undefined ? {} : { maxSwapLossPct }),
    ...(minAmountOut === undefined ? {} : { minAmountOut }),
  };
}

/** Name a target as the schema does; one of the two is given. */
export function targetVariables({ leverage, desiredLtv }: GivenTarget): { leverage: string } | { ltvPct: string } {
  return leverage === undefined ? { ltvPct: String(desiredLtv) } : { leverage: String(leverage) };
}

/** Run a check of a body, whose errors name the field alone. @throws what it throws, with the field's place */
export function inBody(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof BadRequestError) || error.details === undefined) throw error;
    throw new BadRequestError(error.message, { ...error.details, field: `body.${error.details.field}` });
  }
}

/** The slippage as the ratio of the contract. */
export function slippageRatio({ effectiveSlippageBps }: EstimateFieldsFragment): number {
  return Number(new Decimal(effectiveSlippageBps).shiftedBy(-4).toFixed());
}

/** A call as the contract has it: a value of nothing is left out. */
export function bodyCall({ to, data, value }: PlanFieldsFragment['calls'][number]) {
  return { to, data, ...(value === '0' ? {} : { value }) };
}

/** Costs as the contract names them. */
export function contractCosts(costs: EstimateFieldsFragment['costs']) {
  return costs.map(({ kind, tokenAddress: token, symbol, amount, valueUsd: usd, shareOfEquityPct: pctOfEquity }) => {
    return { kind, token, symbol, amount, usd, pctOfEquity };
  });
}

/** The worst case as the contract names it. */
export function contractWorstCase(worstCase: EstimateFieldsFragment['worstCase']) {
  if (worstCase === null) return null;
  const { equity, paidOut, ltvPct: ltv, yieldLtvPct: yieldLtv } = worstCase;
  return { equity, paidOut, ltv, yieldLtv };
}

/** What a wallet receives, as the contract names it. */
export function contractReceived(received: PlanFieldsFragment['received']) {
  return received?.map(({ tokenAddress: token, symbol, amount }) => ({ token, symbol, amount })) ?? null;
}
