import type { Feature } from '../../app/feature.ts';
import { listDriftRecords } from './database/records.ts';
import documents from './generated/manifest.json' with { type: 'json' };
import { driftHistoryServices } from './resolvers/drift-history-services.ts';
import { driftHistoryRoute } from './rest/routes.ts';
import './schema/drift-history.ts';

/** The times over which register and chain disagreed: each reading of the ops reports is recorded by the core. */
export const driftHistory: Feature = {
  name: 'drift-history',
  rows: (options) => [driftHistoryRoute(options)],
  documents,
  parts: ({ db, clock }) => ({
    services: new Map([driftHistoryServices.with({ list: (query) => listDriftRecords(db, query, clock.now()) })]),
  }),
};
