import type { Address, MarketId } from '../../shared/ids.ts';
import { borrowApyPctFromRate, borrowRateNow } from '../apy/rates.ts';
import type { Fact, LendingState, OraclePrice } from '../facts.ts';
import { stampOf } from '../freshness/stamp.ts';
import { divergenceWarning, oracleDivergence, withJump } from './oracle-divergence.ts';
import { ORACLE_SOURCE } from './prices.ts';
import type { ComposedChain, ComposedMarket } from './types.ts';

/** Markets at one block. A market or oracle that could not be read at the block is missing. */
export interface MarketsAtBlock {
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly lending: ReadonlyMap<MarketId, LendingState>;
  /** By oracle address. */
  readonly oracle: ReadonlyMap<Address, OraclePrice>;
}

/** The values of a market that a position on it depends on. */
export type PositionMarketValues = Pick<
  ComposedMarket,
  | 'market'
  | 'facts'
  | 'loanPrice'
  | 'collateralPrice'
  | 'oracleDivergence'
  | 'warnings'
  | 'borrowApyPct'
  | 'netBorrowApyPct'
  | 'collateralApyPct'
  | 'effectiveCollateralApyPct'
  | 'liquidationLtvPct'
  | 'maxLtvPct'
  | 'safeLtvPct'
  | 'fees'
  | 'stamps'
  | 'gaps'
>;

/** Finds the values of a market; `undefined` = it has not been measured yet. */
export type MarketValues = Pick<ReadonlyMap<MarketId, PositionMarketValues>, 'get'>;

/**
 * Return the values of markets at the block of a reading. State, price and rate are those of the block; everything else
 * (yields, USD prices, incentives) is as composed. A market that could not be read at the block has its last-good values, with
 * their age. The result is memoized per market: use one result for all positions read at that block.
 */
export function marketsAt(composed: ComposedChain, at: MarketsAtBlock | undefined): MarketValues {
  const measured = composed.lookup.markets;
  if (!at) return measured;
  const made = new Map<MarketId, PositionMarketValues>();
  return {
    get: (id) => {
      const known = made.get(id);
      if (known) return known;
      const market = measured.get(id);
      if (!market) return undefined;
      const values = valuesAt(market, at);
      made.set(id, values);
      return values;
    },
  };
}

/** `marketsAt` for any number of readings of one version, memoized per reading. */
export function marketsAtReadings(composed: ComposedChain): (at: MarketsAtBlock | undefined) => MarketValues {
  const readings = new Map<MarketsAtBlock | undefined, MarketValues>();
  return (at) => {
    const values = readings.get(at) ?? marketsAt(composed, at);
    readings.set(at, values);
    return values;
  };
}

function valuesAt(composed: ComposedMarket, at: MarketsAtBlock): PositionMarketValues {
  const { market, facts, stamps } = composed;
  const state = at.lending.get(market.id);
  const price = at.oracle.get(market.oracle);
  if (!state && !price) return composed;
  const asOfMs = Number(at.timestamp) * 1_000;
  const factOf = <T>(value: T, last: Fact<T>): Fact<T> => ({ value, asOfMs, source: last.source });
  const lendingState = state ? factOf(state, facts.lendingState) : facts.lendingState;
  const oracle = price ? factOf(withJump(price, facts.oracle.value, asOfMs), facts.oracle) : facts.oracle;
  const borrowApyPct = state ? borrowApyPctFromRate(borrowRateNow(state)) : composed.borrowApyPct;
  return {
    ...composed,
    ...divergenceAt(composed, oracle),
    facts: { ...facts, lendingState, oracle },
    borrowApyPct,
    // The incentive is not measured at the block: the composed difference between net and gross rate applies.
    netBorrowApyPct: composed.netBorrowApyPct.plus(borrowApyPct).minus(composed.borrowApyPct),
    stamps: {
      ...stamps,
      borrow: stampOf(lendingState, stamps.borrow.staleAfterSec),
      oracle: stampOf(oracle, stamps.oracle.staleAfterSec),
    },
  };
}

/** Compare the oracle value of the block. A price that is derived from this oracle is no reference for it. */
function divergenceAt(
  composed: ComposedMarket,
  oracle: Fact<OraclePrice>,
): Pick<PositionMarketValues, 'oracleDivergence' | 'warnings'> {
  const { market, loanPrice, collateralPrice, oracleDivergence: known } = composed;
  const isOwn = collateralPrice?.source === ORACLE_SOURCE && known?.against !== 'price';
  const loanUsd = loanPrice?.value.usd;
  const found = oracleDivergence({ market, oracle, loanUsd, price: isOwn ? undefined : collateralPrice });
  if (!found && !known) return { warnings: composed.warnings };
  const others = composed.warnings.filter(({ field }) => field !== 'oracle');
  return found
    ? { oracleDivergence: found, warnings: [...others, divergenceWarning(found)] }
    : { oracleDivergence: undefined, warnings: others };
}
