import { type Near, near } from './compare.ts';
import { apyPctOf, Exact, shown, whole } from './protocol.ts';
import { type Campaign, type CatalogMarket, DAY_MS, type Series, type SharedSource, type Sources } from './sources.ts';

/*
 * The expected answers of the service, computed from raw facts by the documented rules.
 */

/** The service's own distance below the most that the contract opens at, points. */
const SAFETY = new Exact('0.75');
const WINDOWS = [30, 60, 90] as const;
/** A mean over time ends when its history was read, which is some seconds before it is compared. */
export const WINDOW_PRECISION = '1e-12';
/** A history may begin this much later than its window. */
const GRACE_DAYS = 3;
const EXIT_SIZES = [100_000, 500_000, 1_000_000, 5_000_000] as const;

/** On a day with a sample of the service only that sample counts; this day has one sample. */
const withOwnSample = (series: Series, atMs: number, value: Exact): Series => [
  ...series.filter(([pointMs]) => dayOf(pointMs) !== dayOf(atMs)),
  [atMs, value],
];

export type Means = Partial<Record<`avg${(typeof WINDOWS)[number]}d`, Exact>>;

export const exactLeverageAt = (ltvPct: Exact): Exact => new Exact(100).div(new Exact(100).minus(ltvPct));
/** As it is shown: strategies and ladders are levered at this one. */
export const leverageAt = (ltvPct: Exact): Exact => new Exact(shown(exactLeverageAt(ltvPct), 1));
export const carry = (earned: Exact, paid: Exact, leverage: Exact): Exact =>
  earned.times(leverage).minus(paid.times(leverage.minus(1)));

const dayOf = (atMs: number) => Math.floor(atMs / DAY_MS) * DAY_MS;
const sum = (values: readonly Exact[]) => values.reduce((total, value) => total.plus(value), new Exact(0));
const mean = (values: readonly Exact[]) => sum(values).div(values.length);

/** Mean of the daily means of the days in `(end − days, end]`; `undefined` where the series begins too late. */
function windowMean(series: Series, endMs: number, days: number): Exact | undefined {
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

/** Mean rate of campaigns over `[end − days, end)`, percent: each step holds until the next, the last one until the campaign's end. */
export function paidOver(campaigns: readonly Campaign[], endMs: number, days: number): Exact {
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

/** Means as a strategy shows them, with two places: one that lies between two of them is rounded either way. */
export const formatMeans = (means: Means): Readonly<Record<string, Near>> | undefined => {
  const within = new Exact('0.005').plus(WINDOW_PRECISION).toFixed();
  const entries = Object.entries(means).map(([name, value]) => [name, near(value, within)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** Everything about one market. `endMs`: when its histories were read. */
export async function expectedMarket(sources: Sources, market: CatalogMarket, endMs: number) {
  const [state, stored, buffer, fees, price, loanUsd, collateralUsd, own, borrow, collateral, indexed, now] =
    await Promise.all([
      sources.marketState(market),
      sources.storedState(market),
      sources.bufferPoints(),
      sources.fees(market),
      sources.oraclePrice(market),
      sources.usdPrice(market.loan),
      sources.usdPrice(market.collateral),
      sources.collateralYield(market.collateral),
      sources.campaigns('MORPHOBORROW', market),
      sources.campaigns('MORPHOCOLLATERAL', market),
      sources.borrowHistory(market),
      sources.timestamp(),
    ]);
  const live = (campaigns: readonly Campaign[]) =>
    campaigns.filter(({ isLive }) => isLive).sort((a, b) => b.aprPct.comparedTo(a.aprPct) ?? 0);
  const borrowIncentive = sum(live(borrow).map(({ aprPct }) => aprPct));
  const collateralIncentive = sum(live(collateral).map(({ aprPct }) => aprPct));
  const borrowApy = apyPctOf(state.rateNow);
  const borrowSeries = withOwnSample(indexed, Number(now) * 1_000, borrowApy);
  const netBorrowApy = borrowApy.minus(borrowIncentive);
  const earned = own.apy.plus(collateralIncentive);
  const liquidation = new Exact(market.lltv.toString()).shiftedBy(-16);
  const max = liquidation.minus(buffer);
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

  // A matured token had a yield before, which no source reports any more.
  const hasNoYield = market.collateral.apySource === 'none';
  const yieldMeans = meansOf((days) => windowMean(own.history, endMs, days));
  const collateralMeans = meansOf((days) => {
    const base = hasNoYield ? new Exact(0) : windowMean(own.history, endMs, days);
    return base?.plus(paidOver(collateral, endMs, days));
  });
  const borrowMeans = meansOf((days) => windowMean(borrowSeries, endMs, days)?.minus(paidOver(borrow, endMs, days)));
  const leverageMeans = meansOf((days) => {
    const key = `avg${days}d` as keyof Means;
    const [high, low] = [collateralMeans[key], borrowMeans[key]];
    return high && low && carry(high, low, leverageAt(safe));
  });
  const loan = (units: bigint) => whole(units, market.loan.decimals).times(loanUsd);
  const shared = sources.chain.contracts.publicAllocator ? await sources.sharedLiquidity(market) : undefined;
  return {
    market,
    blockNumber: sources.blockNumber,
    yieldSource: sources.yieldSource(market.collateral),
    state,
    stored,
    shared,
    borrowCampaigns: live(borrow),
    collateralCampaigns: live(collateral),
    /** With those that have ended. */
    borrowRecords: borrow,
    collateralRecords: collateral,
    price,
    loanUsd,
    collateralUsd,
    ownApy: own.apy,
    earned,
    borrowApy,
    netBorrowApy,
    borrowIncentive,
    collateralIncentive,
    liquidation,
    buffer,
    fees,
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
    withShared: shared && loan(state.liquidity + (await movable(sources, shared))),
  };
}

/** The movable amount: at most the idle liquidity of its source markets. */
async function movable(sources: Sources, shared: readonly SharedSource[]): Promise<bigint> {
  const reported = new Map<string, bigint>();
  for (const { fromMarketId, assets } of shared)
    reported.set(fromMarketId, (reported.get(fromMarketId) ?? 0n) + assets);
  let sum = 0n;
  for (const [id, assets] of reported) {
    const market = sources.chain.markets.find((candidate) => candidate.id === id);
    const idle = market ? (await sources.marketState(market)).liquidity : assets;
    sum += idle < assets ? idle : assets;
  }
  return sum;
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

export type ExpectedExit = Awaited<ReturnType<typeof expectedExit>>;

/** 12 significant digits, as prices are shown. */
export const formatPrice = (price: Exact): string => price.precision(12).toFixed();
