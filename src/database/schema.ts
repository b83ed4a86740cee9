import type { ColumnType, Generated } from 'kysely';
import type { DriftKind, DriftSeverity } from '../domain/drift/types.ts';

/** Exact decimals are transferred as text in both directions, never as a JavaScript float. */
type Numeric = ColumnType<string, string, string>;
type NullableNumeric = ColumnType<string | null, string | null | undefined, string | null>;
type Time = ColumnType<Date, Date, Date>;
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

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

export interface Tables {
  incentive_campaigns: IncentiveCampaignsTable;
  apy_samples: ApySamplesTable;
  drift_history: DriftHistoryTable;
  drift_sightings: DriftSightingsTable;
  portfolio_samples: PortfolioSamplesTable;
  rate_samples: RateSamplesTable;
  api_keys: ApiKeysTable;
  position_registrations: PositionRegistrationsTable;
  position_proxies: PositionProxiesTable;
}

const ALL_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;

/** Rights that the role of the service needs on each table. The app writes the registrations. */
export const TABLE_RIGHTS: Readonly<Record<keyof Tables, readonly string[]>> = {
  incentive_campaigns: ALL_RIGHTS,
  apy_samples: ALL_RIGHTS,
  drift_history: ALL_RIGHTS,
  drift_sightings: ALL_RIGHTS,
  portfolio_samples: ALL_RIGHTS,
  rate_samples: ALL_RIGHTS,
  api_keys: ['SELECT', 'INSERT', 'UPDATE'],
  position_registrations: ['SELECT'],
  position_proxies: ['SELECT', 'INSERT', 'UPDATE'],
};
