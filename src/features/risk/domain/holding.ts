import { MarketUtils, MathLib, ORACLE_PRICE_SCALE, Market as SdkMarket } from '@morpho-org/blue-sdk';
import { borrowRateNow, rateAtTargetNow } from '../../../domain/apy/rates.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { openFlashLoan } from '../../../domain/leverage/flash-loan.ts';
import { ltvPctFromLeverage } from '../../../domain/leverage/leveraged-apy.ts';
import { accrue } from '../../../domain/market/accrue.ts';
import type { PositionMarketValues } from '../../../domain/market/at-block.ts';
import { oracleTypeOf } from '../../../domain/market/oracle-basis.ts';
import { valueHolding } from '../../../domain/position/valuation.ts';
import { type Decimal, formatUnitsPlain, toUnits } from '../../../shared/decimal.ts';
import type { StressHolding, StressRates } from './types.ts';

/** Make the holding of an account on a market, valued at a block. @param timestamp unix seconds */
export function heldHolding(
  held: { readonly collateral: bigint; readonly borrowShares: bigint },
  composed: PositionMarketValues,
  timestamp: bigint,
): StressHolding {
  const { debt } = valueHolding(held, composed, timestamp);
  const state = composed.facts.lendingState.value;
  const curve = curveOf(composed, MarketUtils.getUtilization(accrue(state)));
  return {
    ...commonOf(composed, Number(timestamp) * 1_000),
    collateral: held.collateral,
    debt,
    rates: { ...yieldsOf(composed), borrowRate: borrowRateNow(state), curve },
  };
}

/**
 * Make the holding that a deposit opens at a leverage, without the costs of entry. Its own debt raises the borrow rate.
 * @param equity whole loan tokens
 * @throws RangeError for a leverage below 1
 */
export function openedHolding(
  composed: PositionMarketValues,
  { leverage, equity, nowMs }: { readonly leverage: Decimal; readonly equity: Decimal; readonly nowMs: number },
): StressHolding {
  const value = toUnits(equity, composed.market.loan.decimals);
  const debt = openFlashLoan(value, ltvPctFromLeverage(leverage));
  return newHolding(composed, value + debt, debt, nowMs);
}

/** Make the holding of a loan at an LTV in percent on collateral of this value, whole loan tokens. */
export function borrowedHolding(
  composed: PositionMarketValues,
  { value, ltvPct, nowMs }: { readonly value: Decimal; readonly ltvPct: Decimal; readonly nowMs: number },
): StressHolding {
  const units = (amount: Decimal) => toUnits(amount, composed.market.loan.decimals);
  return newHolding(composed, units(value), units(value.times(ltvPct).shiftedBy(-2)), nowMs);
}

function newHolding(composed: PositionMarketValues, value: bigint, debt: bigint, nowMs: number): StressHolding {
  const common = commonOf(composed, nowMs);
  const collateral = MathLib.mulDivDown(value, ORACLE_PRICE_SCALE, common.price);
  return { ...common, collateral, debt, ...ratesAfter(composed, debt) };
}

/** Rates of a market once a new debt is in it, by the protocol's SDK. */
function ratesAfter(composed: PositionMarketValues, debt: bigint): Pick<StressHolding, 'rates' | 'noRates'> {
  const sdk = sdkMarketOf(composed);
  if (debt > sdk.liquidity) {
    const { decimals, symbol } = composed.market.loan;
    const lent = `${formatUnitsPlain(sdk.liquidity, decimals)} ${symbol}`;
    return { noRates: `The market can lend ${lent} at once, which is less than the debt.` };
  }
  const after = debt === 0n ? sdk : sdk.borrow(debt, 0n, sdk.lastUpdate).market;
  const curve = curveOf(composed, after.utilization);
  const borrowRate = curve
    ? after.getEndBorrowRate(after.lastUpdate)
    : borrowRateNow(composed.facts.lendingState.value);
  return { rates: { ...yieldsOf(composed), borrowRate, curve } };
}

/** The SDK's market of a composed one, accrued to the block of its state. */
function sdkMarketOf({ market, facts }: PositionMarketValues): SdkMarket {
  const state = facts.lendingState.value;
  const { loan, collateral, oracle, irm, lltv } = market;
  const rateAtTarget = rateAtTargetNow(state);
  const common = {
    params: { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv },
    ...accrue(state),
    lastUpdate: MathLib.max(state.blockTimestamp, state.lastUpdate),
    fee: state.fee,
    price: facts.oracle.value.price,
  };
  return new SdkMarket(rateAtTarget === undefined ? common : { ...common, rateAtTarget });
}

/** Yields of a market without its borrow rate, which depends on the scenario. */
function yieldsOf(composed: PositionMarketValues): Omit<StressRates, 'borrowRate' | 'curve'> {
  const { collateralApyPct, effectiveCollateralApyPct, borrowApyPct, netBorrowApyPct } = composed;
  return { collateralApyPct, effectiveCollateralApyPct, borrowIncentivePct: borrowApyPct.minus(netBorrowApyPct) };
}

/** The state of a market's adaptive curve at a utilization in WAD; `undefined` = it has another rate model. */
function curveOf({ facts }: PositionMarketValues, utilization: bigint): StressRates['curve'] {
  const rateAtTarget = rateAtTargetNow(facts.lendingState.value);
  return rateAtTarget === undefined ? undefined : { utilization, rateAtTarget };
}

/** The values of a market that do not depend on the size of the holding. */
function commonOf(
  composed: PositionMarketValues,
  nowMs: number,
): Omit<StressHolding, 'collateral' | 'debt' | 'rates' | 'noRates'> {
  const { market, facts, loanPrice, liquidationLtvPct, maxLtvPct, safeLtvPct } = composed;
  return {
    market,
    price: facts.oracle.value.price,
    isRate: oracleTypeOf(facts.oracle.value) === 'nav',
    limits: { liquidationLtvPct, maxLtvPct, safeLtvPct },
    loanUsd: loanPrice?.value.usd,
    sweep: facts.exitLiquidity?.value,
    nowMs,
    gaps: inputGaps(composed.gaps),
  };
}

/** Gaps of a market that the numbers of a table rest on: incentives that are not counted, and an assumed buffer. */
function inputGaps(gaps: readonly Gap[]): readonly Gap[] {
  return gaps.flatMap((missing) => {
    if (missing.field === 'netBorrowApyPct') return [{ ...missing, field: 'rows' }];
    return missing.field === 'ltvLimits.maxPct' ? [{ ...missing, field: 'projections' }] : [];
  });
}
