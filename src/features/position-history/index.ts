import type { Feature } from '../../app/feature.ts';
import documents from './generated/manifest.json' with { type: 'json' };
import { positionHistoryRoutes } from './rest/routes.ts';
import { statementConversions } from './rest/statement-csv.ts';
import './schema/history.ts';
import './schema/statement.ts';

/** What became of a position: its events and curve, the parts of its profit and loss, and the statement of a wallet. */
export const positionHistory: Feature = {
  name: 'position-history',
  rows: positionHistoryRoutes,
  documents,
  conversions: statementConversions,
};
