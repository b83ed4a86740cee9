import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../../shared/ids.ts';
import type { OracleDivergence } from '../plausibility/types.ts';

/** TVL input of a position. */
export interface TvlPosition {
  readonly wallet: Address;
  readonly marketId: MarketId;
  /** Collateral base units. */
  readonly collateral: bigint;
  readonly borrowShares: bigint;
  readonly open: boolean;
}

/** USD amounts with cents: `tvlUsd + borrowedUsd = grossTvlUsd` holds on them exactly. */
export interface TvlAmounts {
  /** Net equity of the users: collateral minus debt. */
  readonly tvlUsd: Decimal;
  /** Looped collateral. */
  readonly grossTvlUsd: Decimal;
  readonly borrowedUsd: Decimal;
  /**
   * Debt of positions beyond their collateral. No borrower has to pay it, and `tvlUsd` is reduced by it. Absent: computed by a
   * version that did not measure it.
   */
  readonly badDebtUsd?: Decimal | undefined;
  /** The part of `grossTvlUsd` that is valued by a divergent oracle. Absent: computed by a version that did not measure it. */
  readonly divergentUsd?: Decimal | undefined;
  /** Open positions with non-zero collateral. */
  readonly positions: number;
  /** Distinct wallets with at least one such position. */
  readonly users: number;
}

/** A divergent oracle and the sums that it values. */
export interface SummedDivergence extends OracleDivergence {
  readonly marketId: MarketId;
  readonly oracle: Address;
  /** Collateral at this oracle's price, and the debt against it, USD with cents. */
  readonly grossTvlUsd: Decimal;
  readonly borrowedUsd: Decimal;
  readonly positions: number;
}

export interface ChainTvl extends TvlAmounts {
  readonly chainId: ChainId;
  /** Ordered by sum, largest first; absent: computed by a version that did not compare. */
  readonly oracleDivergences?: readonly SummedDivergence[] | undefined;
  /** Age of the oldest input: positions, lending states, oracle values, loan prices. */
  readonly asOfMs: number;
  /** The distinct wallets, so that one with positions on two chains counts once in the total. */
  readonly wallets: readonly Address[];
  /** Open positions in markets that are not in the catalog: they have no value and are in none of the numbers. */
  readonly outsideCatalog: number;
  /** Wallets whose positions revert when read; they are in none of the numbers. */
  readonly unreadableWallets: number;
}

/** Markets with open positions that have no value yet, and why. */
export interface UnpricedMarket {
  readonly marketId: MarketId;
  readonly positions: number;
  readonly reason: 'market_not_composed' | 'loan_price_unknown';
}

/**
 * TVL of a chain, or why it cannot be computed. One catalog market without a value makes it not computable: leaving that
 * market out would show a fall that did not happen, so the last computed value is served with its age.
 */
export type TvlOutcome =
  | { readonly computed: true; readonly tvl: ChainTvl }
  | { readonly computed: false; readonly unpriced: readonly UnpricedMarket[] };
