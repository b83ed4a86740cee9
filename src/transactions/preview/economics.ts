import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, fromUnits, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { OpenTerms, PlannedSwap, PositionState } from '../types.ts';

export interface Liquidation {
  /** Loan tokens per collateral token at which the position can be liquidated. */
  readonly price: Decimal;
  /** How far the oracle's price is above it, percent. */
  readonly dropPct: Decimal;
}

/** Find the price at which a position can be liquidated; `undefined` without debt. */
export function liquidationOf(
  market: Market,
  { collateral, debt }: PositionState,
  price: bigint,
): Liquidation | undefined {
  if (debt === 0n || collateral === 0n) return undefined;
  const lltv = new Decimal(market.lltv.toString()).shiftedBy(-18);
  const at = fromUnits(debt, market.loan.decimals).div(fromUnits(collateral, market.collateral.decimals)).div(lltv);
  const now = oraclePrice(market, price);
  return { price: at, dropPct: now.minus(at).times(HUNDRED).div(now) };
}

/** The oracle's price in loan tokens per collateral token. */
export function oraclePrice({ collateral, loan }: Market, price: bigint): Decimal {
  return new Decimal(price.toString()).shiftedBy(collateral.decimals - loan.decimals - 36);
}

export type CostKind =
  | 'ENTRY_SWAP'
  | 'LEVERAGE_SWAP'
  | 'REFERRAL_FEE'
  | 'REALLOCATION_FEE'
  | 'DEPOSIT_FEE'
  | 'YIELD_FEE';

/** What an open costs at once. Negative = gained. */
export interface Cost {
  readonly kind: CostKind;
  readonly symbol: string;
  /** Whole tokens. */
  readonly amount: Decimal;
  /** Absent when nothing prices the token. */
  readonly usd?: Decimal;
}

export interface CostInput {
  readonly market: Market;
  readonly price: bigint;
  readonly terms: Pick<OpenTerms, 'entrySwap' | 'leverageSwap' | 'reallocations' | 'depositFee'>;
  readonly native: { readonly symbol: string; readonly decimals: number; readonly usd: Decimal | undefined };
  readonly payUsd: Decimal | undefined;
  readonly loanUsd: Decimal | undefined;
}

/** List the costs of an open by kind: what each swap loses at the oracle's price, the referral fees in it, the contract's deposit fee, the vaults' fees. */
export function openCosts(input: CostInput): readonly Cost[] {
  const { market, price, terms, native, loanUsd } = input;
  const { entrySwap, leverageSwap, reallocations, depositFee } = terms;
  const worthOf = (collateral: bigint) => fromUnits(collateralValueInLoan(collateral, price), market.loan.decimals);
  const costs: Cost[] = [];
  const addSwap = (kind: CostKind, swap: PlannedSwap, usd: Decimal | undefined) => {
    const spent = fromUnits(swap.quote.amountIn, swap.tokenIn.decimals);
    const fee = spent.times(swap.feeBps).shiftedBy(-4);
    const received = worthOf(swap.expectedOut);
    const isLoan = swap.tokenIn.address === market.loan.address;
    const worth = isLoan ? received : loanUsd && usd ? received.times(loanUsd).div(usd) : undefined;
    const { symbol } = swap.tokenIn;
    if (worth) costs.push(costOf(kind, symbol, spent.minus(worth).minus(fee), usd));
    if (!fee.isZero()) costs.push(costOf('REFERRAL_FEE', symbol, fee, usd));
  };
  if (entrySwap) addSwap('ENTRY_SWAP', entrySwap, input.payUsd);
  addSwap('LEVERAGE_SWAP', leverageSwap, loanUsd);
  if (depositFee > 0n) {
    const { symbol, decimals } = market.collateral;
    const amount = fromUnits(depositFee, decimals);
    const usd = loanUsd && worthOf(depositFee).times(loanUsd).div(amount);
    costs.push(costOf('DEPOSIT_FEE', symbol, amount, usd));
  }
  const feeWei = reallocations.reduce((sum, reallocation) => sum + reallocation.feeWei, 0n);
  if (feeWei > 0n)
    costs.push(costOf('REALLOCATION_FEE', native.symbol, fromUnits(feeWei, native.decimals), native.usd));
  return costs;
}

/** Sum costs in USD; `undefined` when one of them has no price. */
export function totalUsd(costs: readonly Cost[]): Decimal | undefined {
  let sum = ZERO;
  for (const { usd } of costs) {
    if (!usd) return undefined;
    sum = sum.plus(usd);
  }
  return sum;
}

/** When the yield of the equity has earned the costs. Never is an answer; what nobody knows is none. */
export type BreakEven =
  | { readonly state: 'DAYS'; readonly days: Decimal }
  | { readonly state: 'NEVER' | 'UNKNOWN'; readonly days?: undefined };

/** Tell after how many days the yield of the equity has earned the costs; `undefined` inputs are not known. */
export function breakEvenOf(
  costUsd: Decimal | undefined,
  equityUsd: Decimal | undefined,
  apyPct: Decimal | undefined,
): BreakEven {
  if (!costUsd || !equityUsd || !apyPct) return { state: 'UNKNOWN' };
  if (!costUsd.gt(0)) return { state: 'DAYS', days: ZERO };
  const perDay = equityUsd.times(apyPct).div(HUNDRED).div(365);
  return perDay.gt(0) ? { state: 'DAYS', days: costUsd.div(perDay) } : { state: 'NEVER' };
}

function costOf(kind: CostKind, symbol: string, amount: Decimal, usd: Decimal | undefined): Cost {
  return { kind, symbol, amount, ...(usd ? { usd: amount.times(usd) } : {}) };
}
