import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, formatUnitsPlain, toFixedHalfUp } from '../../shared/decimal.ts';
import type { PayToken, PositionState, Shortfall } from '../types.ts';
import type { Fill } from './fills.ts';

/** Price movement between a quote and the simulation a moment later. */
const LEAST_TOLERANCE: Decimal = new Decimal('0.001');
/** Share of the slippage that a simulation may use up before the plan is sent. */
const SLIPPAGE_SHARE: Decimal = new Decimal('0.2');

/** Loan base units by which debt and value, each rounded against the position, differ from a plan that is met. */
const ROUNDING = 2;

/** The part of a swap's output that may be missing in simulation, a ratio: 10 bp, or a fifth of the slippage where that is more. */
export function toleranceOf(slippage: Decimal): Decimal {
  return Decimal.max(LEAST_TOLERANCE, slippage.times(SLIPPAGE_SHARE));
}

/**
 * Find the first swap that gave less than its quote, beyond the tolerance. More is never a fault.
 * @param capped whether a quote above its reference counts as the reference; otherwise a venue has to fill its own quote, and
 * keeps nothing of a market price above the reference
 */
export function swapShortfall(fills: readonly Fill[], slippage: Decimal, capped: boolean): Shortfall | undefined {
  const tolerance = toleranceOf(slippage);
  const expectedOf = ({ swap }: Fill) => (capped ? swap.expectedOut : swap.quote.amountOut);
  const short = fills.find((fill) => isShort(expectedOf(fill), fill.received, tolerance));
  if (!short) return undefined;
  const { quote, tokenIn, tokenOut } = short.swap;
  return {
    of: 'swap_output',
    expected: formatUnitsPlain(expectedOf(short), tokenOut.decimals),
    simulated: formatUnitsPlain(short.received, tokenOut.decimals),
    token: { address: tokenOut.address, symbol: tokenOut.symbol },
    tolerancePct: toFixedHalfUp(tolerance.times(100), 2),
    source: quote.source,
    swap: { tokenIn: tokenIn.address, tokenOut: tokenOut.address },
  };
}

export interface PositionComparison {
  readonly planned: PositionState;
  readonly simulated: PositionState;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  readonly price: bigint;
  readonly loan: Pick<PayToken, 'address' | 'symbol' | 'decimals'>;
  /** Quoted output of all swaps together, loan base units. */
  readonly swapped: bigint;
  readonly slippage: Decimal;
}

/** Compare a position's value less its debt with the plan: only the tolerance of its swaps may be missing. */
export function positionShortfall(comparison: PositionComparison): Shortfall | undefined {
  const { planned, simulated, price, loan, swapped, slippage } = comparison;
  const netOf = ({ collateral, debt }: PositionState) => collateralValueInLoan(collateral, price) - debt;
  const [expected, actual] = [netOf(planned), netOf(simulated)];
  const allowed = Decimal.max(toleranceOf(slippage).times(swapped.toString()), ROUNDING);
  if (allowed.gte((expected - actual).toString())) return undefined;
  return {
    of: 'net_value',
    expected: formatUnitsPlain(expected, loan.decimals),
    simulated: formatUnitsPlain(actual, loan.decimals),
    token: { address: loan.address, symbol: loan.symbol },
    tolerancePct: toFixedHalfUp(expected > 0n ? allowed.times(100).div(expected.toString()) : new Decimal(0), 2),
  };
}

function isShort(expected: bigint, received: bigint, tolerance: Decimal): boolean {
  const missing = new Decimal((expected - received).toString());
  return missing.gt(tolerance.times(expected.toString()));
}
