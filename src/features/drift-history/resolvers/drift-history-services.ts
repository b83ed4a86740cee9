import { featureKey } from '../../../resolvers/common/feature-services.ts';
import type { DriftRecordPage, DriftRecordQuery } from '../domain/types.ts';

export interface DriftHistoryPort {
  /** A page of the history of drift, the latest recorded first. @throws UpstreamUnavailableError */
  list(query: DriftRecordQuery): Promise<DriftRecordPage>;
}

export const driftHistoryServices = featureKey<DriftHistoryPort>('drift-history');
