import type { GraphQLSchema } from 'graphql';
import { features } from '#features';
import { conversions } from '../conversions/index.ts';
import { createAnswers } from '../derive/answers.ts';
import { createDerive } from '../derive/row.ts';
import manifest from '../generated/manifest.json' with { type: 'json' };
import { refusalError } from '../refusal.ts';
import type { AnyRoute, PersistedDocument } from '../types.ts';
import { appMarketRoutes } from './app-markets.ts';
import { equityRoutes } from './equity.ts';
import { historyRoutes } from './histories.ts';
import { leverageRoutes } from './leverage.ts';
import { leveragedHistoryRoute } from './leveraged-history.ts';
import { manageRoutes } from './manage.ts';
import { opsRoutes } from './ops.ts';
import { deleverageRoute } from './position/deleverage.ts';
import { positionRoutes } from './positions.ts';
import { priceRoutes } from './prices.ts';
import { protocolRoutes } from './protocol.ts';
import { seriesRoute } from './series.ts';
import type { RouteOptions } from './shared.ts';
import { strategyRoutes } from './strategies.ts';
import { usageRoute } from './usage.ts';

export interface RoutesDeps extends Omit<RouteOptions, 'derive'> {
  /** The schema that the operations run on. */
  readonly schema: GraphQLSchema;
}

/** The persisted operations of all rows, by name. */
export const documents: Readonly<Record<string, PersistedDocument>> = Object.assign(
  {},
  manifest,
  ...features.map((feature) => feature.documents),
);

/** Every row of the /v1 contract. The adapter, the OpenAPI document and the tests read this table. */
export function createRoutes({ schema, ...chains }: RoutesDeps): AnyRoute[] {
  const derive = createDerive(
    createAnswers({
      schema,
      documents,
      conversions: Object.assign({}, conversions, ...features.map((feature) => feature.conversions)),
      errorOf: refusalError,
    }),
  );
  const options: RouteOptions = { ...chains, derive };
  return [
    ...strategyRoutes(options),
    ...protocolRoutes(options),
    ...appMarketRoutes(options),
    ...historyRoutes(options),
    leveragedHistoryRoute(options),
    seriesRoute(options),
    ...priceRoutes(options),
    ...leverageRoutes(options),
    ...manageRoutes(options),
    ...equityRoutes(options),
    ...positionRoutes(options),
    deleverageRoute(options),
    ...opsRoutes(options),
    usageRoute(options),
    ...features.flatMap(({ rows }) => rows?.(options) ?? []),
  ];
}
