import type { Market, Token } from '../../catalog/types.ts';
import { formatPct } from '../../shared/decimal.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { ladderRungs, type Rung, rungAtLtv } from '../leverage/ladder.ts';
import type { LtvLimits } from '../leverage/limits.ts';
import type { ComposedMarket } from '../market/types.ts';
import { oncePer, oncePerValue } from '../memo.ts';
import type { Strategy, StrategyCollateral, StrategyLoan } from './types.ts';

/** The part of a strategy that follows from the catalog and the LTV limits alone. */
export interface MarketStatics {
  readonly collateral: StrategyCollateral;
  readonly loan: StrategyLoan;
  readonly ltvPct: Strategy['ltvPct'];
  readonly oracle: Strategy['oracle'];
  /** Of the ladder. Markets with the same limits share them. */
  readonly rungs: readonly Rung[];
  /** The one at the safe LTV. */
  readonly safeRung: Rung;
  readonly gaps: readonly Gap[];
}

/** Describe a catalog market as strategies show it; the same object again for as long as its limits are the same. */
export function staticsOf({ market, limits }: Pick<ComposedMarket, 'market' | 'limits'>): MarketStatics {
  const before = latestStatics.get(market);
  if (before?.limits === limits) return before.statics;
  const statics = describe(market, limits);
  latestStatics.set(market, { limits, statics });
  return statics;
}
const latestStatics = new WeakMap<Market, { readonly limits: LtvLimits; readonly statics: MarketStatics }>();

/** Describe a token in the short form of a loan token. */
export function loanToken(token: Token): StrategyLoan {
  return { address: token.address, symbol: token.displaySymbol, decimals: token.decimals };
}

function describe(market: Market, limits: LtvLimits): MarketStatics {
  return {
    collateral: describeCollateral(market.collateral),
    loan: loanToken(market.loan),
    ...shownLimits(limits),
    oracle: { address: market.oracle, ...(market.oracleType ? { type: market.oracleType } : {}) },
    gaps: staticGaps(market),
  };
}

const shownLimits: (limits: LtvLimits) => Pick<MarketStatics, 'ltvPct' | 'rungs' | 'safeRung'> = oncePer(
  ({ liquidationLtvPct, maxLtvPct, safeLtvPct }) => ({
    ltvPct: {
      liquidation: formatPct(liquidationLtvPct),
      max: formatPct(maxLtvPct),
      safe: formatPct(safeLtvPct),
    },
    rungs: ladderRungs(maxLtvPct),
    safeRung: rungAtLtv(safeLtvPct),
  }),
);

function describeCollateral(token: Token): StrategyCollateral {
  const { project, yieldSource, description, maturity, underlying } = token;
  return {
    address: token.address,
    symbol: token.displaySymbol,
    name: token.name,
    decimals: token.decimals,
    category: token.category,
    ...(project === undefined ? {} : { project }),
    ...(yieldSource === undefined ? {} : { yieldSource }),
    ...(description === undefined ? {} : { description }),
    isPt: token.isPt,
    maturity: maturity ?? null,
    maturityDate: maturity === undefined ? null : new Date(maturity * 1_000).toISOString().slice(0, 10),
    ...(underlying === undefined ? {} : { underlying }),
  };
}

// Said of many markets, so each is one object.
const notCurated: (field: string) => Gap = oncePerValue((field) =>
  gap(field, 'NOT_MEASURED', 'The curators have not established it.'),
);
const OWN_MARKET = gap('curator', 'NOT_APPLICABLE', "The market is the service's own, not a partner's.");
const NO_YIELD = gap('collateral.yieldSource', 'NOT_APPLICABLE', 'The collateral has no yield of its own.');
const NO_MATURITY = ['collateral.maturity', 'collateral.maturityDate', 'collateral.maturityDaysLeft'].map((field) =>
  gap(field, 'NOT_APPLICABLE', 'The token does not mature.'),
);
const NO_UNDERLYING = gap('collateral.underlying', 'NOT_APPLICABLE', 'The token is not a principal token.');
const NO_POINTS = gap('pointsIncentive', 'NONE', 'There is no points program.');

function staticGaps(market: Market): readonly Gap[] {
  const { collateral } = market;
  const gaps: Gap[] = [];
  const uncurated = (field: string) => gaps.push(notCurated(field));
  if (market.curator === undefined) gaps.push(OWN_MARKET);
  if (collateral.project === undefined) uncurated('collateral.project');
  if (collateral.yieldSource === undefined) {
    if (collateral.apySource === 'none') {
      gaps.push(NO_YIELD);
    } else uncurated('collateral.yieldSource');
  }
  if (collateral.description === undefined) uncurated('collateral.description');
  if (collateral.maturity === undefined) gaps.push(...NO_MATURITY);
  if (collateral.underlying === undefined) {
    if (collateral.isPt) uncurated('collateral.underlying');
    else gaps.push(NO_UNDERLYING);
  }
  if (collateral.points === undefined) uncurated('pointsIncentive');
  if (collateral.points === null) gaps.push(NO_POINTS);
  if (market.oracleType === undefined) uncurated('oracle.type');
  return gaps;
}
