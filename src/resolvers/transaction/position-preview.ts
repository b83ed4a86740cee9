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

/** A previewed position with what its derived fields are made of. */
export interface PositionPreviewView {
  readonly chain: Chain;
  readonly market: Market;
  readonly preview: PositionPreview;
  readonly live: PreparedOpen['live'];
  /** What the action adds to the debt (negative = repays) and what it moves into the market, loan base units. */
  readonly debtChange: bigint;
  readonly moved: bigint;
  /** What the action pays out of the position at least, loan base units; absent where it pays nothing out. */
  readonly leastPaidOut?: bigint | undefined;
  /** What it costs at once. */
  readonly basis: CostBasis;
}

/** The position that a plan leads to; `null` when none is left. */
export function positionOfPlan(plan: Plan): PositionPreviewView | null {
  const { chain, market, preview, live, debtChange = 0n, moved = 0n, leastPaidOut } = plan;
  if (!preview) return null;
  return { chain, market, preview, live, debtChange, moved, leastPaidOut, basis: basisOfPlan(plan) };
}

/** What a plan costs at once, a close included. */
export function basisOfPlan({ chain, market, path, swaps, live, before, pays, terms, fees = [] }: Plan): CostBasis {
  const { price } = live;
  if (terms) return basisOfOpen({ chain, market, terms, live });
  const judged = judgedSwaps(path, swaps, market, price);
  const [entry] = judged;
  // What is paid in, where something is: of the whole position a small payment could lose everything.
  const isCollateral = pays?.token.address === market.collateral.address;
  const paid = entry
    ? valueInLoan(entry.swap.reference ?? entry.swap.expectedOut, entry.outPrice)
    : valueInLoan(pays?.amount ?? 0n, isCollateral ? price : undefined);
  const equity = pays ? paid : before ? equityAt(before, price) : 0n;
  return costBasis({ swaps: judged, loan: market.loan, equity, fees });
}

/** What an open costs at once, measured by what is paid in. */
function basisOfOpen({
  chain,
  market,
  terms,
  live: { price },
}: Pick<PositionPreviewView, 'chain' | 'market' | 'live'> & { readonly terms: OpenTerms }): CostBasis {
  const { path, entrySwap, leverageSwap, amountIn, reallocations, depositFee } = terms;
  const swaps: readonly PlannedSwap[] = [...(entrySwap ? [entrySwap] : []), leverageSwap];
  const paid = entrySwap ? (entrySwap.reference ?? entrySwap.expectedOut) : amountIn;
  return costBasis({
    swaps: judgedSwaps(path, swaps, market, price),
    loan: market.loan,
    equity: valueInLoan(paid, price),
    fees: [...contractFees('DEPOSIT_FEE', depositFee, market, price), ...reallocationFees(reallocations, chain.native)],
  });
}

function valueInLoan(units: bigint, price: bigint | undefined): bigint {
  return price === undefined ? units : equityAt({ collateral: units, debt: 0n }, price);
}

export interface WorstCase {
  /** What the wallet has of it: what is left in the position and what the action pays out, whole loan tokens. */
  readonly equity: Decimal;
  /** What of it is paid out, whole loan tokens; `null` = the action pays nothing out. */
  readonly paidOut: Decimal | null;
  /** Percent; `null` = no position is left. */
  readonly ltvPct: Decimal | null;
}

/** What the wallet has of a plan when every swap gives its minimum only and it is sent a minute later. */
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

/** Tell the market's borrow APY before and after an action, a close included. */
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

/** Where a managed position could be liquidated as it stands. */
export function liquidationBeforeOf({ market, live, before }: Plan): Liquidation | null {
  return before ? (liquidationOf(market, before, live.price) ?? null) : null;
}

/** Its LTV as it stands, percent with 2 places. */
export function ltvBeforeOf({ live, before }: Plan): string | null {
  const ltv = before && ltvPctOf(before, live.price);
  return ltv ? formatPct(ltv) : null;
}

/** What the action costs at once, by kind; empty where nothing is swapped and no fee is due. */
export function costsOf(
  { chain, market, basis }: Pick<PositionPreviewView, 'chain' | 'market' | 'basis'>,
  ctx: AppContext,
): Cost[] {
  const usdOf = (token: Address) => ctx.live().leverage.usdOf(chain.chainId, token);
  return [...pricedCosts(basis, usdOf, market.loan.address)];
}

export interface ExitView {
  /** Whole loan tokens; `null` = no venue could be asked or none has a route. */
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

/** Say what of a previewed position is not there. @param prefix path of the position, with its dot */
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
