import type { Market, Token } from '../../catalog/types.ts';
import type { Fact, UsdPrice } from '../facts.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { ComposedMarket } from '../market/types.ts';
import { formatUsdPrice } from './parts.ts';
import type { Strategy, StrategyCollateral, StrategyLoan } from './types.ts';

/** The part of a strategy that follows from the catalog, the LTV limits and the price of the collateral. */
export interface MarketStatics {
  readonly collateral: StrategyCollateral;
  readonly loan: StrategyLoan;
  readonly ltvPct: Strategy['ltvPct'];
  readonly oracle: Strategy['oracle'];
  readonly gaps: readonly Gap[];
}

/** Describe a catalog market as strategies show it. */
export function staticsOf({ market, limits, collateralPrice }: ComposedMarket): MarketStatics {
  return {
    collateral: describeCollateral(market.collateral, collateralPrice),
    loan: loanToken(market.loan),
    ltvPct: limits.ltvPct,
    oracle: { address: market.oracle, type: market.oracleType },
    gaps: staticGaps(market),
  };
}

/** Describe a token in the short form of a loan token. */
export function loanToken(token: Token): StrategyLoan {
  return { address: token.address, symbol: token.displaySymbol, decimals: token.decimals };
}

function describeCollateral(token: Token, price: Fact<UsdPrice> | undefined): StrategyCollateral {
  const { project, yieldSource, description, maturity, underlying } = token;
  return {
    address: token.address,
    symbol: token.displaySymbol,
    name: token.name,
    decimals: token.decimals,
    category: token.category,
    project,
    yieldSource,
    description,
    priceUsd: price && formatUsdPrice(price),
    priceSource: price?.source,
    isPt: token.isPt,
    maturity: maturity ?? null,
    maturityDate: maturity === undefined ? null : new Date(maturity * 1_000).toISOString().slice(0, 10),
    underlying,
  };
}

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
  const uncurated = (field: string) => gaps.push(gap(field, 'NOT_MEASURED', 'The curators have not provided it.'));
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
