import { apyPctOf, collateralValue, debtOf, Exact, shown, whole } from './protocol.ts';
import { type Campaign, type CatalogMarket, DAY_MS, type HeldOnChain, type Series, type Sources } from './sources.ts';

/*
 * What the service has to show, worked out from raw facts by the rules that its documentation gives.
 */

/** The contract's own distance between liquidation and the most that it opens at, and the service's below that; points. */
const BUFFER = new Exact('0.25');
const SAFETY = new Exact('0.75');
const WINDOWS = [30, 60, 90] as const;
/** A history may begin this much later than its window. */
const GRACE_DAYS = 3;
export const EXIT_SIZES = [100_000, 500_000, 1_000_000, 5_000_000] as const;

/** A day of which the service has a sample of its own is its alone; this one has been sampled once. */
const withOwnSample = (series: Series, atMs: number, value: Exact): Series => [
  ...series.filter(([pointMs]) => dayOf(pointMs) !== dayOf(atMs)),
  [atMs, value],
];

export type Means = Partial<Record<`avg${(typeof WINDOWS)[number]}d`, Exact>>;

export const leverageAt = (ltvPct: Exact): Exact =>
  new Exact(shown(new Exact(100).div(new Exact(100).minus(ltvPct)), 1));
export const carry = (earned: Exact, paid: Exact, leverage: Exact): Exact =>
  earned.times(leverage).minus(paid.times(leverage.minus(1)));

const dayOf = (atMs: number) => Math.floor(atMs / DAY_MS) * DAY_MS;
const sum = (values: readonly Exact[]) => values.reduce((total, value) => total.plus(value), new Exact(0));
const mean = (values: readonly Exact[]) => sum(values).div(values.length);

/** Mean of the daily means of the days in `(end − days, end]`; `undefined` where the series begins too late. */
export function windowMean(series: Series, endMs: number, days: number): Exact | undefined {
  const first = series[0]?.[0];
  if (first === undefined || first > endMs - (days - GRACE_DAYS) * DAY_MS) return undefined;
  const byDay = new Map<number, Exact[]>();
  for (const [atMs, value] of series) {
    const day = dayOf(atMs);
    if (day <= dayOf(endMs) - days * DAY_MS || day > dayOf(endMs)) continue;
    byDay.set(day, [...(byDay.get(day) ?? []), value]);
  }
  return byDay.size === 0 ? undefined : mean([...byDay.values()].map(mean));
}

/** Mean of what campaigns paid over `[end − days, end)`: each step holds until the next, the last one until the campaign's end. */
function paidMean(campaigns: readonly Campaign[], endMs: number, days: number): Exact {
  const fromMs = endMs - days * DAY_MS;
  let weighted = new Exact(0);
  for (const { steps, endMs: endsMs } of campaigns) {
    for (const [index, [atMs, apr]] of steps.entries()) {
      const until = Math.min(steps[index + 1]?.[0] ?? endsMs, endsMs, endMs);
      const since = Math.max(atMs, fromMs);
      if (until > since) weighted = weighted.plus(apr.times(until - since));
    }
  }
  return weighted.div(days * DAY_MS);
}

function meansOf(of: (days: number) => Exact | undefined): Means {
  const means: Means = {};
  for (const days of WINDOWS) {
    const value = of(days);
    if (value) means[`avg${days}d`] = value;
  }
  return means;
}

export const shownMeans = (means: Means): Readonly<Record<string, string>> | undefined => {
  const entries = Object.entries(means).map(([name, value]) => [name, shown(value)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** Everything about one market. `endMs`: when its histories were read. */
export async function expectedMarket(sources: Sources, market: CatalogMarket, endMs: number) {
  const [state, price, loanUsd, collateralUsd, own, borrow, collateral, indexed, now] = await Promise.all([
    sources.marketState(market),
    sources.oraclePrice(market),
    sources.usdPrice(market.loan),
    sources.usdPrice(market.collateral),
    sources.collateralYield(market.collateral),
    sources.campaigns('MORPHOBORROW', market),
    sources.campaigns('MORPHOCOLLATERAL', market),
    sources.borrowHistory(market),
    sources.timestamp(),
  ]);
  const live = (campaigns: readonly Campaign[]) => campaigns.filter(({ isLive }) => isLive);
  const borrowIncentive = sum(live(borrow).map(({ aprPct }) => aprPct));
  const collateralIncentive = sum(live(collateral).map(({ aprPct }) => aprPct));
  const borrowApy = apyPctOf(state.rateNow);
  const borrowSeries = withOwnSample(indexed, Number(now) * 1_000, borrowApy);
  const netBorrowApy = borrowApy.minus(borrowIncentive);
  const earned = own.apy.plus(collateralIncentive);
  const liquidation = new Exact(market.lltv.toString()).shiftedBy(-16);
  const max = liquidation.minus(BUFFER);
  const safe = max.minus(SAFETY);
  const rung = (leverage: Exact, ltvPct: Exact) => ({
    leverage: shown(leverage, 1),
    ltvPct: shown(ltvPct, 1),
    leverageApyPct: shown(carry(earned, netBorrowApy, leverage)),
  });
  const steps = Math.floor(leverageAt(max).toNumber());
  const ladder = Array.from({ length: steps }, (_, i) => {
    const step = new Exact(i + 1);
    return rung(step, Exact.min(new Exact(1).minus(new Exact(1).div(step)).times(100), max));
  });
  if (!leverageAt(max).isInteger()) ladder.push(rung(leverageAt(max), max));

  const hasNoYield = sources.yieldSource(market.collateral) === 'none';
  const yieldMeans = meansOf((days) => windowMean(own.history, endMs, days));
  const collateralMeans = meansOf((days) => {
    const base = hasNoYield ? new Exact(0) : windowMean(own.history, endMs, days);
    return base?.plus(paidMean(collateral, endMs, days));
  });
  const borrowMeans = meansOf((days) => windowMean(borrowSeries, endMs, days)?.minus(paidMean(borrow, endMs, days)));
  const leverageMeans = meansOf((days) => {
    const key = `avg${days}d` as keyof Means;
    const [high, low] = [collateralMeans[key], borrowMeans[key]];
    return high && low && carry(high, low, leverageAt(safe));
  });
  const loan = (units: bigint) => whole(units, market.loan.decimals).times(loanUsd);
  const shared = sources.chain.contracts.publicAllocator ? await sources.sharedLiquidity(market) : undefined;
  return {
    market,
    state,
    price,
    loanUsd,
    collateralUsd,
    ownApy: own.apy,
    earned,
    borrowApy,
    netBorrowApy,
    borrowIncentive,
    collateralIncentive,
    hasBorrowIncentive: live(borrow).length > 0,
    hasCollateralIncentive: live(collateral).length > 0,
    liquidation,
    max,
    safe,
    ladder,
    defaultRung: rung(leverageAt(safe), safe),
    yieldMeans,
    collateralMeans,
    borrowMeans,
    leverageMeans,
    quarterly: windowMean(borrowSeries, endMs, 90),
    supplyUsd: loan(state.totalSupplyAssets),
    liquidityUsd: loan(state.liquidity),
    withShared: shared === undefined ? undefined : loan(state.liquidity + shared),
  };
}

export type ExpectedMarket = Awaited<ReturnType<typeof expectedMarket>>;

/** Tier and largest clean size of an exit. */
export async function expectedExit(sources: Sources, market: CatalogMarket) {
  const losses = await Promise.all(
    EXIT_SIZES.map(async (size) => [size, await sources.exitLossPct(market.collateral, size)] as const),
  );
  const [, smallest] = losses[0] ?? [0, null];
  const isThin = smallest === null || smallest.gt(2);
  const clean = isThin ? undefined : losses.findLast(([, loss]) => loss?.lt('1.5'))?.[0];
  const tiers = new Map([
    [5_000_000, 'deep'],
    [1_000_000, 'good'],
    [500_000, 'limited'],
  ]);
  return {
    slippagePct: Object.fromEntries(losses.map(([size, loss]) => [size, loss && shown(loss)])),
    exact: losses,
    hasRoute: losses.some(([, loss]) => loss !== null),
    clean: clean === undefined ? null : String(clean),
    tier: (clean && tiers.get(clean)) ?? 'thin',
  };
}

/** 12 significant digits, as prices are shown. */
export const shownPrice = (price: Exact): string => price.precision(12).toFixed();

/** One open position as the wallet's owner is shown it. */
export function expectedPosition(held: HeldOnChain, expected: ExpectedMarket) {
  const { market, state, price, loanUsd, liquidation } = expected;
  const { collateral: token, loan } = market;
  const debt = debtOf(held.borrowShares, state);
  const value = collateralValue(held.collateral, price);
  const ltv = new Exact(debt.toString()).times(100).div(value.toString());
  const leverage = leverageAt(ltv);
  const usd = (units: bigint) => whole(units, loan.decimals).times(loanUsd);
  const net = whole(held.collateral, token.decimals)
    .times((value - debt).toString())
    .div(value.toString());
  const lltv = new Exact(market.lltv.toString()).shiftedBy(-18);
  const perToken = whole(debt, loan.decimals).div(whole(held.collateral, token.decimals)).div(lltv);
  return {
    exact: { collateralUsd: usd(value), debtUsd: usd(debt), netUsd: usd(value - debt), ltv, value, debt },
    shown: {
      id: held.id,
      positionId: `${market.chainId}-${market.id}-${held.id}`,
      chainId: market.chainId,
      strategyId: market.id,
      status: 'open',
      open: true,
      liquidated: false,
      collateralSymbol: token.displaySymbol,
      loanSymbol: loan.symbol,
      amountLeveragedCollateral: whole(held.collateral, token.decimals).toFixed(),
      netCollateral: net.decimalPlaces(token.decimals, Exact.ROUND_FLOOR).toFixed(),
      amountLoan: whole(debt, loan.decimals).toFixed(),
      ltvPct: shown(ltv),
      liquidationLtvPct: shown(liquidation),
      ltvHeadroomPct: new Exact(shown(liquidation)).minus(shown(ltv)).toFixed(2),
      currentLeverage: shown(leverage, 1),
      netValueUsd: shown(usd(value - debt)),
      currentLeverageApyPct: shown(carry(expected.earned, expected.netBorrowApy, leverage)),
      amountDepositedInLoanToken: whole(held.deposited, loan.decimals).toFixed(),
    },
    /** The protocol's own is rounded to its price scale; shown with 12 digits. */
    liquidationPrice: perToken,
  };
}
