import type { CollateralApySource } from '../catalog/schema.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import type { RateHistory } from '../shared/rate-history.ts';
import type { ContractDeployment, MarketSupport, TokenContract } from './deployment/types.ts';
import type { ChainTvl } from './tvl/types.ts';

/** Why a campaign is in no APY. */
export const RESTRICTIONS = ['whitelist', 'no_market_price', 'test'] as const;
export type Restriction = (typeof RESTRICTIONS)[number];

/**
 * Facts are measurements from outside, parsed and in internal units: percentages in percent, USD as exact decimals, on-chain
 * quantities as bigint. Composition (the rest of `domain`) derives the displayed values from them.
 */

/** State of one Morpho Blue market at one block. */
export interface LendingState {
  readonly totalSupplyAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalBorrowShares: bigint;
  /** Unix seconds of the last accrual on chain. */
  readonly lastUpdate: bigint;
  /** Protocol fee in WAD. */
  readonly fee: bigint;
  /** Rate at target utilization of the adaptive-curve IRM, per second in WAD. */
  readonly rateAtTarget: bigint;
  /** `borrowRateView` of the market's IRM at this block, per second in WAD: its mean since the last accrual. */
  readonly borrowRate: bigint;
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly blockTimestamp: bigint;
}

/**
 * What the price of an oracle is computed from, as the contracts behind it state: redemption rates (`nav`), traded prices
 * (`market`), both, nothing, or a feed that does not say.
 */
export type OracleBasis = 'nav' | 'market' | 'mixed' | 'fixed' | 'unstated';

/** Loan base units per collateral base unit, scaled by 1e36. */
export interface OraclePrice {
  readonly price: bigint;
  readonly blockNumber: bigint;
  /** The feeds that the price is computed from; empty = none (a redemption rate, or a fixed price); absent = not known. */
  readonly feeds?: readonly OracleFeed[] | undefined;
  /** Absent = the contract does not name what is behind it. */
  readonly basis?: OracleBasis | undefined;
  /** The value before a jump and the time at which the jump was seen, ms; absent without one. */
  readonly before?: { readonly price: bigint; readonly atMs: number } | undefined;
}

/** A price feed behind an oracle. */
export interface OracleFeed {
  readonly address: Address;
  /** Unix seconds of its latest answer; absent = the feed returns no credible date. */
  readonly updatedAt?: bigint | undefined;
  /** It reported the time of the block of the reading: it updated there or, without a date here, it dates every answer so. */
  readonly isOfBlock?: true | undefined;
}

export interface CollateralApy {
  /** Percent per year. */
  readonly apyPct: Decimal;
  /** Daily points; absent when the source has no history. */
  readonly history?: RateHistory | undefined;
}

export interface IncentiveCampaign {
  readonly id: string;
  readonly symbol: string;
  readonly aprPct: Decimal;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly url?: string | undefined;
}

/** Live campaigns of a market; an empty list means that none is running that everybody can earn. */
export interface MarketIncentives {
  readonly borrow: readonly IncentiveCampaign[];
  readonly collateral: readonly IncentiveCampaign[];
  /** Campaigns that not everybody can earn, or whose reward cannot be sold: they are in no APY. Absent = none. */
  readonly restricted?: readonly RestrictedCampaign[] | undefined;
  /** Listed campaigns that could not be read: the sum of their side is a lower bound. Absent = none. */
  readonly unread?: readonly UnreadCampaign[] | undefined;
}

export interface RestrictedCampaign extends Omit<IncentiveCampaign, 'aprPct'> {
  readonly side: CampaignSide;
  readonly reason: Restriction;
  /** By its provider; absent = not given. */
  readonly aprPct?: Decimal | undefined;
}

export interface UnreadCampaign {
  readonly side: CampaignSide;
  /** Absent = not readable either. */
  readonly id?: string | undefined;
}

export interface UsdPrice {
  readonly usd: Decimal;
}

export const EXIT_SIZES_USD = ['100000', '500000', '1000000', '5000000'] as const;
export type ExitSizeUsd = (typeof EXIT_SIZES_USD)[number];

/** Percent lost when this many USD of collateral are sold for the chain's stablecoin; `null` = no route at that size. */
export interface ExitSweep {
  readonly slippagePct: Readonly<Record<ExitSizeUsd, Decimal | null>>;
}

/** Liquidity that the public allocator could move into a market, in loan base units, by source vault and market. */
export interface SharedLiquidity {
  readonly sources: readonly {
    readonly vault: Address;
    readonly vaultName?: string | undefined;
    readonly withdrawMarketId: MarketId;
    readonly assets: bigint;
    /** Fee of the vault in wei of the native token. */
    readonly feeWei: bigint;
  }[];
}

/** One pool of the stablecoin yield index, with its daily history. */
export interface StableIndexPool {
  readonly id: string;
  readonly asset: string;
  /** Percent per year. */
  readonly avg7dPct: Decimal;
  readonly history: RateHistory;
}

export const CAMPAIGN_SIDES = ['borrow', 'collateral'] as const;
export type CampaignSide = (typeof CAMPAIGN_SIDES)[number];

/** APR of one campaign over its life. */
export interface CampaignRecord {
  readonly id: string;
  readonly side: CampaignSide;
  readonly symbol: string;
  readonly startsAtMs: number;
  /** The announced end, or the time at which an earlier end was detected. */
  readonly endsAtMs: number;
  /** APR in percent: each point holds until the next, the last one until the end. Empty while nothing is recorded. */
  readonly steps: RateHistory;
}

/** The campaigns of a market, running and ended, each with its own history. */
export interface IncentiveHistory {
  readonly campaigns: readonly CampaignRecord[];
}

/** Borrow APY of a market over time: daily means of our own readings, and the indexer's history for the days without one. */
export interface BorrowHistory {
  readonly points: RateHistory;
}

/** Key of each group's items. Addresses are checksummed, market ids lower case. */
export interface FactGroups {
  /** By market id. */
  readonly lendingState: LendingState;
  /** By oracle address. */
  readonly oracle: OraclePrice;
  /** By token address. */
  readonly collateralApy: CollateralApy;
  /** By market id. */
  readonly incentives: MarketIncentives;
  /** By market id. */
  readonly incentiveHistory: IncentiveHistory;
  /** By token address. */
  readonly price: UsdPrice;
  /** By token address. */
  readonly exitLiquidity: ExitSweep;
  /** By market id. */
  readonly sharedLiquidity: SharedLiquidity;
  /** By market id. */
  readonly borrowHistory: BorrowHistory;
  /** By pool id. */
  readonly stableIndex: StableIndexPool;
  /** One item under `TVL_KEY`, measured at the block of the positions; its own `asOfMs` is that of its oldest input. */
  readonly tvl: ChainTvl;
  /** One item under `DEPLOYMENT_KEY`. */
  readonly deployment: ContractDeployment;
  /** By market id. */
  readonly marketSupport: MarketSupport;
  /** By token address. */
  readonly tokenContract: TokenContract;
}
export const DEPLOYMENT_KEY = 'contract';
export const TVL_KEY = 'total';
export type FactGroup = keyof FactGroups;
export const FACT_GROUPS = [
  'lendingState',
  'oracle',
  'collateralApy',
  'incentives',
  'incentiveHistory',
  'price',
  'exitLiquidity',
  'sharedLiquidity',
  'borrowHistory',
  'stableIndex',
  'tvl',
  'deployment',
  'marketSupport',
  'tokenContract',
] as const satisfies readonly FactGroup[];

/** Why the latest refresh of an item failed. Fixed words that are safe to show; never the upstream's own text. */
export const FAILURE_REASONS = [
  'unreachable',
  'timeout',
  'rate_limited',
  'throttled',
  'overloaded',
  'price_moved',
  'rejected',
  'server_error',
  'malformed',
  'missing',
  'implausible',
  'reverted',
  'not_configured',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** A received value that is not published before it is confirmed by further observations. */
export interface Suspect {
  /** Prices in USD, rates in percent. */
  readonly value: Decimal;
  /** Number of consecutive observations of this value; requests that returned the same one again do not count. */
  readonly readings: number;
  /** Time of the request of the latest one, ms; absent = not known. */
  readonly atMs?: number | undefined;
  /** Its time by the source, ms; absent = the source gives none. */
  readonly measuredMs?: number | undefined;
}

export interface Failure {
  readonly reason: FailureReason;
  /** Public name of the source that failed, e.g. `aggregator` or `chain`. */
  readonly source: string;
  /** Time of the first failure in the current series, ms. */
  readonly sinceMs: number;
  /** The received value, while it awaits confirmation. */
  readonly suspect?: Suspect | undefined;
}

/** A last-good value with its time and source. A failure never changes `asOfMs`. */
export interface Fact<T> {
  readonly value: T;
  /** When the value was measured (chain facts: the block's time), ms. */
  readonly asOfMs: number;
  /** Public name of the source, e.g. `chain`, `yieldmarket`, `coingecko`. */
  readonly source: string;
}

export interface GroupState<T> {
  readonly items: ReadonlyMap<string, Fact<T>>;
  /** Items whose latest refresh failed. An item that is also in `items` is served at its last-good value. */
  readonly failures: ReadonlyMap<string, Failure>;
  /** `null` before the first attempt ended. */
  readonly lastAttemptMs: number | null;
  /** Latest attempt in which no item failed; `null` before the first. */
  readonly lastSuccessMs: number | null;
}

/** All facts of one chain at one version. Immutable; a publish makes the next one. */
export interface ChainFacts {
  readonly chainId: ChainId;
  /** Grows by one with every publish; survives restarts. */
  readonly version: number;
  readonly publishedMs: number;
  readonly groups: { readonly [G in FactGroup]: GroupState<FactGroups[G]> };
}

/** Freshness budgets in seconds, by group; the collateral APY's depend on its source. */
export interface FreshnessBudgets {
  readonly lendingState: number;
  readonly oracle: number;
  /** For feeds behind an oracle that have no curated heartbeat. */
  readonly oracleFeed: number;
  readonly borrowHistory: number;
  /** For histories whose newest point is that of a day. */
  readonly dailyHistory: number;
  readonly collateralApy: Readonly<Record<CollateralApySource, number>>;
  readonly incentives: number;
  readonly incentiveHistory: number;
  readonly price: number;
  readonly exitLiquidity: number;
  readonly sharedLiquidity: number;
  readonly stableIndex: number;
  readonly tvl: number;
  readonly deployment: number;
  readonly marketSupport: number;
  readonly tokenContract: number;
  readonly opsPortfolios: number;
}

export function emptyGroup<T>(): GroupState<T> {
  return { items: new Map(), failures: new Map(), lastAttemptMs: null, lastSuccessMs: null };
}

/** The facts of a chain before the first measurement. */
export function emptyChainFacts(chainId: ChainId): ChainFacts {
  return {
    chainId,
    version: 0,
    publishedMs: 0,
    groups: {
      lendingState: emptyGroup(),
      oracle: emptyGroup(),
      collateralApy: emptyGroup(),
      incentives: emptyGroup(),
      incentiveHistory: emptyGroup(),
      price: emptyGroup(),
      exitLiquidity: emptyGroup(),
      sharedLiquidity: emptyGroup(),
      borrowHistory: emptyGroup(),
      stableIndex: emptyGroup(),
      tvl: emptyGroup(),
      deployment: emptyGroup(),
      marketSupport: emptyGroup(),
      tokenContract: emptyGroup(),
    },
  };
}
