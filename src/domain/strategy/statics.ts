import type { Market, Token } from '../../catalog/types.ts';
import { formatPct } from '../../shared/decimal.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { ladderRungs, type Rung, rungAtLtv } from '../leverage/ladder.ts';
import { limitsOf } from '../market/statics.ts';
import { oncePer } from '../memo.ts';
import type { Strategy, StrategyCollateral, StrategyLoan } from './types.ts';

/** The part of a strategy that follows from the catalog alone. */
export interface MarketStatics {
  readonly collateral: StrategyCollateral;
  readonly loan: StrategyLoan;
  readonly ltvPct: Strategy['ltvPct'];
  readonly oracle: Strategy['oracle'];
  /** Every rung of the ladder, and after them the one at the safe LTV. */
  readonly rungsAndSafe: readonly Rung[];
  readonly gaps: readonly Gap[];
}

/** Describe a catalog market as strategies show it. */
export const staticsOf: (market: Market) => MarketStatics = oncePer(describe);

/** Describe a token in the short form of a loan token. */
export function loanToken(token: Token): StrategyLoan {
  return { address: token.address, symbol: token.displaySymbol, decimals: token.decimals };
}

function describe(market: Market): MarketStatics {
  const { liquidationLtvPct, maxLtvPct, safeLtvPct } = limitsOf(market);
  return {
    collateral: describeCollateral(market.collateral),
    loan: loanToken(market.loan),
    ltvPct: {
      liquidation: formatPct(liquidationLtvPct),
      max: formatPct(maxLtvPct),
      safe: formatPct(safeLtvPct),
    },
    oracle: { address: market.oracle, ...(market.oracleType ? { type: market.oracleType } : {}) },
    rungsAndSafe: [...ladderRungs(maxLtvPct), rungAtLtv(safeLtvPct)],
    gaps: staticGaps(market),
  };
}

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

function staticGaps(market: Market): readonly Gap[] {
  const { collateral } = market;
  const gaps: Gap[] = [];
  const uncurated = (field: string) => gaps.push(gap(field, 'NOT_MEASURED', 'The curators have not established it.'));
  if (market.curator === undefined) {
    gaps.push(gap('curator', 'NOT_APPLICABLE', "The market is the service's own, not a partner's."));
  }
  if (collateral.project === undefined) uncurated('collateral.project');
  if (collateral.yieldSource === undefined) {
    if (collateral.apySource === 'none') {
      gaps.push(gap('collateral.yieldSource', 'NOT_APPLICABLE', 'The collateral has no yield of its own.'));
    } else uncurated('collateral.yieldSource');
  }
  if (collateral.description === undefined) uncurated('collateral.description');
  if (collateral.maturity === undefined) {
    for (const field of ['maturity', 'maturityDate', 'maturityDaysLeft']) {
      gaps.push(gap(`collateral.${field}`, 'NOT_APPLICABLE', 'The token does not mature.'));
    }
  }
  if (collateral.underlying === undefined) {
    if (collateral.isPt) uncurated('collateral.underlying');
    else gaps.push(gap('collateral.underlying', 'NOT_APPLICABLE', 'The token is not a principal token.'));
  }
  if (collateral.points === undefined) uncurated('pointsIncentive');
  if (collateral.points === null) gaps.push(gap('pointsIncentive', 'NONE', 'There is no points program.'));
  if (market.oracleType === undefined) uncurated('oracle.type');
  return gaps;
}
