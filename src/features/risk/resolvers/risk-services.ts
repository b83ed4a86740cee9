import type { Market } from '../../../catalog/types.ts';
import { featureKey } from '../../../resolvers/common/feature-services.ts';
import type { MarketRecord } from '../domain/record.ts';

/** Records of markets: oracle prices and borrow rates by the hour. */
export interface MarketRecordSource {
  /** Read the record of a market; never throws during an outage of the database. */
  read(market: Pick<Market, 'chainId' | 'id'>): Promise<RecordReading>;
}

export interface RecordReading {
  /** Absent: it cannot be read now. */
  readonly record?: MarketRecord | undefined;
  /** Time of the next reading, ms. */
  readonly validUntilMs: number;
}

export interface RiskServices {
  readonly marketRecords: MarketRecordSource;
}

export const riskServices = featureKey<RiskServices>('risk');
