import { VerificationError } from './errors.ts';
import type { Ratio, SwapLimits, Target, TotalLimits, TrustedMarket } from './types.ts';

export const WAD = 10n ** 18n;
export const ORACLE_SCALE = 10n ** 36n;
/** The readings of the caller may be some blocks apart from those of the plan: prices, and interest. WAD. */
export const READING_TOLERANCE = 2n * 10n ** 15n;
/** Base units by which interest and fee may round a debt up, however small it is. */
export const ROUNDING = 2n;
/** The largest fees that the contract allows: deposit fee 1 %, yield fee 10 %. WAD. */
export const MOST_DEPOSIT_FEE = 10n ** 16n;
export const MOST_YIELD_FEE = 10n ** 17n;

/** Vaults trade tokens with less depth than the pairs of a loop. */
export const SWAP_DEFAULTS = { slippage: 0.005, maxSwapLoss: 0.005 } as const;
export const VAULT_DEFAULTS = { slippage: 0.01, maxSwapLoss: 0.01 } as const;
/** Of a sale that leaves a position. */
export const SALE_DEFAULTS = { slippage: 0.005, maxSwapLoss: 0.01 } as const;
/** Of the equity, for all swaps together where risk is added and where a position is left: the bounds of the service. */
const DEFAULT_TOTAL_LOSS = { adding: 0.02, leaving: 0.05 } as const;
/** Of the equity: from it on a proof names the expected loss of its sales, as the service does. WAD. */
const HIGH_COST = 2n * 10n ** 16n;

type SwapDefaults = typeof SWAP_DEFAULTS | typeof VAULT_DEFAULTS | typeof SALE_DEFAULTS;

/** A decimal number, with an exponent where it is the text of a small number: a double has up to 17 digits and any scale. */
const RATIO = /^(\d{1,6})(?:\.(\d{1,40}))?(?:e-(\d{1,3}))?$/;

/**
 * Read a decimal ratio as WAD, a number by its shortest decimal text. Digits beyond a WAD count for nothing.
 *
 * @param places of the unit: 18 for a ratio, 16 for percent
 */
export function wadOf(value: Ratio, name: string, places = 18): bigint {
  const text = String(value);
  const [, whole = '', fraction = '', exponent = '0'] = RATIO.exec(text) ?? [];
  if (whole === '') {
    throw new VerificationError('intent', `${name} of the intent is ${text}. Give a decimal number such as 0.005.`);
  }
  const digits = BigInt(`${whole}${fraction}`);
  const scale = places - fraction.length - Number(exponent);
  return scale >= 0 ? digits * 10n ** BigInt(scale) : digits / 10n ** BigInt(-scale);
}

/** The most that a swap may lose of its reference, WAD. */
export function lossOf({ slippage, maxSwapLoss }: SwapLimits, defaults: SwapDefaults = SWAP_DEFAULTS): bigint {
  const loss =
    wadOf(slippage ?? defaults.slippage, 'slippage') + wadOf(maxSwapLoss ?? defaults.maxSwapLoss, 'maxSwapLoss');
  if (loss < WAD) return loss;
  throw new VerificationError('intent', 'slippage and maxSwapLoss of the intent together allow to lose everything.');
}

/** One swap, at its least output. */
export interface SwapAtLeast {
  readonly reference: bigint;
  readonly minimum: bigint;
}

/** A position that is left, in its loan token. */
export interface LeftLeg {
  /** Of its collateral. */
  readonly value: bigint;
  readonly debt: bigint;
  /** Cost of a liquidation now; 0 = it is at its max LTV or below. */
  readonly liquidation: bigint;
}

/** The own money that the losses of several swaps are measured by. */
export interface OwnMoney {
  /** The own money behind them, in the token of the swaps; 0 or less = none. */
  readonly equity: bigint;
  /** The positions that they leave; absent = they add risk. */
  readonly left?: readonly LeftLeg[] | undefined;
  readonly defaults?: SwapDefaults | undefined;
}

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);

/** The loss of all swaps at their least outputs, and the most that it may be. */
export function totalLossOf(
  { slippage, maxTotalLoss }: TotalLimits,
  swaps: readonly SwapAtLeast[],
  { equity, left, defaults = SWAP_DEFAULTS }: OwnMoney,
): { readonly lost: bigint; readonly most: bigint } {
  const sold = sum(swaps.map(({ reference }) => reference));
  const lost = sum(swaps.map(({ reference, minimum }) => (minimum < reference ? reference - minimum : 0n)));
  const ofEach = wadOf(slippage ?? defaults.slippage, 'slippage') + READING_TOLERANCE;
  const byDefault = left ? DEFAULT_TOTAL_LOSS.leaving : DEFAULT_TOTAL_LOSS.adding;
  const share = wadOf(maxTotalLoss ?? byDefault, 'maxTotalLoss');
  const ofEquity = (own: bigint) => (larger(own, 0n) * share) / WAD;
  const usual = ofEquity(equity);
  const ofLegs = left?.map(({ value, debt, liquidation }) => larger(ofEquity(value - debt), liquidation)) ?? [];
  const allowed = maxTotalLoss === undefined ? larger(usual, sum(ofLegs)) : usual;
  // Each swap may be rounded down by its venue.
  return { lost, most: (sold * ofEach) / WAD + allowed + ROUNDING * BigInt(swaps.length) };
}

/**
 * The cost of a liquidation of the whole debt, of a position above its max LTV, at most its own money; 0 at or below it.
 * The incentive is that of the lending protocol: 1 / (1 − 0.3 × (1 − liquidation LTV)), at most 1.15.
 */
export function liquidationOf(lltv: bigint, maxLtv: bigint, value: bigint, debt: bigint): bigint {
  const own = value - debt;
  if (own <= 0n || debt * WAD <= value * maxLtv) return 0n;
  const incentive = (WAD * WAD) / (WAD - (3n * (WAD - lltv)) / 10n) - WAD;
  const capped = incentive < MOST_INCENTIVE ? incentive : MOST_INCENTIVE;
  const taken = (debt * capped) / WAD;
  return taken < own ? taken : own;
}

/** WAD. */
const MOST_INCENTIVE = 15n * 10n ** 16n;

/**
 * The loss that sales are expected to have besides their slippage, where that is 2 % of the own money or more; `undefined` = less.
 * A minimum that is raised to the debt, or to the caller's own, does not tell what is expected: all of the loss counts then.
 */
export function highCostOf(
  { slippage, minAmountOut }: SwapLimits,
  sales: readonly (SwapAtLeast & { readonly debt: bigint })[],
  equity: bigint,
  defaults: SwapDefaults,
): bigint | undefined {
  const rest = WAD - wadOf(slippage ?? defaults.slippage, 'slippage');
  const lost = sum(
    sales.map(({ reference, minimum, debt }) => {
      const isRaised = minAmountOut !== undefined || minimum <= more(debt, READING_TOLERANCE);
      const expected = isRaised ? minimum : (minimum * WAD) / rest;
      return larger(reference - expected - ROUNDING, 0n);
    }),
  );
  return lost > 0n && lost * WAD >= larger(equity, 0n) * HIGH_COST ? lost : undefined;
}

/** The target as an LTV in WAD. */
export function targetLtv({ leverage, desiredLtv }: Target): bigint {
  if ((leverage === undefined) === (desiredLtv === undefined)) {
    throw new VerificationError('intent', 'The intent needs exactly one of leverage and desiredLtv.');
  }
  const wad = leverage === undefined ? wadOf(desiredLtv ?? '', 'desiredLtv', 16) : wadOf(leverage, 'leverage');
  const target = leverage === undefined ? wad : wad > WAD ? WAD - (WAD * WAD) / wad : 0n;
  if (target > 0n && target < WAD) return target;
  throw new VerificationError('intent', 'The target of the intent is no LTV between 0 and 100 %.');
}

/** Base units as a decimal number without trailing zeros. */
export function unitsText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${digits.slice(0, digits.length - decimals)}${decimals === 0 || fraction === '' ? '' : `.${fraction}`}`;
}

export const less = (amount: bigint, share: bigint): bigint => (amount * (WAD - share)) / WAD;
export const more = (amount: bigint, share: bigint): bigint => (amount * (WAD + share)) / WAD;

/** The part of a least output that a plan counts on: a market that pays more than the reference adds nothing. */
export const counted = (minimum: bigint, reference: bigint): bigint => (minimum < reference ? minimum : reference);

/** Value of collateral in loan base units, and the reverse. */
export const loanValue = (collateral: bigint, price: bigint): bigint => (collateral * price) / ORACLE_SCALE;
export const collateralFor = (loan: bigint, price: bigint): bigint => (loan * ORACLE_SCALE) / price;

/** A share in percent, rounded up to two places. */
export function percentOf(part: bigint, whole: bigint): string {
  if (whole <= 0n) return part === 0n ? '0' : 'unbounded';
  return unitsText((part * 10_000n + whole - 1n) / whole, 2);
}

export const depositFeeOf = ({ correlated }: TrustedMarket, given: bigint | undefined): bigint =>
  correlated ? 0n : (given ?? MOST_DEPOSIT_FEE);
export const yieldFeeOf = ({ correlated }: TrustedMarket, given: bigint | undefined): bigint =>
  correlated ? (given ?? MOST_YIELD_FEE) : 0n;
