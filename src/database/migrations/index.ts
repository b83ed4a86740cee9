import { rateSamples } from './0001-rate-samples.ts';
import { apiKeys } from './0002-api-keys.ts';
import { positionRegistrations } from './0003-position-registrations.ts';
import { positionProxies } from './0004-position-proxies.ts';
import { portfolioObservations } from './0005-portfolio-observations.ts';
import { recordedRates } from './0006-recorded-rates.ts';
import { driftHistory } from './0007-drift-history.ts';
import { positionHistory } from './0008-position-history.ts';
import { alerts } from './0009-alerts.ts';
import { marketSamples } from './0010-market-samples.ts';
import { alertReports } from './0011-alert-reports.ts';
import { indexerRuns } from './0012-indexer-runs.ts';
import { alertJobRuns } from './0013-alert-jobs.ts';
import { alertRequests } from './0014-alert-requests.ts';
import { alertLoops } from './0015-alert-loops.ts';
import { alertStaleGroups } from './0016-alert-stale-groups.ts';
import { indexerHeadTime } from './0017-indexer-head-time.ts';
import { alertClaims } from './0018-alert-claims.ts';
import { tvlSamples } from './0019-tvl-samples.ts';
import { keyUsage } from './0020-key-usage.ts';
import type { Migration } from './types.ts';

export type { Migration };

/**
 * All migrations, oldest first: of the core, and of the feature alerts those that are named after them. Records of drift are
 * written by the core.
 */
export const migrations: readonly Migration[] = [
  rateSamples,
  apiKeys,
  positionRegistrations,
  positionProxies,
  portfolioObservations,
  recordedRates,
  driftHistory,
  positionHistory,
  alerts,
  marketSamples,
  alertReports,
  indexerRuns,
  alertJobRuns,
  alertRequests,
  alertLoops,
  alertStaleGroups,
  indexerHeadTime,
  alertClaims,
  tvlSamples,
  keyUsage,
];
