import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './scalars.ts';
import './query.ts';
import './page.ts';
import './chain.ts';
import './token.ts';
import './price.ts';
import './market.ts';
import './strategy.ts';
import './freshness.ts';
import './stable-apy.ts';
import './history.ts';
import './price-chart.ts';
import './ohlcv.ts';
import './tvl.ts';
import './position.ts';
import './equity-position.ts';
import './equity.ts';
import './wallet.ts';
import './leverage.ts';
import './portfolio.ts';
import './drift.ts';
import './ops.ts';
import './subscription.ts';

/** Build the executable schema, sorted by name. */
export function buildSchema(): GraphQLSchema {
  return builder.toSchema({ sortSchema: true });
}
