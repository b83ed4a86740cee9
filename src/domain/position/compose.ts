import type { Market } from '../../catalog/types.ts';
import { Decimal, formatPct, formatUnitsPlain, toFixedHalfUp } from '../../shared/decimal.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { leverageApyPctAtLtv, shownLeverage } from '../leverage/leverage.ts';
import { limitsOf } from '../market/statics.ts';
import type { ComposedMarket } from '../market/types.ts';
import { positionExit } from './exit.ts';
import type { HeldPosition, Position, PositionStatus, WalletHoldings } from './types.ts';
import { formatPrice, netCollateralOf, type Valuation, valueHolding } from './valuation.ts';

/** What is known of the market that a position is in: nothing, the catalog's row, or everything. */
export interface PositionMarket {
  readonly market?: Market | undefined;
  readonly composed?: ComposedMarket | undefined;
}

export type Owner = Pick<WalletHoldings, 'chainId' | 'wallet' | 'block'>;

/** Tell the status of a position: liquidated = open for the contract, but without collateral. */
export function statusOf({ open, collateral }: Pick<HeldPosition, 'open' | 'collateral'>): PositionStatus {
  if (!open) return 'closed';
  return collateral === 0n ? 'liquidated' : 'open';
}

/** Compose one position as it is shown. A market that is not known costs the fields that need it, never the position. */
export function composePosition(held: HeldPosition, owner: Owner, { market, composed }: PositionMarket): Position {
  const status = statusOf(held);
  const gaps: Gap[] = [];
  const frame = {
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
  };
  if (!market) {
    const message = 'Its market is not in the catalog, so its tokens are not known.';
    return { ...frame, exitLiquidity: null, gaps: unknownFields([...TOKEN_FIELDS, ...VALUE_FIELDS], message) };
  }
  const basis = {
    collateralSymbol: market.collateral.displaySymbol,
    loanSymbol: market.loan.symbol,
    amountLeveragedCollateral: formatUnitsPlain(held.collateral, market.collateral.decimals),
    liquidationLtvPct: formatPct(limitsOf(market).liquidationLtvPct),
    amountDepositedInLoanToken: formatUnitsPlain(held.depositedAssets, market.loan.decimals),
    amountReturnedInLoanToken: formatUnitsPlain(held.returnedAssets, market.loan.decimals),
  };
  if (status !== 'open') return { ...frame, ...basis, ...nothingLeft(status, gaps), gaps };
  if (!composed) {
    const message = 'Its market has not been measured yet.';
    return { ...frame, ...basis, exitLiquidity: null, gaps: unknownFields(VALUE_FIELDS, message) };
  }
  const value = valueHolding(held, composed, owner.block.timestamp);
  const { borrow, oracle, collateralApy } = composed.stamps;
  return {
    ...frame,
    ...basis,
    netCollateral: netCollateralOf(value, market).toFixed(),
    amountLoan: formatUnitsPlain(value.debt, market.loan.decimals),
    ...ltvFields(value, composed, gaps),
    ...usdFields(value, composed, gaps),
    exitLiquidity: positionExit(composed, value.usd?.collateral ?? null, gaps),
    freshness: { borrow, oracle, collateralApy },
    gaps,
  };
}

/** The points between an LTV and the liquidation LTV, of the numbers as they are shown, so that they add up. */
export function headroomPct(ltvPct: string, liquidationLtvPct: string): string {
  return new Decimal(liquidationLtvPct).minus(ltvPct).toFixed(2);
}

function ltvFields(value: Valuation, composed: ComposedMarket, gaps: Gap[]) {
  const ltvPct = value.ltvPct === null ? null : formatPct(value.ltvPct);
  const liquidationPrice = value.liquidationPrice === null ? null : formatPrice(value.liquidationPrice);
  if (ltvPct === null || value.ltvPct === null) {
    const message = 'The oracle says that the collateral is worth nothing.';
    for (const field of ['ltvPct', 'ltvHeadroomPct']) gaps.push(gap(field, 'NOT_APPLICABLE', message));
  }
  if (liquidationPrice === null) {
    gaps.push(gap('liquidationPrice', 'NONE', 'Without debt it cannot be liquidated.'));
  }
  return {
    ltvPct,
    ltvHeadroomPct: ltvPct === null ? null : headroomPct(ltvPct, formatPct(composed.liquidationLtvPct)),
    ...leverageFields(value.ltvPct, composed, gaps),
    liquidationPrice,
  };
}

function leverageFields(ltvPct: Decimal | null, composed: ComposedMarket, gaps: Gap[]) {
  if (ltvPct === null || ltvPct.gte(100)) {
    const message = 'The debt is worth as much as the collateral or more: there is no equity to lever.';
    for (const field of ['currentLeverage', 'currentLeverageApyPct']) gaps.push(gap(field, 'NOT_APPLICABLE', message));
    return { currentLeverage: null, currentLeverageApyPct: null };
  }
  const apyPct = leverageApyPctAtLtv(composed.effectiveCollateralApyPct, composed.netBorrowApyPct, ltvPct);
  return { currentLeverage: shownLeverage(ltvPct), currentLeverageApyPct: formatPct(apyPct) };
}

function usdFields({ usd }: Valuation, composed: ComposedMarket, gaps: Gap[]) {
  if (usd === null) {
    const known = composed.gaps.find(({ field }) => field === 'loan.priceUsd');
    const missing = known ?? gap('loan.priceUsd', 'NOT_MEASURED', 'The price of the loan token is not known.');
    for (const field of USD_FIELDS) gaps.push({ ...missing, field });
    return {};
  }
  return {
    collateralUsd: toFixedHalfUp(usd.collateral, 2),
    debtUsd: toFixedHalfUp(usd.debt, 2),
    netValueUsd: toFixedHalfUp(usd.net, 2),
  };
}

/** A position that ended holds nothing and owes nothing; ratios of nothing do not exist. */
function nothingLeft(status: PositionStatus, gaps: Gap[]) {
  for (const field of RATIO_FIELDS) gaps.push(gap(field, 'NOT_APPLICABLE', `The position is ${status}.`));
  return {
    netCollateral: '0',
    amountLoan: '0',
    ltvPct: null,
    ltvHeadroomPct: null,
    currentLeverage: null,
    collateralUsd: '0.00',
    debtUsd: '0.00',
    netValueUsd: '0.00',
    currentLeverageApyPct: null,
    liquidationPrice: null,
    exitLiquidity: null,
  };
}

const RATIO_FIELDS = [
  'ltvPct',
  'ltvHeadroomPct',
  'currentLeverage',
  'currentLeverageApyPct',
  'liquidationPrice',
  'exitLiquidity',
];
const USD_FIELDS = [
  'collateralUsd',
  'debtUsd',
  'netValueUsd',
  'exitLiquidity.unwindSizeUsd',
  'exitLiquidity.exceedsCleanExitSize',
];
const VALUE_FIELDS = ['netCollateral', 'amountLoan', ...RATIO_FIELDS, 'collateralUsd', 'debtUsd', 'netValueUsd'];
const TOKEN_FIELDS = [
  'collateralSymbol',
  'loanSymbol',
  'amountLeveragedCollateral',
  'liquidationLtvPct',
  'amountDepositedInLoanToken',
  'amountReturnedInLoanToken',
];

function unknownFields(fields: readonly string[], message: string): readonly Gap[] {
  return fields.map((field) => gap(field, 'NOT_MEASURED', message));
}
