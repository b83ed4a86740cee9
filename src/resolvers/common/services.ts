import type { Catalog } from '../../catalog/types.ts';
import type { ChainFacts, FreshnessBudgets } from '../../domain/facts.ts';
import type { ComposedChain } from '../../domain/market/types.ts';
import type { TvlAmounts } from '../../domain/tvl/types.ts';
import type { HistorySource } from '../../loaders/history.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { OpsServices } from '../ops/ops-services.ts';
import type { PositionHistoryServices } from '../position/history-services.ts';
import type { PositionServices } from '../position/position-services.ts';
import type { ChangesPort } from '../strategy/changes.ts';
import type { PartnerServices } from '../transaction/partner-services.ts';
import type { UsageServices } from '../usage/usage-services.ts';
import type { FeatureServices } from './feature-services.ts';
import type { FreshReadServices, RefreshPort } from './read-services.ts';

/** Reads of the catalog, the settings and the facts. Every resolver reaches them as `ctx.services`. */
export interface SnapshotServices {
  readonly catalog: Catalog;
  readonly budgets: FreshnessBudgets;
  readonly health: HealthPort;
  readonly refreshes: RefreshPort;
  /** Services of features, which only their own resolvers reach. */
  readonly features: FeatureServices;
}

/**
 * Everything else that resolvers reach, as narrow ports: by `ctx.loaders`, whose reads have cache hints, or by `ctx.live()`,
 * which makes the answer good for one time. The composition root implements the ports; tests hand in records. A surface that
 * needs more adds its own interface and joins it to `Services`.
 */
interface ReadServices extends SnapshotServices {
  /**
   * The composed markets and strategies of a chain: the same object until the next version. Before anything could be
   * composed its lists are empty and `excluded` names the facts that each market waits for.
   */
  composed(chainId: ChainId): ComposedChain;
  /** Resolves once `composed` is made from the facts that are the newest now: a large chain is composed after a publish. */
  caughtUp(chainId: ChainId): Promise<void>;
  /** The facts that `composed` was made from, or newer ones. */
  facts(chainId: ChainId): ChainFacts;
  readonly histories: HistorySource;
  readonly charts: ChartsPort;
  readonly ohlcv: CandlesPort;
  /** The latest TVL; `null` until one chain is computed. Chains not yet computed are left out of `chains`. */
  tvl(): TvlSnapshot | null;
  readonly changes: ChangesPort;
}

export type Services = ReadServices &
  PositionServices &
  PositionHistoryServices &
  PartnerServices &
  OpsServices &
  FreshReadServices &
  UsageServices & {
    readonly tvlSamples: TvlSamplesPort;
    /** Absent: the service does not ask for rewards. */
    readonly rewards?: RewardsReadPort | undefined;
  };

/** Points of `[unix ms, value]`, oldest first, as relayed. */
export type ChartPoint = readonly [number, number];

export interface ChartAnswer {
  readonly source: string;
  readonly asOfMs: number;
  readonly prices: readonly ChartPoint[];
  readonly marketCaps: readonly ChartPoint[];
  readonly totalVolumes: readonly ChartPoint[];
}

export interface ChartsPort {
  /** `null` = the provider does not know the coin. @throws UpstreamUnavailableError */
  chart(coinId: string, days: number, currency: string): Promise<ChartAnswer | 'unknown_currency' | null>;
}

const CANDLE_TIMEFRAMES = ['minute', 'hour', 'day'] as const;
export type CandleTimeframe = (typeof CANDLE_TIMEFRAMES)[number];

export interface CandleQuery {
  readonly chainId: ChainId;
  readonly token: Address;
  readonly timeframe: CandleTimeframe;
  readonly aggregate: number;
  readonly limit: number;
}

export interface Candle {
  /** Unix seconds. */
  readonly t: number;
  readonly o: number;
  readonly h: number;
  readonly l: number;
  readonly c: number;
  readonly v: number;
  /** Its volume is too small for its prices to be those of the pool. */
  readonly isUnbacked: boolean;
}

export interface CandlesAnswer {
  readonly pool: { readonly address: string; readonly name: string; readonly dex: string };
  readonly source: string;
  readonly asOfMs: number;
  /** The upstream failed and these are the previous candles. */
  readonly stale: boolean;
  /** Oldest first. */
  readonly candles: readonly Candle[];
}

export interface CandlesPort {
  /** `null` = no pool holding the token is indexed. @throws UpstreamUnavailableError */
  candles(query: CandleQuery): Promise<CandlesAnswer | null>;
}

export interface ChainReadiness {
  /** Market state and oracle values were measured at least once. */
  readonly primed: boolean;
  /**
   * Reads answer, at last-good if need be: it was primed, and every other group was tried, or the
   * longest wait for it is over. Once true it stays true: no age and no failure ends it.
   */
  readonly open: boolean;
  /** Open, and neither market state nor oracle values are too far past their budgets. */
  readonly ready: boolean;
  /** Names of the groups that readiness waits for; empty when ready. */
  readonly waitingFor: readonly string[];
  /** Names of the groups that were not read completely since the first start. */
  readonly missing: readonly string[];
}

export interface HealthPort {
  readiness(chainId: ChainId, nowMs: number): ChainReadiness;
}

export type TvlTotals = TvlAmounts;

export interface TvlSnapshot {
  /** Another one for every measurement. */
  readonly version: number;
  readonly total: TvlTotals;
  readonly chains: readonly (TvlTotals & { readonly chainId: ChainId; readonly asOfMs: number })[];
}

/** The TVL of a chain at one moment, exact USD. */
export interface TvlSample {
  readonly chainId: ChainId;
  readonly atMs: number;
  readonly grossTvlUsd: Decimal;
  readonly borrowedUsd: Decimal;
}

export interface TvlSamplesPort {
  /** Hourly samples of chains since a time, oldest first. @throws UpstreamUnavailableError */
  since(chainIds: readonly ChainId[], fromMs: number): Promise<readonly TvlSample[]>;
}

/** What a position has earned in one token, by the record of the provider. Base units. */
export interface RecordedReward {
  readonly token: { readonly address: Address; readonly symbol: string; readonly decimals: number };
  readonly accrued: bigint;
  readonly claimed: bigint;
  readonly pending: bigint;
}

export interface RewardsReadPort {
  /** The rewards of the contract that holds a position. @throws UpstreamUnavailableError */
  of(
    chainId: ChainId,
    proxy: Address,
  ): Promise<{ readonly rewards: readonly RecordedReward[]; readonly asOfMs: number }>;
}
