import type { Market } from '../../catalog/types.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { oracleTypeGap } from '../market/oracle-basis.ts';
import type { ComposedMarket } from '../market/types.ts';
import type { Strategy } from './types.ts';

/** The part of a strategy that follows from the catalog, the LTV limits and the kind of the oracle. */
export interface MarketStatics {
  readonly collateral: Strategy['collateral'];
  readonly loan: Strategy['loan'];
  readonly ltvPct: Strategy['ltvPct'];
  readonly gaps: readonly Gap[];
}

/** Describe a catalog market as strategies show it. */
export function staticsOf({
  market,
  limits,
  facts,
}: Pick<ComposedMarket, 'market' | 'limits'> & {
  readonly facts: Pick<ComposedMarket['facts'], 'oracle'>;
}): MarketStatics {
  const { collateral, loan } = market;
  const untyped = oracleTypeGap(facts.oracle.value);
  const { address, displaySymbol: symbol, name, category, maturity = null } = collateral;
  return {
    collateral: { address, symbol, name, category, maturity },
    loan: { address: loan.address, symbol: loan.displaySymbol },
    ltvPct: limits.ltvPct,
    gaps: [...staticGaps(market), ...(untyped ? [untyped] : [])],
  };
}

const OWN_MARKET = gap('curator', 'NOT_APPLICABLE', "The market is the service's own, not a partner's.");
const NO_YIELD = gap('collateral.yieldSource', 'NOT_APPLICABLE', 'The collateral has no yield of its own.');
const NO_MATURITY = ['collateral.maturesAt', 'collateral.maturityDaysLeft'].map((field) =>
  gap(field, 'NOT_APPLICABLE', 'The token does not mature.'),
);
const NO_UNDERLYING = gap('collateral.underlying', 'NOT_APPLICABLE', 'The token is not a principal token.');

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
  if (collateral.points?.program === null) {
    gaps.push(gap('pointsIncentive', 'NONE', 'There is no points program.', collateral.points.checkedAtMs));
  }
  return gaps;
}
