import type { Feature } from '../../app/feature.ts';
import documents from './generated/manifest.json' with { type: 'json' };
import { bestRoute } from './rest/best.ts';
import { stressRoutes } from './rest/stress.ts';
import './schema/best.ts';
import { RISK_EXAMPLES } from './schema/examples.ts';
import './schema/stress.ts';
import { riskParts } from './wiring.ts';

/** Stress tables of strategies, positions and wallets, and the ranking of strategies for a payment. */
export const risk: Feature = {
  name: 'risk',
  rows: (options) => [...stressRoutes(options), bestRoute(options)],
  documents,
  examples: RISK_EXAMPLES,
  parts: riskParts,
};
