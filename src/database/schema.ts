import type { ColumnType, Generated } from 'kysely';
import type { DriftKind, DriftSeverity } from '../domain/drift/types.ts';
import type { KeyUsageTable, TvlSamplesTable } from './sample-tables.ts';

/** Exact decimals are transferred as text in both directions, never as a JavaScript float. */
type Numeric = ColumnType<string, string, string>;
export type NullableNumeric = ColumnType<string | null, string | null | undefined, string | null>;
export type Time = ColumnType<Date, Date, Date>;
export type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** The latest sample of a market within an hour. Amounts in loan base units, rates as fractions. */
export interface RateSamplesTable {
  chain_id: number;
  market_id: string;
  hour: Time;
  sampled_at: Time;
  borrow_apy: Numeric;
  utilization: Numeric;
  supply_assets: Numeric;
  borrow_assets: Numeric;
  liquidity_assets: Numeric;
}

/** The latest oracle price and borrow rate of a market within an hour. */
export interface MarketSamplesTable {
  chain_id: number;
  market_id: string;
  hour: Time;
  sampled_at: Time;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  price: Numeric;
  /** Per second in WAD. */
  borrow_rate: Numeric;
}

/** An API key with the hash of its secret. */
export interface ApiKeysTable {
  id: string;
  prefix: string;
  secret_hash: Buffer;
  tier: 'partner' | 'ops';
  label: string;
  created_at: Time;
  expires_at: NullableTime;
  revoked_at: NullableTime;
  rotated_from: string | null;
  /** Exact to within `LAST_USED_RESOLUTION_MS`. */
  last_used_at: NullableTime;
}

/** A position as the app registered it. The service reads this table and never writes it. */
export interface PositionRegistrationsTable {
  id: Generated<string>;
  /** Lower case, enforced by a check. */
  wallet: string;
  chain_id: number;
  market_id: string;
  position_index: number;
  is_open: boolean;
  deposited_usd: Numeric;
  added_usd: Numeric;
  removed_usd: Numeric;
  returned_usd: Numeric;
  collateral_apy_pct_at_open: NullableNumeric;
  borrow_apy_pct_at_open: NullableNumeric;
  leverage_apy_pct_at_open: NullableNumeric;
  desired_ltv_pct: NullableNumeric;
  entry_price: NullableNumeric;
  exit_price: NullableNumeric;
  equity_vault_id: string | null;
  created_at: Time;
  updated_at: Time;
  closed_at: NullableTime;
}

/** Owner of the contract that a factory created with a nonce. Hex lower case, enforced by checks. */
export interface PositionProxiesTable {
  chain_id: number;
  factory: string;
  genesis_hash: string;
  nonce: number;
  owner: string | null;
  /** 64 bits, transferred as text. */
  resolved_block: string;
}

/** When a disagreement between register and chain was seen. Several rows of one, of which at most one is open. */
export interface DriftHistoryTable {
  id: Generated<string>;
  chain_id: number;
  /** Lower case, enforced by a check. */
  wallet: string;
  position_index: number;
  kind: DriftKind;
  severity: DriftSeverity;
  market_id: string;
  vault_id: string | null;
  first_seen: Time;
  last_seen: Time;
  /** `null` = open. */
  gone_at: NullableTime;
}

/** First sighting of an open disagreement; for versions before `drift_history`, which read and write this table only. */
export interface DriftSightingsTable {
  chain_id: number;
  key: string;
  /** Lower case, enforced by a check. */
  wallet: string;
  first_seen: Time;
}

/** Totals of all portfolios of a chain, the latest of each hour. */
export interface PortfolioSamplesTable {
  chain_id: number;
  hour: Time;
  sampled_at: Time;
  positions: number;
  deposited_usd: Numeric;
  net_value_usd: Numeric;
  incentives_usd: Numeric;
  total_usd: Numeric;
}

/** A campaign and its rates, as packed steps. */
export interface IncentiveCampaignsTable {
  chain_id: number;
  market_id: string;
  side: 'borrow' | 'collateral';
  campaign_id: string;
  symbol: string;
  starts_at: Time;
  ends_at: Time;
  steps: string;
}

/** The latest sample of a collateral's APY within a UTC day, percent. */
export interface ApySamplesTable {
  chain_id: number;
  /** Checksummed, as in the snapshot. */
  token: string;
  day: Time;
  sampled_at: Time;
  apy_pct: Numeric;
}

/** A log of the chain that concerns a position. Amounts are base units; hex lower case, enforced by checks. */
export interface PositionEventsTable {
  chain_id: number;
  /** 64 bits, transferred as text. */
  block_number: string;
  log_index: number;
  block_hash: string;
  block_time: Time;
  tx_hash: string;
  event: string;
  market_id: string | null;
  account: string | null;
  wallet: string | null;
  position_index: number | null;
  token: string | null;
  sender: string | null;
  receiver: string | null;
  assets: Numeric;
  shares: Numeric;
  collateral: Numeric;
  bad_debt: Numeric;
  bad_debt_shares: Numeric;
}

/** The blocks of a chain whose logs were read, without a gap. */
export interface IndexerCursorTable {
  chain_id: number;
  /** Chain, contracts and tokens that were read: with others, reading begins anew. */
  scope: string;
  from_block: string;
  from_time: Time;
  to_block: string;
  to_time: Time;
  is_whole: boolean;
  /** Of the latest run. */
  ran_at: Time | null;
  head_block: string | null;
  head_at: Time | null;
  /** Openings and creations of markets that are to be found. */
  expected: number | null;
  failure: string | null;
  failing_since: Time | null;
}

/** Hash of a block up to which logs were read. */
export interface IndexerBlocksTable {
  chain_id: number;
  block_number: string;
  block_hash: string;
  block_time: Time;
}

/** State of a market at a block: of an event, or a sample of its hour. Without values: the node did not have them. */
export interface MarketMarksTable {
  chain_id: number;
  market_id: string;
  block_number: string;
  block_time: Time;
  is_sample: boolean;
  asked_at: Time;
  price: NullableNumeric;
  borrow_assets: NullableNumeric;
  borrow_shares: NullableNumeric;
}

export interface Tables {
  position_events: PositionEventsTable;
  indexer_cursor: IndexerCursorTable;
  indexer_blocks: IndexerBlocksTable;
  market_marks: MarketMarksTable;
  incentive_campaigns: IncentiveCampaignsTable;
  apy_samples: ApySamplesTable;
  drift_history: DriftHistoryTable;
  drift_sightings: DriftSightingsTable;
  portfolio_samples: PortfolioSamplesTable;
  tvl_samples: TvlSamplesTable;
  key_usage: KeyUsageTable;
  rate_samples: RateSamplesTable;
  market_samples: MarketSamplesTable;
  api_keys: ApiKeysTable;
  position_registrations: PositionRegistrationsTable;
  position_proxies: PositionProxiesTable;
}

const ALL_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;

/** Tables of features. The types of their rows are in the features; their migrations are in the one sequence of all. */
type FeatureTable = 'alerts' | 'alert_jobs' | 'alert_deliveries';

/** Rights that the role of the service needs on each table. The app writes the registrations. */
export const TABLE_RIGHTS: Readonly<Record<keyof Tables | FeatureTable, readonly string[]>> = {
  // Of the feature alerts:
  alerts: ALL_RIGHTS,
  alert_jobs: ['SELECT', 'INSERT', 'UPDATE'],
  alert_deliveries: ALL_RIGHTS,
  // Of the core:
  position_events: ALL_RIGHTS,
  indexer_cursor: ALL_RIGHTS,
  indexer_blocks: ALL_RIGHTS,
  market_marks: ALL_RIGHTS,
  incentive_campaigns: ALL_RIGHTS,
  apy_samples: ALL_RIGHTS,
  drift_history: ALL_RIGHTS,
  drift_sightings: ALL_RIGHTS,
  portfolio_samples: ALL_RIGHTS,
  tvl_samples: ALL_RIGHTS,
  key_usage: ALL_RIGHTS,
  rate_samples: ALL_RIGHTS,
  market_samples: ALL_RIGHTS,
  api_keys: ALL_RIGHTS,
  position_registrations: ['SELECT'],
  position_proxies: ['SELECT', 'INSERT', 'UPDATE'],
};
