import { DAY_MS } from '../../../domain/apy/series.ts';
import { EXIT_SIZES_USD, type ExitSweep } from '../../../domain/facts.ts';
import { LEVERAGE_PLACES, leverageFromLtvPct } from '../../../domain/leverage/leveraged-apy.ts';
import type { ComposedMarket } from '../../../domain/market/types.ts';
import { cleanExitSize, lossOfSale, measuredSize } from '../../../domain/strategy/exit.ts';
import { Decimal, HUNDRED, toFixedHalfUp, ZERO } from '../../../shared/decimal.ts';
import { projectReach } from './drift.ts';
import { openedHolding } from './holding.ts';
import { canBeLiquidated } from './liquidation.ts';
import { stressRow } from './rows.ts';
import type { BestExclusion, Reach, StressHolding } from './types.ts';

/** The conditions of the search. */
export interface BestRequest {
  /** USD that are paid in. */
  readonly amountUsd: Decimal;
  /** Whether the payment is the collateral itself, so that nothing is swapped before the loan. */
  readonly paysCollateral: boolean;
  /** Fall of the oracle's price that has to be survived at any time until the exit, percent. */
  readonly maxDrawdownPct: Decimal;
  /** Size of a sale that has to be clean, USD. */
  readonly minExitUsd: Decimal;
  readonly holdingDays: number;
  readonly nowMs: number;
  /** Referral fee of swaps into a position on the market, basis points. */
  readonly referralBps: number;
}

/** A strategy at the leverage that gives most of those that meet a request. Percent of the payment, unless stated otherwise. */
export interface RankedTerms {
  /** 1 place. */
  readonly leverage: Decimal;
  /** The largest leverage that meets the request, 1 place. */
  readonly largestLeverage: Decimal;
  readonly ltvPct: Decimal;
  /** Net APY of the position on its equity at the rates after its own borrow, before costs. */
  readonly positionApyPct: Decimal;
  /** Yearly result on the payment, after everything. */
  readonly netApyPct: Decimal;
  readonly entryCostPct: Decimal;
  readonly exitCostPct: Decimal;
  readonly yieldFeePct: Decimal;
  /** When its LTV reaches the liquidation LTV at the rates after its own borrow and today's price; absent = a rate is not known. */
  readonly toLiquidation: Reach | undefined;
  /** Times of the market state and of the exit sweep that it is computed from, ms. */
  readonly ratesAsOfMs: number;
  readonly exitAsOfMs: number;
  readonly holding: StressHolding;
}

/** The reason for leaving a strategy out: its value, and the value that the request needs. */
export interface Exclusion {
  readonly reason: BestExclusion;
  readonly value: string | null;
  readonly limit: string | null;
}

const YEAR_DAYS = 365;
const STEP = new Decimal('0.1');
/** Below this there is no leverage. */
const MIN_LEVERAGE = new Decimal('1.1');

const fellOut = (reason: BestExclusion, value: string | null = null, limit: string | null = null): Exclusion => ({
  reason,
  value,
  limit,
});

/** Find the terms of a market for a request, or the first reason why it has none. */
export function rankMarket(composed: ComposedMarket, request: BestRequest): RankedTerms | Exclusion {
  const exit = composed.facts.exitLiquidity;
  const sweep = exit?.value;
  const exclusion = excludedBy(composed, sweep, request);
  if (exclusion) return exclusion;
  const loanUsd = composed.loanPrice?.value.usd;
  if (!loanUsd) return fellOut('PRICE_UNKNOWN');
  if (!exit || !sweep) return fellOut('EXIT_UNKNOWN');
  const entry = request.paysCollateral ? ZERO : swapCost(sweep, request.amountUsd, request.referralBps);
  if ('reason' in entry) return entry;
  const swapped = request.amountUsd.minus(entry);
  const depositFee = swapped.times(wad(composed.fees.isCorrelated ? 0n : composed.fees.depositFee));
  const deposited = swapped.minus(depositFee);
  const highest = highestLeverage(composed, request, deposited);
  if ('reason' in highest) return highest;
  const opening = { composed, sweep, request, loanUsd, deposited, entry: entry.plus(depositFee) };
  const largest = largestSurviving(opening, highest.leverage);
  if ('reason' in largest) return largest;
  const best = bestUpTo(opening, tenthsOf(largest.leverage));
  return {
    ...best.result,
    leverage: best.leverage,
    largestLeverage: largest.leverage,
    ltvPct: best.ltvPct,
    positionApyPct: best.positionApyPct,
    toLiquidation: projectReach(best.holding, 'TODAYS_RATE')?.liquidation,
    ratesAsOfMs: composed.facts.lendingState.asOfMs,
    exitAsOfMs: exit.asOfMs,
    holding: best.holding,
  };
}

/** Conditions that do not depend on a leverage. */
function excludedBy(
  { market }: ComposedMarket,
  sweep: ExitSweep | undefined,
  { holdingDays, minExitUsd, nowMs }: BestRequest,
): Exclusion | undefined {
  const { maturity, noSwapRoute } = market.collateral;
  const endMs = nowMs + holdingDays * DAY_MS;
  if (maturity !== undefined && maturity * 1_000 < endMs)
    return fellOut('MATURITY', dayOf(maturity * 1_000), dayOf(endMs));
  if (noSwapRoute) return fellOut('NO_ROUTE');
  if (!sweep) return fellOut('EXIT_UNKNOWN');
  const clean = cleanExitSize(sweep) ?? '0';
  return minExitUsd.gt(clean) ? fellOut('EXIT_TOO_SMALL', clean, minExitUsd.toFixed()) : undefined;
}

/** The largest leverage by the drawdown, the safe LTV and the market's liquidity, rounded down. */
function highestLeverage(
  { liquidationLtvPct, safeLtvPct, liquidityUsd }: ComposedMarket,
  { maxDrawdownPct }: BestRequest,
  depositedUsd: Decimal,
): { readonly leverage: Decimal } | Exclusion {
  const survivingPct = liquidationLtvPct.times(HUNDRED.minus(maxDrawdownPct)).div(HUNDRED);
  const byLtv = roundedDown(leverageFromLtvPct(Decimal.min(survivingPct, safeLtvPct)));
  if (byLtv.lt(MIN_LEVERAGE)) return fellOut('DRAWDOWN', byLtv.toFixed(1), MIN_LEVERAGE.toFixed());
  const byLiquidity = roundedDown((liquidityUsd ?? ZERO).div(depositedUsd).plus(1));
  if (byLiquidity.lt(MIN_LEVERAGE))
    return fellOut('LIQUIDITY', toFixedHalfUp(liquidityUsd ?? ZERO, 2), toFixedHalfUp(depositedUsd.times(STEP), 2));
  return { leverage: Decimal.min(byLtv, byLiquidity) };
}

/** The payment of a request on a market, before a leverage is chosen. */
interface Opening {
  readonly composed: ComposedMarket;
  readonly sweep: ExitSweep;
  readonly request: BestRequest;
  readonly loanUsd: Decimal;
  /** USD of collateral that the payment becomes. */
  readonly deposited: Decimal;
  /** Cost of that, USD. */
  readonly entry: Decimal;
}

/** The swaps of an opening at a leverage, USD. */
interface Swaps {
  readonly flashCost: Decimal;
  readonly exitCost: Decimal;
  readonly equityUsd: Decimal;
}

/** A position as it is opened. */
interface Opened extends Swaps {
  readonly leverage: Decimal;
  readonly ltvPct: Decimal;
  readonly positionApyPct: Decimal;
  readonly holding: StressHolding;
}

function swapsAt({ sweep, request, deposited }: Opening, leverage: Decimal): Swaps | Exclusion {
  const { amountUsd, referralBps } = request;
  const flashCost = swapCost(sweep, flashOf(deposited, leverage), referralBps);
  if ('reason' in flashCost) return flashCost;
  const equityUsd = deposited.minus(flashCost);
  if (!equityUsd.gt(0)) return fellOut('EXIT_TOO_SMALL', ZERO.toFixed(), amountUsd.toFixed());
  const exitCost = swapCost(sweep, equityUsd.times(leverage), 0);
  return 'reason' in exitCost ? exitCost : { flashCost, exitCost, equityUsd };
}

const flashOf = (deposited: Decimal, leverage: Decimal) => deposited.times(leverage.minus(1));

function open(opening: Opening, leverage: Decimal): Opened | Exclusion {
  const { composed, request, loanUsd, deposited } = opening;
  const swaps = swapsAt(opening, leverage);
  if ('reason' in swaps) return swaps;
  const equity = swaps.equityUsd.div(loanUsd);
  const holding = openedHolding(composed, { leverage, equity, nowMs: request.nowMs });
  const { netApyPct: positionApyPct, ltvPct } = stressRow(holding, { scenario: 'TODAY' });
  if (positionApyPct && ltvPct) return { ...swaps, leverage, ltvPct, positionApyPct, holding };
  const lent = toFixedHalfUp(composed.liquidityUsd ?? ZERO, 2);
  return fellOut('LIQUIDITY', lent, toFixedHalfUp(flashOf(deposited, leverage), 2));
}

/** Whether a holding is not liquidated when the price falls at any time until the exit, at the rates after its own borrow. */
function survives(holding: StressHolding, { maxDrawdownPct, holdingDays }: BestRequest): boolean {
  const fall = BigInt(maxDrawdownPct.times(holding.price.toString()).div(HUNDRED).toFixed(0, Decimal.ROUND_CEIL));
  const price = holding.price - fall;
  if (canBeLiquidated(holding, price)) return false;
  const reach = projectReach({ ...holding, price }, 'TODAYS_RATE')?.liquidation;
  return !reach || reach.state === 'NEVER' || (reach.days ?? 0) > holdingDays;
}

/**
 * The largest leverage up to a limit, in steps of a tenth, at which the position survives and every swap is of a measured size: less
 * leverage has a lower LTV, a lower rate and smaller swaps. Where there is none, the reason at the least.
 */
function largestSurviving(opening: Opening, limit: Decimal): Opened | Exclusion {
  const at = (tenths: number): Opened | Exclusion => {
    const opened = open(opening, STEP.times(tenths));
    if ('reason' in opened || survives(opened.holding, opening.request)) return opened;
    return fellOut('DRAWDOWN', '1.0', MIN_LEVERAGE.toFixed());
  };
  let high = tenthsOf(limit);
  let found = at(high);
  if (!('reason' in found)) return found;
  let low = tenthsOf(MIN_LEVERAGE);
  high -= 1;
  while (low <= high) {
    const middle = Math.ceil((low + high) / 2);
    const opened = at(middle);
    if ('reason' in opened) high = middle - 1;
    else low = middle + 1;
    // Without a result yet, the next leverage is lower, so the last reason is that of the lowest one.
    if ('reason' in found || !('reason' in opened)) found = opened;
  }
  return found;
}

const tenthsOf = (leverage: Decimal) => leverage.div(STEP).toNumber();

interface Result {
  readonly netApyPct: Decimal;
  readonly entryCostPct: Decimal;
  readonly exitCostPct: Decimal;
  readonly yieldFeePct: Decimal;
}

type Judged = Opened & { readonly result: Result };

/**
 * The leverage with the best result up to one that survives, in steps of a tenth; of equal ones the least. While the swaps stay
 * within one measured size, the result rises up to one leverage and falls after it: the yield is linear in the leverage, less a
 * borrow rate that grows with it.
 */
function bestUpTo(opening: Opening, largest: number): Judged {
  const judged = new Map<number, Judged | undefined>();
  const at = (tenths: number): Judged | undefined => {
    if (!judged.has(tenths)) judged.set(tenths, judge(opening, STEP.times(tenths)));
    return judged.get(tenths);
  };
  const isBetter = (one: Judged | undefined, other: Judged | undefined) =>
    one !== undefined && (other === undefined || one.result.netApyPct.gt(other.result.netApyPct));
  let best: Judged | undefined;
  for (let from = tenthsOf(MIN_LEVERAGE), to: number; from <= largest; from = to + 1) {
    const sizes = sizesOf(opening, from);
    to = from;
    while (to < largest && sizesOf(opening, to + 1) === sizes) to += 1;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isBetter(at(middle + 1), at(middle))) low = middle + 1;
      else high = middle;
    }
    const peak = at(low);
    if (isBetter(peak, best)) best = peak;
  }
  if (best === undefined) throw new RangeError(`No result up to a leverage of ${STEP.times(largest).toFixed()}.`);
  return best;
}

/** The measured sizes that the swaps of a leverage fall under. */
function sizesOf({ sweep, deposited, request }: Opening, tenths: number): string {
  const leverage = STEP.times(tenths);
  const flash = flashOf(deposited, leverage);
  const cost = swapCost(sweep, flash, request.referralBps);
  if ('reason' in cost) return cost.reason;
  return `${measuredSize(flash)} ${measuredSize(deposited.minus(cost).times(leverage))}`;
}

function judge(opening: Opening, leverage: Decimal): Judged | undefined {
  const opened = open(opening, leverage);
  return 'reason' in opened ? undefined : { ...opened, result: resultOf(opening, opened) };
}

function resultOf({ composed, request, deposited, entry }: Opening, opened: Opened): Result {
  const { amountUsd, holdingDays } = request;
  const { ltvPct, positionApyPct, equityUsd, flashCost, exitCost } = opened;
  const earnedPctDays = positionApyPct.times(holdingDays).minus(unpaidPctDays(composed, ltvPct, request));
  const carry = equityUsd.times(earnedPctDays).div(HUNDRED).div(YEAR_DAYS);
  const returned = equityUsd.plus(carry).minus(exitCost);
  const yieldFee = Decimal.max(returned.minus(deposited), 0).times(
    wad(composed.fees.isCorrelated ? composed.fees.yieldFee : 0n),
  );
  const share = (usd: Decimal) => usd.times(HUNDRED).div(amountUsd);
  return {
    netApyPct: share(returned.minus(yieldFee).minus(amountUsd)).times(YEAR_DAYS).div(holdingDays),
    entryCostPct: share(entry.plus(flashCost)),
    exitCostPct: share(exitCost),
    yieldFeePct: share(yieldFee),
  };
}

/**
 * The part of the position's APY that campaigns do not pay, because they end before the exit: percent of the equity times days. A
 * campaign that may follow is not known.
 */
function unpaidPctDays(
  { borrowIncentive, collateralIncentive }: ComposedMarket,
  ltvPct: Decimal,
  { nowMs, holdingDays }: BestRequest,
): Decimal {
  const leverage = leverageFromLtvPct(ltvPct);
  const exitMs = nowMs + holdingDays * DAY_MS;
  const unpaid = (incentive: ComposedMarket['borrowIncentive'], times: Decimal) =>
    (incentive?.campaigns ?? []).reduce(
      (sum, { aprPct, endsAtMs }) =>
        sum.plus(
          aprPct
            .times(times)
            .times(Math.max(0, exitMs - endsAtMs))
            .div(DAY_MS),
        ),
      ZERO,
    );
  return unpaid(collateralIncentive, leverage).plus(unpaid(borrowIncentive, leverage.minus(1)));
}

/**
 * Cost of a swap, USD: the loss that was measured for selling as much collateral, and the referral fee; or that there is no route
 * at that size, or that no such size was measured. A sale above its value was measured at a wrong price, and costs nothing: as a
 * gain it would be multiplied by the leverage.
 */
function swapCost(sweep: ExitSweep, usd: Decimal, referralBps: number): Decimal | Exclusion {
  const lostPct = lossOfSale(sweep, usd);
  if (lostPct) return usd.times(Decimal.max(lostPct, 0).plus(referralBps / 100)).div(HUNDRED);
  return lostPct === null
    ? fellOut('NO_ROUTE', usd.toFixed(0))
    : fellOut('EXIT_UNKNOWN', usd.toFixed(0), EXIT_SIZES_USD.at(-1));
}

function roundedDown(leverage: Decimal): Decimal {
  return leverage.decimalPlaces(LEVERAGE_PLACES, Decimal.ROUND_DOWN);
}

function wad(share: bigint): Decimal {
  return new Decimal(share.toString()).shiftedBy(-18);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
