import type { CollateralApySource } from '../catalog/schema.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import type { RateHistory } from '../shared/rate-history.ts';
import type { ChainTvl } from './tvl/types.ts';

/**
 * Facts are what was measured outside, parsed and in our units: percentages in percent, USD as exact decimals,
 * on-chain quantities as bigint. Composition (the rest of `domain`) turns them into what is shown.
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

/** Loan base units per collateral base unit, scaled by 1e36. */
export interface OraclePrice {
  readonly price: bigint;
  readonly blockNumber: bigint;
  /** The feeds that the price is made of; empty = it needs none (a redemption rate, or fixed); absent = not known. */
  readonly feeds?: readonly OracleFeed[];
  /** The value from before a jump, and when the jump was seen, ms; absent without one. */
  readonly before?: { readonly price: bigint; readonly atMs: number };
}

/** A price feed behind an oracle. */
export interface OracleFeed {
  readonly address: Address;
  /** Unix seconds at which its answer was made; absent = it tells no date that can be believed. */
  readonly updatedAt?: bigint;
}

export interface CollateralApy {
  /** Percent per year. */
  readonly apyPct: Decimal;
  /** Daily points; absent when the source has no history. */
  readonly history?: RateHistory;
}

export interface IncentiveCampaign {
  readonly id: string;
  readonly symbol: string;
  readonly aprPct: Decimal;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly url?: string;
}

/** Live campaigns of a market; an empty list is a measured "there is none". */
export interface MarketIncentives {
  readonly borrow: readonly IncentiveCampaign[];
  readonly collateral: readonly IncentiveCampaign[];
}

export interface UsdPrice {
  readonly usd: Decimal;
}

export const EXIT_SIZES_USD = ['100000', '500000', '1000000', '5000000'] as const;
export type ExitSizeUsd = (typeof EXIT_SIZES_USD)[number];

/** Percent lost when that many USD of collateral are sold for the chain's stable; `null` = no route at that size. */
export interface ExitSweep {
  readonly slippagePct: Readonly<Record<ExitSizeUsd, Decimal | null>>;
}

/** What the public allocator could bring to a market, in loan base units, by the vault and market it would come from. */
export interface SharedLiquidity {
  readonly sources: readonly {
    readonly vault: Address;
    readonly vaultName?: string;
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

/** What one campaign paid over its life. */
export interface CampaignRecord {
  readonly id: string;
  readonly side: CampaignSide;
  readonly symbol: string;
  readonly startsAtMs: number;
  /** The announced end, or when it was found to have ended before. */
  readonly endsAtMs: number;
  /** APR in percent: each point holds until the next, the last one until the end. Empty while nothing is recorded. */
  readonly steps: RateHistory;
}

/** The campaigns of a market, running and ended, each with its own past. */
export interface IncentiveHistory {
  readonly campaigns: readonly CampaignRecord[];
}

/** Borrow APY of a market over time: our own daily means, and the indexer's back-fill for other days. */
export interface BorrowHistory {
  readonly points: RateHistory;
}

/** What the deployed contract says of itself. Absent = it lacks that view, or said what cannot be. Shares are in WAD. */
export interface ContractDeployment {
  /** Whether there is a contract at the address at all. */
  readonly hasCode?: boolean | undefined;
  /** Between the liquidation LTV and the highest LTV that it accepts. */
  readonly liquidationBuffer?: bigint | undefined;
  /** Of the yield, on correlated markets. */
  readonly yieldFee?: bigint | undefined;
  /** Of what is paid in, on uncorrelated markets. */
  readonly depositFee?: bigint | undefined;
  /** Receives the fees. */
  readonly treasury?: Address | undefined;
  readonly isPaused?: boolean | undefined;
  /** Whether swaps may go through the routers of the catalog's venues; those of which it told. */
  readonly swapRouters: readonly AllowedAddress[];
  /** Whether the catalog's own routers may act for users; those of which it told. */
  readonly operators: readonly AllowedAddress[];
  /** Whether there is code where the catalog's other contracts and the routers of its venues are. */
  readonly code?: readonly { readonly address: Address; readonly hasCode: boolean }[];
  /** Which contracts the product's own say that they work with; those of which they told. */
  readonly links?: readonly ContractLink[];
  /** Fields of the above that were told and cannot be. */
  readonly implausible?: readonly string[];
}

/** A contract of the product names another one that it works with. */
export interface ContractLink {
  /** Who says so. */
  readonly address: Address;
  /** What the other one is, as the catalog calls it. */
  readonly to: 'morphoBlue' | 'flashLeverage' | 'publicAllocator';
  readonly target: Address;
}

export interface AllowedAddress {
  readonly address: Address;
  readonly isAllowed: boolean;
}

/** What the deployed contract, and the lending protocol, say of one market. Absent = not known. */
export interface MarketSupport {
  readonly isSupported?: boolean | undefined;
  readonly isCorrelated?: boolean | undefined;
  /** The parameters behind its id; `null` = there is no market of that id. */
  readonly params?: ChainMarketParams | null | undefined;
}

/** The parameters of a market as the lending protocol keeps them. */
export interface ChainMarketParams {
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  /** WAD. */
  readonly lltv: bigint;
}

/** What the contract of a token says of itself. Absent = it does not tell. */
export interface TokenContract {
  readonly hasCode: boolean;
  readonly decimals?: bigint | undefined;
  /** Shortened, and without what is not printable: anybody's text. */
  readonly symbol?: string | undefined;
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

/** Why the latest refresh of an item gave nothing. One word each, safe to show; never the upstream's own text. */
export const FAILURE_REASONS = [
  'unreachable',
  'timeout',
  'rate_limited',
  'overloaded',
  'rejected',
  'server_error',
  'malformed',
  'missing',
  'implausible',
  'reverted',
  'not_configured',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** A value that was told and is not published before it is confirmed. */
export interface Suspect {
  /** Prices in USD, rates in percent. */
  readonly value: Decimal;
  /** How many readings in a row have told it. */
  readonly readings: number;
}

export interface Failure {
  readonly reason: FailureReason;
  /** Public name of the source that failed, e.g. `aggregator` or `chain`. */
  readonly source: string;
  /** When the first refresh of the running series of failures failed, ms. */
  readonly sinceMs: number;
  /** What was told, where it is only waited for confirmation. */
  readonly suspect?: Suspect;
}

/** A last-good value with when and where it was measured. A failure never changes `asOfMs`. */
export interface Fact<T> {
  readonly value: T;
  /** When the value was measured (chain facts: the block's time), ms. */
  readonly asOfMs: number;
  /** Public name of the source, e.g. `chain`, `yieldmarket`, `coingecko`. */
  readonly source: string;
}

export interface GroupState<T> {
  readonly items: ReadonlyMap<string, Fact<T>>;
  /** Items whose latest refresh failed; an item in both maps is served at last-good. */
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
  /** Of the feeds behind an oracle whose heartbeat nobody curated. */
  readonly oracleFeed: number;
  readonly borrowHistory: number;
  /** Of histories by their newest point, where that is a day's. */
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

/** A group without anything in it. */
export function emptyGroup<T>(): GroupState<T> {
  return { items: new Map(), failures: new Map(), lastAttemptMs: null, lastSuccessMs: null };
}

/** The facts of a chain of which nothing is known yet. */
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
