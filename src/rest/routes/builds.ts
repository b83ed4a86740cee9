import { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { GivenTarget } from '../../shared/input/manage-fields.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';

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
