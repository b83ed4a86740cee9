import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, fromUnits, HUNDRED } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { reallocationFee } from '../build/flash-leverage-router.ts';
import type { Path, PayToken, PlannedSwap, PositionState, Reallocation } from '../types.ts';

export type CostKind =
  | 'ENTRY_SWAP'
  | 'LEVERAGE_SWAP'
  | 'EXIT_SWAP'
  | 'STOCK_SWAP'
  | 'REFERRAL_FEE'
  | 'REALLOCATION_FEE'
  | 'DEPOSIT_FEE'
  | 'YIELD_FEE';

type CostToken = Pick<PayToken, 'address' | 'symbol' | 'decimals'>;

/** One cost before it is priced. */
export interface CostItem {
  readonly kind: CostKind;
  readonly token: CostToken;
  /** Whole tokens. */
  readonly amount: Decimal;
  /** The same in whole loan tokens, where it is known without USD prices. */
  readonly valueInLoan?: Decimal | undefined;
}

/** One cost that is paid at once. */
export interface Cost {
  readonly kind: CostKind;
  readonly token: Address;
  readonly symbol: string;
  /** Whole tokens. */
  readonly amount: Decimal;
  /** Absent when nothing prices the token. */
  readonly usd?: Decimal | undefined;
  /** Percent of the equity that is paid in or stands; absent when it cannot be valued. */
  readonly pctOfEquity?: Decimal | undefined;
}

/** Everything that an action costs at once, before it is priced. */
export interface CostBasis {
  readonly items: readonly CostItem[];
  /** The measure of the costs, whole loan tokens: the payment, else the value of the position less its debt. */
  readonly equity: Decimal;
  /** Losses of all swaps with their referral fees, and the fee for moving liquidity, percent of the equity; absent where one has no price. */
  readonly totalSwapCostPctOfEquity?: Decimal | undefined;
}

export interface CostedSwap {
  readonly kind: CostKind;
  readonly swap: PlannedSwap;
  /** Oracle price of the output, scaled by 1e36; absent where the output is the loan token. */
  readonly outPrice?: bigint | undefined;
}

export interface CostInput {
  readonly swaps: readonly CostedSwap[];
  readonly loan: CostToken;
  /** Loan base units. */
  readonly equity: bigint;
  /** Further costs: fees of vaults and contracts. */
  readonly fees?: readonly CostItem[] | undefined;
  /** The fee of vaults for moving liquidity, loan base units; `null` = nothing prices it; absent = none. */
  readonly movingFee?: bigint | null | undefined;
}

/** List the costs by kind: the loss of each swap against its reference, the referral fee in it, and further fees. */
export function costBasis({ swaps, loan, equity, fees = [], movingFee = 0n }: CostInput): CostBasis {
  const measure = fromUnits(equity, loan.decimals);
  const lost = swaps.map((swap) => swapLoss(swap, loan));
  const moving = movingFee === null ? undefined : fromUnits(movingFee, loan.decimals);
  const total = lost.reduce<Decimal | undefined>((sum, loss) => sum && loss && sum.plus(loss), moving);
  const pct = total && pctOf(total, measure);
  return {
    items: [...swaps.flatMap((swap) => swapItems(swap, loan)), ...fees],
    equity: measure,
    totalSwapCostPctOfEquity: pct,
  };
}

/** Price costs in USD, and by the equity. */
export function pricedCosts(
  { items, equity }: CostBasis,
  usdOf: (token: Address) => Decimal | undefined,
  loan: Address,
): readonly Cost[] {
  const loanUsd = usdOf(loan);
  return items.map(({ kind, token, amount, valueInLoan }) => {
    const tokenUsd = usdOf(token.address);
    const usd = tokenUsd ? amount.times(tokenUsd) : loanUsd && valueInLoan?.times(loanUsd);
    const value = valueInLoan ?? (usd && loanUsd?.gt(0) ? usd.div(loanUsd) : undefined);
    const pctOfEquity = value && pctOf(value, equity);
    return {
      kind,
      token: token.address,
      symbol: token.symbol,
      amount,
      usd,
      pctOfEquity,
    };
  });
}

/** Fees of the vaults for moving liquidity into the market, in native tokens. */
export function reallocationFees(reallocations: readonly Reallocation[], native: CostToken): readonly CostItem[] {
  const wei = reallocationFee(reallocations);
  return wei === 0n ? [] : [{ kind: 'REALLOCATION_FEE', token: native, amount: fromUnits(wei, native.decimals) }];
}

/** A fee of the contract, base units: of the collateral where its oracle price is given, else of the loan token. */
export function contractFees(
  kind: 'DEPOSIT_FEE' | 'YIELD_FEE',
  fee: bigint,
  { collateral, loan }: Market,
  price?: bigint,
): readonly CostItem[] {
  if (fee === 0n) return [];
  const token = price === undefined ? loan : collateral;
  return [{ kind, token, amount: fromUnits(fee, token.decimals), valueInLoan: loanValue(fee, price, loan) }];
}

/** Name the swaps of a path: the last one of an opening or increase swaps the loan, a close sells, others enter. */
export function judgedSwaps(
  path: Path,
  swaps: readonly PlannedSwap[],
  market: Market,
  price: bigint,
): readonly CostedSwap[] {
  return swaps.map((swap, i) => ({
    kind: kindOf(path, i === swaps.length - 1),
    swap,
    outPrice: swap.tokenOut.address === market.collateral.address ? price : undefined,
  }));
}

/** Value of a position less its debt at an oracle price, loan base units; negative under water. */
export function equityValueOf({ collateral, debt }: PositionState, price: bigint): bigint {
  return collateralValueInLoan(collateral, price) - debt;
}

function kindOf(path: Path, isLast: boolean): CostKind {
  if (path === 'deleverage') return 'EXIT_SWAP';
  return isLast && LOAN_SWAPPED.includes(path) ? 'LEVERAGE_SWAP' : 'ENTRY_SWAP';
}

const LOAN_SWAPPED: readonly Path[] = [
  'leverage',
  'swapAndLeverage',
  'reallocateAndLeverage',
  'reallocateSwapAndLeverage',
  'increaseLeverage',
];

/** Loss of a swap in whole loan tokens; `undefined` where nothing prices the pair. */
function swapLoss({ swap, outPrice }: CostedSwap, loan: CostToken): Decimal | undefined {
  const { reference, expectedOut } = swap;
  if (reference === undefined) return undefined;
  return loanValue(reference > expectedOut ? reference - expectedOut : 0n, outPrice, loan);
}

function swapItems(judged: CostedSwap, loan: CostToken): readonly CostItem[] {
  const { kind, swap, outPrice } = judged;
  const { tokenIn: token, quote, feeBps, reference, lossPct } = swap;
  const spent = fromUnits(quote.amountIn, token.decimals);
  // As venues take it: in whole base units.
  const fee = fromUnits((quote.amountIn * BigInt(feeBps)) / 10_000n, token.decimals);
  const worth = reference === undefined ? undefined : loanValue(reference, outPrice, loan);
  const feeValue = worth?.times(feeBps).shiftedBy(-4);
  const loss = swapLoss(judged, loan);
  const lost = (pct: Decimal) =>
    spent.times(pct).div(HUNDRED).minus(fee).decimalPlaces(token.decimals, Decimal.ROUND_HALF_UP);
  return [
    ...(lossPct && loss && feeValue ? [{ kind, token, amount: lost(lossPct), valueInLoan: loss.minus(feeValue) }] : []),
    ...(fee.isZero() ? [] : [{ kind: 'REFERRAL_FEE' as const, token, amount: fee, valueInLoan: feeValue }]),
  ];
}

function loanValue(units: bigint, outPrice: bigint | undefined, loan: CostToken): Decimal {
  return fromUnits(outPrice === undefined ? units : collateralValueInLoan(units, outPrice), loan.decimals);
}

function pctOf(value: Decimal, equity: Decimal): Decimal | undefined {
  return equity.gt(0) ? value.times(HUNDRED).div(equity) : undefined;
}
