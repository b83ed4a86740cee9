import type { Feature } from '../../app/feature.ts';
import documents from './generated/manifest.json' with { type: 'json' };
import { alertHealthFields } from './rest/job-schemas.ts';
import { alertRoutes } from './rest/routes.ts';
import './schema/alerts.ts';
import { ALERT_EXAMPLES } from './schema/examples.ts';
import './schema/subscription.ts';
import { alertParts } from './wiring.ts';

/** Conditions that are evaluated for partners, and the webhooks and events that report them. */
export const alerts: Feature = {
  name: 'alerts',
  rows: alertRoutes,
  documents,
  examples: ALERT_EXAMPLES,
  healthFields: alertHealthFields,
  parts: alertParts,
};
