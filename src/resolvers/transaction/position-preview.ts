import type { Chain, Market } from '../../catalog/types.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import { type Decimal, formatPct, formatUnitsPlain, fromUnits } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import {
  type BeforeAfter,
  type BreakEven,
  borrowApyChange,
  breakEvenOf,
  type Cost,
  type CostBasis,
  contractFees,
  costBasis,
  equityValueOf as equityAt,
  judgedSwaps,
  type Liquidation,
  leverageOf,
  liquidationOf,
  ltvPctOf,
  type OpenTerms,
  type Plan,
  type PlannedSwap,
  type PositionPreview,
  type PreparedOpen,
  pricedCosts,
  reallocationFees,
  totalUsd,
} from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';
import { absences } from './estimate.ts';

/** A previewed position with the inputs of its derived fields. */
export interface PositionPreviewView {
  readonly chain: Chain;
  readonly market: Market;
  readonly preview: PositionPreview;
  readonly live: PreparedOpen['live'];
  /** The change of the debt (negative = repays) and the reallocation into the market, loan base units. */
  readonly debtChange: bigint;
  readonly moved: bigint;
  /** The least payout of the action, loan base units; absent without a payout. */
  readonly leastPaidOut?: bigint | undefined;
  /** Its immediate costs. */
  readonly basis: CostBasis;
}

/** The position that a plan leads to; `null` when none is left. */
export function positionOfPlan(plan: Plan): PositionPreviewView | null {
  const { chain, market, preview, live, debtChange = 0n, moved = 0n, leastPaidOut } = plan;
  if (!preview) return null;
  return { chain, market, preview, live, debtChange, moved, leastPaidOut, basis: basisOfPlan(plan) };
}

/** The immediate costs of a plan, a close included. */
export function basisOfPlan({ chain, market, path, swaps, live, before, pays, terms, fees = [] }: Plan): CostBasis {
  const { price } = live;
  if (terms) return basisOfOpen({ chain, market, terms, live });
  const judged = judgedSwaps(path, swaps, market, price);
  const [entry] = judged;
  // The payment, where there is one: relative to the whole position, a small payment could lose everything.
  const isCollateral = pays?.token.address === market.collateral.address;
  const paid = entry
    ? valueInLoan(entry.swap.reference ?? entry.swap.expectedOut, entry.outPrice)
    : valueInLoan(pays?.amount ?? 0n, isCollateral ? price : undefined);
  const equity = pays ? paid : before ? equityAt(before, price) : 0n;
  return costBasis({ swaps: judged, loan: market.loan, equity, fees });
}

/** The immediate costs of an open, relative to the payment. */
function basisOfOpen({
  chain,
  market,
  terms,
  live: { price },
}: Pick<PositionPreviewView, 'chain' | 'market' | 'live'> & { readonly terms: OpenTerms }): CostBasis {
  const { path, entrySwap, leverageSwap, amountIn, reallocations, movingFee, depositFee } = terms;
  const swaps: readonly PlannedSwap[] = [...(entrySwap ? [entrySwap] : []), leverageSwap];
  const paid = entrySwap ? (entrySwap.reference ?? entrySwap.expectedOut) : amountIn;
  return costBasis({
    swaps: judgedSwaps(path, swaps, market, price),
    loan: market.loan,
    equity: valueInLoan(paid, price),
    fees: [...contractFees('DEPOSIT_FEE', depositFee, market, price), ...reallocationFees(reallocations, chain.native)],
    movingFee,
  });
}

function valueInLoan(units: bigint, price: bigint | undefined): bigint {
  return price === undefined ? units : equityAt({ collateral: units, debt: 0n }, price);
}

export interface WorstCase {
  /** The wallet's value: the equity of the position and the payout, whole loan tokens. */
  readonly equity: Decimal;
  /** The payout, whole loan tokens; `null` = the action pays nothing out. */
  readonly paidOut: Decimal | null;
  /** Percent; `null` = no position is left. */
  readonly ltvPct: Decimal | null;
}

/** The wallet's value after a plan if every swap gives its minimum only and it is sent a minute later. */
export function worstCaseOfPlan(plan: Plan): WorstCase | null {
  const { market, leastPaidOut } = plan;
  const position = positionOfPlan(plan);
  if (position) return worstCaseOf(position);
  if (leastPaidOut === undefined) return null;
  const paidOut = fromUnits(leastPaidOut, market.loan.decimals);
  return { equity: paidOut, paidOut, ltvPct: null };
}

/** The same of a position that is left. */
export function worstCaseOf({ market, preview, live, leastPaidOut }: PositionPreviewView): WorstCase {
  const { worst, worstLtvPct: ltvPct } = preview;
  const { decimals } = market.loan;
  const equity = fromUnits(equityAt(worst, live.price) + (leastPaidOut ?? 0n), decimals);
  return { equity, paidOut: leastPaidOut === undefined ? null : fromUnits(leastPaidOut, decimals), ltvPct };
}

/** Whole loan tokens. */
export function loanAmount({ market }: Pick<PositionPreviewView, 'market'>, units: bigint): string {
  return formatUnitsPlain(units, market.loan.decimals);
}

/** Whole collateral tokens. */
export function collateralAmount({ market }: Pick<PositionPreviewView, 'market'>, units: bigint): string {
  return formatUnitsPlain(units, market.collateral.decimals);
}

/** Compute the market's borrow APY before and after an action, a close included. */
export function borrowApyOf({
  live,
  debtChange = 0n,
  moved = 0n,
}: Pick<Plan, 'live' | 'debtChange' | 'moved'>): BeforeAfter {
  return borrowApyChange(live, debtChange, moved);
}

export function liquidationOfPosition({ market, preview, live }: PositionPreviewView): Liquidation | null {
  return liquidationOf(market, preview.after, live.price) ?? null;
}

/** The liquidation point of a managed position before the action. */
export function liquidationBeforeOf({ market, live, before }: Plan): Liquidation | null {
  return before ? (liquidationOf(market, before, live.price) ?? null) : null;
}

/** Its LTV before the action, percent with 2 places. */
export function ltvBeforeOf({ live, before }: Plan): string | null {
  const ltv = before && ltvPctOf(before, live.price);
  return ltv ? formatPct(ltv) : null;
}

/** The immediate costs of the action, by kind; empty without swaps and fees. */
export function costsOf(
  { chain, market, basis }: Pick<PositionPreviewView, 'chain' | 'market' | 'basis'>,
  ctx: AppContext,
): Cost[] {
  const usdOf = (token: Address) => ctx.live().leverage.usdOf(chain.chainId, token);
  return [...pricedCosts(basis, usdOf, market.loan.address)];
}

export interface ExitView {
  /** Whole loan tokens; `null` = no venue answered or none has a route. */
  readonly lostLoan: Decimal | null;
  readonly lostUsd: Decimal | null;
  readonly source: 'AggregatorOne' | 'AggregatorTwo' | 'YieldMarket' | null;
  readonly breakEven: BreakEven;
  readonly gaps: readonly Gap[];
}

/** Quote selling everything again at once, and how long the yield takes to earn both ways. */
export async function exitOf(position: PositionPreviewView, ctx: AppContext): Promise<ExitView> {
  const { chain, market, preview, live } = position;
  const exit = await ctx.live().leverage.exitCost(chain, market, preview.after.collateral, live.price);
  if (!exit.ok) {
    const unquoted = { lostLoan: null, lostUsd: null, source: null, breakEven: { state: 'UNKNOWN' } } as const;
    return { ...unquoted, gaps: exitGaps(unquoted, exit.reason) };
  }
  const loanUsd = ctx.live().leverage.usdOf(chain.chainId, market.loan.address);
  const lostLoan = fromUnits(exit.lostLoan, market.loan.decimals);
  const lostUsd = loanUsd ? lostLoan.times(loanUsd) : null;
  const entryUsd = totalUsd(costsOf(position, ctx));
  const apy = preview.expectedLeverageApyPct;
  const equityUsd = loanUsd && equityOf(position).times(loanUsd);
  const costUsd = entryUsd && lostUsd ? entryUsd.plus(lostUsd) : undefined;
  const quoted = { lostLoan, lostUsd, source: exit.source, breakEven: breakEvenOf(costUsd, equityUsd, apy) };
  return { ...quoted, gaps: exitGaps(quoted, undefined) };
}

/** @param failure code of the error in place of a quote */
function exitGaps(
  { lostLoan, lostUsd, source, breakEven }: Omit<ExitView, 'gaps'>,
  failure: string | undefined,
): readonly Gap[] {
  const reason = failure === 'no_route' ? 'NONE' : failure === undefined ? 'NOT_MEASURED' : 'SOURCE_FAILED';
  const message =
    failure === 'no_route' ? 'No venue has a route for the sale.' : 'No venue gave a usable quote of the sale.';
  const days = breakEven.days ?? null;
  return absences(
    ['lossLoan', lostLoan, reason, message],
    ['lossUsd', lostUsd, reason, failure === undefined ? 'The USD price of the loan token is not known.' : message],
    ['swapSource', source, reason, message],
    breakEven.state === 'NEVER'
      ? ['breakEvenDays', days, 'NONE', 'The position earns nothing with which the costs could be earned back.']
      : ['breakEvenDays', days, 'NOT_MEASURED', 'A rate, a price or a quote of it is not known.'],
  );
}

/** Collateral less debt, whole loan tokens. */
export function equityOf({ market, preview, live }: PositionPreviewView): Decimal {
  return fromUnits(equityAt(preview.after, live.price), market.loan.decimals);
}

/** The position that an open leads to. */
export function positionOfOpen({ request, terms, live, moved }: PreparedOpen): PositionPreviewView {
  const { chain, market } = request;
  const basis = basisOfOpen({ chain, market, terms, live });
  return { chain, market, preview: terms.preview, live, debtChange: terms.amountFlashLoan, moved, basis };
}

/** List the gaps of a previewed position. @param prefix path of the position, with its dot */
export function positionGaps(position: PositionPreviewView, prefix = 'position.'): readonly Gap[] {
  const { preview, market, live } = position;
  const { requestedLtvPct, basis, expectedLeverageApyPct, leverageApyBeforePct, priceImpactPct, swapSource } = preview;
  const rates = 'The rates of the market are not measured.';
  const swapless = 'Nothing is swapped.';
  const leverage = leverageOf(preview);
  return absences(
    [`${prefix}leverage`, leverage, 'NOT_APPLICABLE', 'From an LTV of 100 % on there is no leverage.'],
    [`${prefix}exactLeverage`, leverage, 'NOT_APPLICABLE', 'From an LTV of 100 % on there is no leverage.'],
    [`${prefix}requestedLtvPct`, requestedLtvPct, 'NOT_APPLICABLE', 'The action has no target.'],
    [`${prefix}depositBasis`, basis, 'NOT_MEASURED', 'A rule of the contract decides, and nothing was executed.'],
    [`${prefix}leverageApyPct`, expectedLeverageApyPct, 'NOT_MEASURED', rates],
    [`${prefix}leverageApyBeforePct`, leverageApyBeforePct, 'NOT_MEASURED', rates],
    swapSource === undefined
      ? [`${prefix}priceImpactPct`, priceImpactPct, 'NOT_APPLICABLE', swapless]
      : [`${prefix}priceImpactPct`, priceImpactPct, 'NOT_MEASURED', 'Nothing prices the pair of the swap.'],
    [`${prefix}swapSource`, swapSource, 'NOT_APPLICABLE', swapless],
    [`${prefix}liquidation`, liquidationOf(market, preview.after, live.price), 'NONE', 'The position owes nothing.'],
  );
}
