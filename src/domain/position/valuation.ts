import { MarketUtils, MathLib } from '@morpho-org/blue-sdk';
import type { Market } from '../../catalog/types.ts';
import { Decimal, fromUnits, ratio, ZERO } from '../../shared/decimal.ts';
import { collateralValueInLoan } from '../leverage/flash-loan.ts';
import { accrue } from '../market/accrue.ts';
import type { PositionMarketValues } from '../market/at-block.ts';
import { usdOf } from '../market/prices.ts';

/** Significant digits of a displayed price: more than any oracle has, for small and large prices alike. */
const PRICE_DIGITS = 12;

/** Collateral and debt of one account on one market, valued at the oracle's price. Loan base units where not said otherwise. */
export interface Valuation {
  readonly collateral: bigint;
  readonly collateralValue: bigint;
  /** With interest, rounded up. */
  readonly debt: bigint;
  /** Percent at full precision; `null` = there is no collateral. */
  readonly ltvPct: Decimal | null;
  /** Loan tokens per collateral token; `null` = without debt (or without collateral) there is none. */
  readonly liquidationPrice: Decimal | null;
  /** USD at full precision; `null` while the loan token's price is not known. */
  readonly usd: { readonly collateral: Decimal; readonly debt: Decimal; readonly net: Decimal } | null;
}

/**
 * Value collateral and borrow shares as the protocol would at `timestamp` (unix seconds). Interest accrues at the market's
 * rate since its state was read, never backwards. The arithmetic is the protocol SDK's.
 */
export function valueHolding(
  held: { readonly collateral: bigint; readonly borrowShares: bigint },
  composed: PositionMarketValues,
  timestamp: bigint,
): Valuation {
  const { market, facts, loanPrice } = composed;
  const state = facts.lendingState.value;
  const blockTimestamp = timestamp > state.blockTimestamp ? timestamp : state.blockTimestamp;
  const totals = { ...accrue({ ...state, blockTimestamp }), price: facts.oracle.value.price };
  const collateralValue = collateralValueInLoan(held.collateral, totals.price);
  const debt = MarketUtils.toBorrowAssets(held.borrowShares, totals, 'Up');
  const liquidationPrice =
    debt > 0n && held.collateral > 0n ? MarketUtils.getLiquidationPrice(held, totals, market) : null;
  const usd = (assets: bigint) => (loanPrice ? usdOf(assets, market.loan.decimals, loanPrice.value.usd) : null);
  const [collateralUsd, debtUsd] = [usd(collateralValue), usd(debt)];
  return {
    collateral: held.collateral,
    collateralValue,
    debt,
    ltvPct: valueLtvPct(debt, collateralValue),
    liquidationPrice: liquidationPrice === null ? null : wholePrice(liquidationPrice, market),
    usd:
      collateralUsd && debtUsd ? { collateral: collateralUsd, debt: debtUsd, net: collateralUsd.minus(debtUsd) } : null,
  };
}

/**
 * Health factor as the protocol's SDK has it: the most that the collateral may owe, by the debt. Below 1 the position can be
 * liquidated; `undefined` = without debt there is none.
 */
function healthFactorOf(
  { collateral, debt }: { readonly collateral: bigint; readonly debt: bigint },
  price: bigint,
  { lltv }: Pick<Market, 'lltv'>,
): Decimal | undefined {
  if (debt === 0n) return undefined;
  const most = MathLib.wMulDown(collateralValueInLoan(collateral, price), lltv);
  return fromUnits(MathLib.wDivDown(most, debt), 18);
}

const HEALTH_PLACES = 4;

/** Health factor with 4 places, rounded down, so that a position that can be liquidated is never shown as one that cannot. */
export function formatHealthFactor(...of: Parameters<typeof healthFactorOf>): string | null {
  return (
    healthFactorOf(...of)
      ?.decimalPlaces(HEALTH_PLACES, Decimal.ROUND_DOWN)
      .toFixed() ?? null
  );
}

/** The smallest amount of the USD values. */
const LEAST_USD = new Decimal('0.01');
/** Places of the least amount of a loan token without a price: of the dearest one it is worth less than a cent. */
const LEAST_PLACES = 6;

/**
 * Return whether a holding is too small to be an entry of its account. Anybody may supply collateral on behalf of an account,
 * and only the account or a contract that it has authorized may borrow. So a holding counts if it owes something, or if its
 * collateral is worth 0.01 USD; where the loan token has no price, a millionth of one. A value that is not known counts.
 */
export function isDust(
  held: { readonly collateral: bigint; readonly borrowShares: bigint },
  composed: PositionMarketValues | undefined,
): boolean {
  if (held.borrowShares > 0n) return false;
  if (held.collateral === 0n) return true;
  const price = composed?.facts.oracle.value.price ?? 0n;
  if (!composed || price === 0n) return false;
  const { market, loanPrice } = composed;
  const { decimals } = market.loan;
  const value = collateralValueInLoan(held.collateral, price);
  if (!loanPrice) return fromUnits(value, decimals).lt(new Decimal(1).shiftedBy(-LEAST_PLACES));
  return usdOf(value, decimals, loanPrice.value.usd).lt(LEAST_USD);
}

/** Remaining collateral if the debt were paid with it, whole tokens, rounded down; negative under water. */
export function netCollateralOf(
  { collateral, collateralValue, debt }: Valuation,
  { collateral: token }: Market,
): Decimal {
  if (debt === 0n || collateralValue === 0n) return fromUnits(collateral, token.decimals);
  const scaled = collateral * (collateralValue - debt);
  // Integer division truncates towards zero; a negative amount is rounded down as well.
  const isCut = scaled < 0n && scaled % collateralValue !== 0n;
  return fromUnits(scaled / collateralValue - (isCut ? 1n : 0n), token.decimals);
}

/** Convert an oracle price scaled by 1e36 to loan tokens per collateral token. */
export function wholePrice(price: bigint, { collateral, loan }: Market): Decimal {
  return new Decimal(price).shiftedBy(collateral.decimals - loan.decimals - 36);
}

/** Format a price as a plain decimal of 12 significant digits. */
export function formatPrice(price: Decimal): string {
  return price.isZero() ? '0' : price.precision(PRICE_DIGITS).toFixed();
}

/** LTV in percent at full precision; `null` = the collateral is worth nothing. */
export function valueLtvPct(debt: bigint, collateralValue: bigint): Decimal | null {
  if (collateralValue === 0n) return null;
  return debt === 0n ? ZERO : ratio(100n * debt, collateralValue);
}
