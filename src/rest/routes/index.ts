import type { AnyRoute } from '../types.ts';
import { alertRoutes } from './alert/alerts.ts';
import { appMarketRoutes } from './app-markets.ts';
import { bestRoute } from './best.ts';
import { driftHistoryRoute } from './drift-history.ts';
import { equityRoutes } from './equity.ts';
import { historyRoutes } from './histories.ts';
import { leverageRoutes } from './leverage.ts';
import { leveragedHistoryRoute } from './leveraged-history.ts';
import { manageRoute } from './manage.ts';
import { opsRoutes } from './ops.ts';
import { deleverageRoute } from './position/deleverage.ts';
import { positionHistoryRoutes } from './position/history.ts';
import { positionRoutes } from './positions.ts';
import { priceRoutes } from './prices.ts';
import { protocolRoutes } from './protocol.ts';
import type { RouteOptions } from './shared.ts';
import { strategyRoutes } from './strategies.ts';
import { stressRoutes } from './stress.ts';

/** Every row of the /v1 contract. The adapter, the OpenAPI document and the tests read this table. */
export function createRoutes(options: RouteOptions): AnyRoute[] {
  return [
    ...strategyRoutes(options),
    ...protocolRoutes(),
    ...appMarketRoutes(options),
    ...historyRoutes(options),
    leveragedHistoryRoute(options),
    ...priceRoutes(options),
    ...leverageRoutes(options),
    manageRoute(options),
    ...equityRoutes(options),
    ...positionRoutes(options),
    ...positionHistoryRoutes(options),
    deleverageRoute(options),
    ...opsRoutes(options),
    driftHistoryRoute(options),
    ...stressRoutes(options),
    ...alertRoutes(options),
    bestRoute(options),
  ];
}
