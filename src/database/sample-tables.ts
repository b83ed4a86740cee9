import type { ColumnType } from 'kysely';

/** Exact decimals are transferred as text in both directions. */
type Numeric = ColumnType<string, string, string>;
type Time = ColumnType<Date, Date, Date>;
type Count = ColumnType<string, number, number>;

/** TVL of a chain, the latest of each hour. */
export interface TvlSamplesTable {
  chain_id: number;
  hour: Time;
  sampled_at: Time;
  gross_tvl_usd: Numeric;
  borrowed_usd: Numeric;
}

/** Use of a key on one UTC day. */
export interface KeyUsageTable {
  key_id: string;
  /** Start of the day. */
  day: Time;
  calls: Count;
  points: Count;
  refusals: Count;
}
