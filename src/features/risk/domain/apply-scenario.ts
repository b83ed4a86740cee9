import { AdaptiveCurveIrmLib, MathLib } from '@morpho-org/blue-sdk';
import { EXIT_SIZES_USD } from '../../../domain/facts.ts';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { lossOfSale } from '../../../domain/strategy/exit.ts';
import { Decimal, fromUnits, HUNDRED } from '../../../shared/decimal.ts';
import type { Scenario, StressHolding, StressRates } from './types.ts';

/** The holding as the scenario leaves it, before any exit. */
export function movedBy(holding: StressHolding, { scenario, changePct = 0 }: Scenario): StressHolding {
  const { price, loanUsd, rates } = holding;
  if (scenario === 'COLLATERAL_PRICE') return { ...holding, price: scaled(price, 100 + changePct, 100) };
  if (scenario === 'LOAN_PRICE') {
    return {
      ...holding,
      price: loanMove(holding, changePct),
      loanUsd: loanUsd?.times(100 + changePct).div(HUNDRED),
    };
  }
  if (scenario === 'BORROW_RATE' && rates) {
    const borrowRate = scaled(rates.borrowRate, 100 + changePct, 100);
    return { ...holding, rates: { ...rates, borrowRate } };
  }
  if (scenario === 'FULL_UTILIZATION') return { ...holding, rates: rates && atFullUtilization(rates) };
  return holding;
}

/**
 * The oracle's price after a move of the loan token against the USD price of the collateral. An oracle of a redemption rate
 * does not see it. Of another one it is not known whether its price has the loan token in it, so the worse case is assumed: it
 * follows a rise, and not a fall.
 */
function loanMove({ price, isRate }: StressHolding, changePct: number): bigint {
  return !isRate && changePct > 0 ? scaled(price, 100, 100 + changePct) : price;
}

/** The curve's rate once nothing is left to borrow, before it starts to rise. */
function atFullUtilization({ curve, ...rates }: StressRates): StressRates | undefined {
  if (!curve) return undefined;
  const { endBorrowRate } = AdaptiveCurveIrmLib.getBorrowRate(MathLib.WAD, curve.rateAtTarget, 0n);
  return { ...rates, curve, borrowRate: endBorrowRate };
}

/** How a scenario sells the collateral; `proceeds` `null` = not at all, absent = it does not. */
export interface Exit {
  readonly proceeds?: { readonly value: bigint; readonly repays: boolean } | null | undefined;
  readonly changePct?: Decimal | null | undefined;
  /** Present while the proceeds of an exit are not known. */
  readonly gaps: readonly Gap[];
}

export function exitOf(holding: StressHolding, { scenario, changePct = 0 }: Scenario, value: bigint): Exit {
  if (scenario === 'MARKET_BELOW_ORACLE') return soldAt(holding, value, new Decimal(changePct));
  if (scenario === 'NO_EXIT') {
    const message = 'The collateral cannot be sold: the equity cannot be withdrawn.';
    return { proceeds: null, gaps: [gap('equity', 'NONE', message), gap('equityUsd', 'NONE', message)] };
  }
  if (scenario !== 'EXIT_AT_MEASURED_SLIPPAGE') return { gaps: [] };
  return exitBySweep(holding, value);
}

function soldAt({ debt }: StressHolding, value: bigint, changePct: Decimal): Exit {
  const kept = BigInt(HUNDRED.plus(changePct).shiftedBy(16).integerValue(Decimal.ROUND_DOWN).toFixed(0));
  const received = (value * kept) / MathLib.WAD;
  return { proceeds: { value: received, repays: received >= debt }, changePct, gaps: [] };
}

const UNMEASURED_FIELDS = ['changePct', 'equity', 'equityUsd', 'endsBy'];

function exitBySweep(holding: StressHolding, value: bigint): Exit {
  const { market, sweep, loanUsd } = holding;
  const unknown = (message: string): Exit => ({
    proceeds: null,
    gaps: UNMEASURED_FIELDS.map((field) => gap(field, 'NOT_MEASURED', message)),
  });
  const none = (message: string): Exit => ({
    proceeds: null,
    changePct: null,
    gaps: ['changePct', 'equity', 'equityUsd'].map((field) => gap(field, 'NONE', message)),
  });
  if (market.collateral.noSwapRoute) return none('The collateral has no swap route.');
  if (!sweep) return unknown('The exit of the collateral has not been measured.');
  if (!loanUsd) return unknown('The size of the exit in USD is not known: the loan token has no price.');
  const usd = fromUnits(value, market.loan.decimals).times(loanUsd);
  const lostPct = lossOfSale(sweep, usd);
  if (lostPct === undefined)
    return unknown(`The exit is larger than the largest measured one of ${EXIT_SIZES_USD.at(-1)} USD.`);
  if (lostPct === null) return none(`There is no route for a sale of ${usd.toFixed(0)} USD.`);
  return soldAt(holding, value, lostPct.negated());
}

/** Multiply by a fraction of whole numbers, rounded down: a price is never assumed to be higher than it is. */
function scaled(value: bigint, numerator: number, denominator: number): bigint {
  return (value * BigInt(numerator)) / BigInt(denominator);
}
