import type { CampaignRecord, FactGroup } from '../domain/facts.ts';
import type { ChainTvl, TvlPosition } from '../domain/tvl/types.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';

/**
 * `all`: read every item. `due`: items that were measured recently without failure may be skipped where reading is expensive.
 */
export type RunMode = 'all' | 'due';

/** Result of one run. A run without any value throws instead, after it has published the failures. */
export interface RunReport {
  readonly items: number;
  readonly failures: number;
  /** Failures that a retry may resolve; a source that is not configured does not count. */
  readonly retryable: number;
  /** Failures among them that are unconfirmed values: they are read again within a minute. */
  readonly suspects?: number | undefined;
  /** Of the failures: undated values that a reading after a whole cadence may confirm. */
  readonly awaiting?: number | undefined;
  /** Seconds until the run may go on, where the budget of a provider has ended it; absent = it is complete. */
  readonly resumeSec?: number | undefined;
}

/** Outcome of a run for a request. `elsewhere` = another process has the lease. */
export type RequestedRun = 'ran' | 'failed' | 'too_recent' | 'elsewhere';

/** A job that refreshes one group of facts. */
export interface Warmer {
  /** `<value>` or `<value>:<chainId>`; also the name of its lease. */
  readonly name: string;
  readonly groups: readonly FactGroup[];
  readonly everySec: number;
  /** Start-up phase: a later phase needs the values of the earlier ones. */
  readonly phase: 0 | 1 | 2;
  run(signal: AbortSignal, mode: RunMode): Promise<RunReport>;
}

/** Seconds between two refreshes. */
export interface Cadences {
  readonly lendingState: number;
  readonly yieldmarketApy: number;
  readonly onchainApy: number;
  /** Stable index, aggregator and incentive market. */
  readonly slowApy: number;
  readonly incentives: number;
  readonly incentiveHistory: number;
  readonly prices: number;
  readonly exitLiquidity: number;
  readonly sharedLiquidity: number;
  readonly borrowHistory: number;
  readonly tvl: number;
  readonly deployment: number;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export const DEFAULT_CADENCES: Cadences = {
  lendingState: 2 * MINUTE,
  yieldmarketApy: 30 * MINUTE,
  onchainApy: 10 * MINUTE,
  slowApy: 12 * HOUR,
  incentives: 30 * MINUTE,
  incentiveHistory: 30 * MINUTE,
  prices: 5 * MINUTE,
  exitLiquidity: 12 * HOUR,
  sharedLiquidity: 5 * MINUTE,
  borrowHistory: 30 * MINUTE,
  tvl: 5 * MINUTE,
  deployment: 5 * MINUTE,
};

/** One sample of a market's state for our own history. Rates are fractions, amounts loan base units. */
export interface BorrowRateSample {
  readonly marketId: MarketId;
  readonly atMs: number;
  readonly borrowApy: Decimal;
  readonly utilization: Decimal;
  readonly supplyAssets: bigint;
  readonly borrowAssets: bigint;
  readonly liquidityAssets: bigint;
}

/** Oracle price, scaled by 1e36, and borrow rate of a market, per second in WAD, at one block. */
export interface PricedMarket {
  readonly atMs: number;
  readonly price: bigint;
  readonly borrowRate: bigint;
}

/** Mean of our own borrow APY samples of one UTC day, as a fraction. */
export interface DailyBorrowRate {
  readonly marketId: MarketId;
  /** Start of the day. */
  readonly dayMs: number;
  readonly borrowApy: Decimal;
}

/** The positions of every wallet of a chain, read at one block. */
export interface PositionsReading {
  readonly positions: readonly TvlPosition[];
  /** Time of the block, ms. */
  readonly asOfMs: number;
  /** Wallets and proxies that revert when they are read. The next reading fails the same way. */
  readonly unreadable: number;
}

/** Let a write go on beside a run; resolves when the run may go on. The work never rejects. */
export type Beside = (work: Promise<void>) => Promise<void>;
export type RecordSamples = (chainId: ChainId, samples: readonly BorrowRateSample[]) => Promise<void>;
export type RecordMarkets = (chainId: ChainId, samples: ReadonlyMap<MarketId, PricedMarket>) => Promise<void>;
export type ReadPositions = (chainId: ChainId, signal: AbortSignal) => Promise<PositionsReading>;
export type ReadBorrowHistory = (chainId: ChainId) => Promise<readonly DailyBorrowRate[]>;

/** One of our own observations of a collateral's APY, percent. */
export interface ApyObservation {
  readonly token: Address;
  readonly atMs: number;
  readonly apyPct: Decimal;
}

/** Our latest observation of a token's APY on a UTC day, percent. */
export interface DailyApyRate {
  readonly token: Address;
  /** Start of the day. */
  readonly dayMs: number;
  readonly apyPct: Decimal;
}

export type RecordApys = (chainId: ChainId, observations: readonly ApyObservation[]) => Promise<void>;
export type ReadApys = (chainId: ChainId, sinceMs: number) => Promise<readonly DailyApyRate[]>;
export type Campaigns = ReadonlyMap<MarketId, readonly CampaignRecord[]>;
export type RecordCampaigns = (chainId: ChainId, campaigns: Campaigns) => Promise<void>;
export type ReadCampaigns = (chainId: ChainId, sinceMs: number) => Promise<Campaigns>;

/** Store the TVL of a chain as a sample of its hour. */
export type RecordTvl = (tvl: Pick<ChainTvl, 'chainId' | 'asOfMs' | 'grossTvlUsd' | 'borrowedUsd'>) => Promise<void>;
