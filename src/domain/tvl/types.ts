import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../../shared/ids.ts';
import type { OracleDivergence } from '../market/oracle-divergence.ts';
import type { ComposedMarket } from '../market/types.ts';

/** What TVL needs to know of a position. */
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
   * What positions owe beyond their collateral: no borrower has to pay it, and `tvlUsd` is that much lower. Absent: computed by a
   * version that did not measure it.
   */
  readonly badDebtUsd?: Decimal;
  /**
   * The part of `grossTvlUsd` that is valued by an oracle far from what it can be compared with. Absent: computed by a version
   * that did not measure it.
   */
  readonly divergentUsd?: Decimal;
  /** Open positions with non-zero collateral. */
  readonly positions: number;
  /** Distinct wallets with at least one such position. */
  readonly users: number;
}

/** An oracle far from what it can be compared with, and what is summed by it. */
export interface SummedDivergence extends OracleDivergence {
  readonly marketId: MarketId;
  readonly oracle: Address;
  /** Collateral that it values, and the debt against it, USD with cents. */
  readonly grossTvlUsd: Decimal;
  readonly borrowedUsd: Decimal;
  readonly positions: number;
}

export interface ChainTvl extends TvlAmounts {
  readonly chainId: ChainId;
  /** The largest sum first; absent: computed by a version that did not compare. */
  readonly oracleDivergences?: readonly SummedDivergence[];
  /** The oldest of the inputs: positions, lending states, oracle values, loan prices. */
  readonly asOfMs: number;
  /** The distinct wallets, so that one with positions on two chains counts once in the total. */
  readonly wallets: readonly Address[];
  /** Open positions in markets that the catalog does not list: they cannot be valued and are in none of the numbers. */
  readonly outsideCatalog: number;
  /** Wallets whose positions revert when they are read: they are in none of the numbers either. */
  readonly unreadableWallets: number;
}

/** What TVL needs to know of a market: an APY is not among it, so that a yield source that fails costs no TVL. */
export type TvlMarket = Pick<
  ComposedMarket,
  | 'market'
  | 'loanPrice'
  | 'totalSupplyAssets'
  | 'totalBorrowAssets'
  | 'totalSupplyShares'
  | 'totalBorrowShares'
  | 'oracleDivergence'
> & { readonly facts: Pick<ComposedMarket['facts'], 'lendingState' | 'oracle'> };

export interface TvlMarkets {
  readonly chainId: ChainId;
  readonly markets: readonly TvlMarket[];
  /** Markets of the catalog whose state or oracle value is not known. */
  readonly excluded: readonly { readonly marketId: string }[];
}

/** Markets with open positions that cannot be valued yet, and why. */
export interface UnpricedMarket {
  readonly marketId: MarketId;
  readonly positions: number;
  readonly reason: 'market_not_composed' | 'loan_price_unknown';
}

/**
 * TVL of a chain, or why it cannot be told. One catalog market without a value makes the chain not computable: leaving it
 * out would show a fall that did not happen, so the last computed value is to be served with its age.
 */
export type TvlOutcome =
  | { readonly computed: true; readonly tvl: ChainTvl }
  | { readonly computed: false; readonly unpriced: readonly UnpricedMarket[] };
