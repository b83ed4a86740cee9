import type { Market } from '../../catalog/types.ts';
import { Decimal, formatPct, formatUnitsPlain, HUNDRED, toFixedHalfUp } from '../../shared/decimal.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { LEVERAGE_PLACES, leverageApyPct, leverageFromLtvPct } from '../leverage/leveraged-apy.ts';
import type { PositionMarketValues } from '../market/at-block.ts';
import { priceAgeGap, priceAsOfMs } from '../market/price-age.ts';
import { limitsOf } from '../market/statics.ts';
import { closingOf, formatClosing } from './closing.ts';
import { positionExit } from './exit.ts';
import { type HeldPosition, type Position, type PositionStatus, readAtOf, type WalletHoldings } from './types.ts';
import { formatHealthFactor, formatPrice, isDust, netCollateralOf, type Valuation, valueHolding } from './valuation.ts';

/** The market of a position: unknown, in the catalog, or composed. */
export interface PositionMarket {
  readonly market?: Market | undefined;
  readonly composed?: PositionMarketValues | undefined;
}

const NO_WARNINGS: Position['warnings'] = [];

export type Owner = Pick<WalletHoldings, 'chainId' | 'wallet' | 'block'>;

/**
 * Return the status of a position. A liquidated position is still open for the contract, but has no collateral; anybody may
 * supply dust for its account afterwards.
 */
export function statusOf(
  held: Pick<HeldPosition, 'open' | 'collateral' | 'borrowShares'>,
  composed: PositionMarketValues | undefined,
): PositionStatus {
  if (!held.open) return 'closed';
  return held.collateral === 0n || isDust(held, composed) ? 'liquidated' : 'open';
}

/** Compose one position with formatted values. If the market is not known, only the fields that need it are missing. */
export function composePosition(held: HeldPosition, owner: Owner, { market, composed }: PositionMarket): Position {
  const status = statusOf(held, composed);
  const gaps: Gap[] = [];
  // Assigned field by field: there are thousands of positions, and spreading objects of many shapes is measurably slower.
  const draft: Draft = {
    id: held.id,
    positionId: `${owner.chainId}-${held.marketId}-${held.id}`,
    chainId: owner.chainId,
    wallet: owner.wallet,
    proxy: held.proxy,
    marketId: held.marketId,
    strategyId: held.marketId as string as StrategyId,
    status,
    open: status === 'open',
    liquidated: status === 'liquidated',
    exitLiquidity: null,
    readAt: readAtOf(owner.block),
    warnings: NO_WARNINGS,
    gaps,
  };
  if (!market) {
    const message = 'Its market is not in the catalog, so its tokens are unknown.';
    draft.gaps = unknownFields([...TOKEN_FIELDS, ...VALUE_FIELDS], message);
    addKnownManualMode(draft, held);
    return draft;
  }
  draft.collateralSymbol = market.collateral.displaySymbol;
  draft.collateralAddress = market.collateral.address;
  draft.collateralDecimals = market.collateral.decimals;
  draft.loanSymbol = market.loan.symbol;
  draft.loanAddress = market.loan.address;
  draft.loanDecimals = market.loan.decimals;
  draft.amountLeveragedCollateral = formatUnitsPlain(held.collateral, market.collateral.decimals);
  draft.liquidationLtvPct = formatPct((composed ?? limitsOf(market)).liquidationLtvPct);
  draft.amountDepositedInLoanToken = formatUnitsPlain(held.depositedAssets, market.loan.decimals);
  draft.amountReturnedInLoanToken = formatUnitsPlain(held.returnedAssets, market.loan.decimals);
  if (status !== 'open') {
    addNothingLeft(draft, status, gaps);
    return draft;
  }
  if (!composed) {
    draft.gaps = unknownFields(VALUE_FIELDS, 'Its market has not been measured yet.');
    addKnownManualMode(draft, held);
    return draft;
  }
  const value = valueHolding(held, composed, owner.block.timestamp);
  const { borrow, oracle, collateralApy } = composed.stamps;
  draft.netCollateral = netCollateralOf(value, market).toFixed();
  draft.amountLoan = formatUnitsPlain(value.debt, market.loan.decimals);
  addLtv(draft, value, composed, gaps);
  addUsd(draft, value, composed, gaps);
  addClosing(draft, value, held, composed, gaps);
  addManualMode(draft, held, composed, owner.block.timestamp, gaps);
  draft.exitLiquidity = positionExit(composed, value.usd?.collateral ?? null, gaps);
  draft.freshness = { borrow, oracle, collateralApy };
  draft.warnings = composed.warnings;
  addPriceAge(draft, composed, gaps);
  return draft;
}

/** A position under construction: optional fields are added once they are known. */
type Draft = { -readonly [K in keyof Position]: Position[K] };

/**
 * Points between an LTV and the liquidation LTV, computed from the rounded numbers, so that the three displayed numbers add
 * up.
 */
export function headroomPct(ltvPct: string, liquidationLtvPct: string): string {
  return new Decimal(liquidationLtvPct).minus(ltvPct).toFixed(2);
}

function addLtv(draft: Draft, value: Valuation, composed: PositionMarketValues, gaps: Gap[]): void {
  const ltvPct = value.ltvPct === null ? null : formatPct(value.ltvPct);
  if (ltvPct === null) {
    const message = 'The oracle values the collateral at zero.';
    for (const field of ['ltvPct', 'ltvHeadroomPct', 'priceDropToLiquidationPct'])
      gaps.push(gap(field, 'NOT_APPLICABLE', message));
  }
  if (value.liquidationPrice === null) {
    const fields = ltvPct === null ? ['liquidationPrice'] : ['liquidationPrice', 'priceDropToLiquidationPct'];
    for (const field of fields) gaps.push(gap(field, 'NONE', 'Without debt there is no liquidation.'));
  }
  draft.ltvPct = ltvPct;
  draft.ltvHeadroomPct = ltvPct === null ? null : headroomPct(ltvPct, formatPct(composed.liquidationLtvPct));
  addHealth(draft, value, composed, gaps);
  addLeverage(draft, value.ltvPct, composed, gaps);
  draft.liquidationPrice = value.liquidationPrice === null ? null : formatPrice(value.liquidationPrice);
  // The liquidation price is to the oracle's price as the LTV is to the liquidation LTV.
  draft.priceDropToLiquidationPct =
    value.liquidationPrice === null || value.ltvPct === null
      ? null
      : formatPct(HUNDRED.minus(value.ltvPct.times(HUNDRED).div(composed.liquidationLtvPct)));
}

function addHealth(draft: Draft, value: Valuation, { facts, market }: PositionMarketValues, gaps: Gap[]): void {
  draft.healthFactor = formatHealthFactor(value, facts.oracle.value.price, market);
  if (draft.healthFactor === null) gaps.push(gap('healthFactor', 'NONE', 'Without debt there is no health factor.'));
}

function addLeverage(draft: Draft, ltvPct: Decimal | null, composed: PositionMarketValues, gaps: Gap[]): void {
  if (ltvPct === null || ltvPct.gte(100)) {
    const message = 'The debt is at least the collateral value: there is no equity.';
    for (const field of ['leverage', 'leverageApyPct']) gaps.push(gap(field, 'NOT_APPLICABLE', message));
    draft.currentLeverage = null;
    draft.currentLeverageApyPct = null;
    return;
  }
  const { effectiveCollateralApyPct, netBorrowApyPct } = composed;
  const leverage = leverageFromLtvPct(ltvPct);
  draft.currentLeverage = toFixedHalfUp(leverage, LEVERAGE_PLACES);
  draft.currentLeverageApyPct = formatPct(leverageApyPct(effectiveCollateralApyPct, netBorrowApyPct, leverage));
  const uncounted = composed.gaps.find(({ field }) => field === 'netBorrowApyPct');
  if (uncounted) gaps.push({ ...uncounted, field: 'leverageApyPct' });
}

function addUsd(draft: Draft, { usd }: Valuation, composed: PositionMarketValues, gaps: Gap[]): void {
  if (usd === null) {
    const known = composed.gaps.find(({ field }) => field === 'loanPrice');
    const missing = known ?? gap('loanPrice', 'NOT_MEASURED', 'The price of the loan token is unknown.');
    for (const field of USD_FIELDS) gaps.push({ ...missing, field });
    return;
  }
  draft.collateralUsd = toFixedHalfUp(usd.collateral, 2);
  draft.debtUsd = toFixedHalfUp(usd.debt, 2);
  draft.netValueUsd = toFixedHalfUp(usd.net, 2);
}

/**
 * Result of closing. In manual mode the wallet closes the position itself, without a fee. An unknown fee has its documented
 * value and a gap.
 */
function addClosing(
  draft: Draft,
  value: Valuation,
  { depositedAssets, manualMode }: HeldPosition,
  { market, fees, loanPrice }: PositionMarketValues,
  gaps: Gap[],
): void {
  const yieldFee = manualMode ? 0n : fees.yieldFee;
  draft.closeNow = formatClosing(closingOf(value, depositedAssets, yieldFee), market, loanPrice?.value.usd);
  if (manualMode) return;
  const assumed = fees.gaps.find(({ field }) => field === 'fees.yieldFeePct');
  if (assumed) gaps.push({ ...assumed, field: 'closeNow.yieldFee' });
}

/** Interest of this many seconds is added to the debt that the owner repays, because approvals take time. */
const MANUAL_AHEAD_SEC = 1_800n;

function addManualMode(
  draft: Draft,
  held: HeldPosition,
  composed: PositionMarketValues,
  timestamp: bigint,
  gaps: Gap[],
): void {
  const { manualMode, collateral, borrowShares } = held;
  if (manualMode === undefined) {
    gaps.push(gap('manualMode', 'NOT_MEASURED', 'The contract of the position did not answer.'));
    return;
  }
  draft.manualMode = manualMode;
  if (!manualMode) return;
  const { debt: debtLater } = valueHolding(held, composed, timestamp + MANUAL_AHEAD_SEC);
  draft.manual = { collateral, borrowShares, debtLater };
}

/** The manual mode is known without the market's values; the calls that end it need them. */
function addKnownManualMode(draft: Draft, { manualMode }: HeldPosition): void {
  if (manualMode === undefined) return;
  draft.manualMode = manualMode;
  draft.gaps = draft.gaps.filter(({ field }) => field !== 'manualMode');
}

function addPriceAge(draft: Draft, { facts }: PositionMarketValues, gaps: Gap[]): void {
  const asOfMs = priceAsOfMs(facts.oracle.value.feeds);
  const missing = priceAgeGap(asOfMs);
  if (missing) gaps.push(missing);
  if (asOfMs !== undefined) draft.oraclePriceAsOfMs = asOfMs;
}

/** An ended position has zero amounts; its ratios do not apply. */
function addNothingLeft(draft: Draft, status: PositionStatus, gaps: Gap[]): void {
  for (const field of RATIO_FIELDS) gaps.push(gap(field, 'NOT_APPLICABLE', `The position is ${status}.`));
  draft.netCollateral = '0';
  draft.amountLoan = '0';
  draft.ltvPct = null;
  draft.ltvHeadroomPct = null;
  draft.healthFactor = null;
  draft.currentLeverage = null;
  draft.collateralUsd = '0.00';
  draft.debtUsd = '0.00';
  draft.netValueUsd = '0.00';
  draft.currentLeverageApyPct = null;
  draft.liquidationPrice = null;
  draft.priceDropToLiquidationPct = null;
  draft.closeNow = null;
  draft.manualMode = null;
}

const RATIO_FIELDS = [
  'ltvPct',
  'ltvHeadroomPct',
  'healthFactor',
  'leverage',
  'leverageApyPct',
  'liquidationPrice',
  'priceDropToLiquidationPct',
  'closeNow',
  'manualMode',
  'exitLiquidity',
];
const USD_FIELDS = [
  'collateralUsd',
  'debtUsd',
  'netValueUsd',
  'closeNow.yieldFeeUsd',
  'closeNow.paysOutUsd',
  'closeNow.pnlBeforeFeeUsd',
  'closeNow.pnlAfterFeeUsd',
  'exitLiquidity.unwindSizeUsd',
  'exitLiquidity.exceedsCleanExitSize',
];
const VALUE_FIELDS = ['netCollateralAmount', 'debtAmount', ...RATIO_FIELDS, 'collateralUsd', 'debtUsd', 'netValueUsd'];
const TOKEN_FIELDS = [
  'collateralToken',
  'loanToken',
  'collateralAmount',
  'liquidationLtvPct',
  'depositBasis',
  'returnedAmount',
];

function unknownFields(fields: readonly string[], message: string): readonly Gap[] {
  return fields.map((field) => gap(field, 'NOT_MEASURED', message));
}
