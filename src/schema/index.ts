import type { GraphQLSchema } from 'graphql';
import '#features';
import { builder } from './builder.ts';
import { withAbsentNulls } from './common/absent-nulls.ts';
import { withNonNegativeInts } from './common/non-negative-ints.ts';
import './common/scalars.ts';
import './query.ts';
import './mutation.ts';
import './common/page.ts';
import './common/chain.ts';
import './common/token.ts';
import './market/price.ts';
import './market/market.ts';
import './strategy/strategy.ts';
import './strategy/loop-strategy.ts';
import './strategy/equity-vault-strategy.ts';
import './strategy/strategies.ts';
import './strategy/leveraged-history.ts';
import './common/freshness.ts';
import './market/stable-index.ts';
import './market/history.ts';
import './market/series.ts';
import './market/price-chart.ts';
import './market/candles.ts';
import './market/tvl.ts';
import './market/tvl-history.ts';
import './position/position.ts';

import './equity/equity-position.ts';
import './equity/equity.ts';
import './position/wallet.ts';
import './refusal/data-refusals.ts';
import './refusal/simulation-refusals.ts';
import './refusal/eligibility-refusals.ts';
import './usage/usage.ts';
import './transaction/leverage.ts';
import './transaction/preview-field.ts';
import './transaction/deleverage.ts';
import './position/portfolio.ts';
import './ops/drift.ts';
import './ops/ops.ts';
import './strategy/subscription.ts';
import './position/wallet-subscription.ts';

/** Build the executable schema, sorted by name. */
export function buildSchema(): GraphQLSchema {
  return withAbsentNulls(withNonNegativeInts(builder.toSchema({ sortSchema: true })));
}

let shared: GraphQLSchema | undefined;

/** The schema that all services of this process share. Build one of your own to change it. */
export function sharedSchema(): GraphQLSchema {
  shared ??= buildSchema();
  return shared;
}
