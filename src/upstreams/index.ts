import { createByteBudget } from '../shared/calls/byte-budget.ts';
import { createCoingecko } from './coingecko/client.ts';
import type { ProviderName, UpstreamsConfig } from './config.ts';
import { createDefillamaCoins } from './defillama-coins/client.ts';
import { createDefillamaYields } from './defillama-yields/client.ts';
import { createGeckoterminal } from './geckoterminal/client.ts';
import { type AdapterDeps, ANSWER_BYTES } from './http.ts';
import { createKyberswap } from './kyberswap/client.ts';
import { createMerkl } from './merkl/client.ts';
import { createMorphoApi } from './morpho-api/client.ts';
import { createOpenocean, type GasPriceOf } from './openocean/client.ts';
import { createPendle } from './pendle/client.ts';
import { createProviderStates, type ProviderState } from './provider-states.ts';
import { createRoyco } from './royco/client.ts';
import { createStablewatch } from './stablewatch/client.ts';
import type {
  CollateralApySourcePort,
  IncentivesPort,
  LendingIndexerPort,
  OhlcvPort,
  PriceChartPort,
  PricePort,
  RoutePort,
  StableIndexPort,
  SwapQuotePort,
} from './types.ts';

export * from './config.ts';
export type { ProviderState } from './provider-states.ts';
export { resolvePool } from './stablewatch/map.ts';
export * from './types.ts';

/** Every upstream port, by purpose. */
export interface Upstreams {
  readonly yieldmarket: CollateralApySourcePort;
  readonly aggregator: CollateralApySourcePort;
  readonly incentivemarket: CollateralApySourcePort;
  readonly stableIndex: StableIndexPort;
  readonly incentives: IncentivesPort;
  /** In order of preference. */
  readonly prices: readonly [PricePort, PricePort];
  readonly charts: PriceChartPort;
  readonly ohlcv: OhlcvPort;
  readonly indexer: LendingIndexerPort;
  readonly routes: RoutePort;
  readonly quotes: readonly SwapQuotePort[];
  /** State of each provider in this process. */
  states(): readonly ProviderState[];
}

export interface UpstreamsDeps extends Omit<AdapterDeps, 'config'> {
  readonly config: UpstreamsConfig;
  /** Gas price that the second aggregator weighs routes by; absent: a fixed price. */
  readonly gasPriceOf?: GasPriceOf | undefined;
}

/** Create the adapters of all providers. No request is sent until a port is called. */
export function createUpstreams({ config, gasPriceOf, ...shared }: UpstreamsDeps): Upstreams {
  const states = createProviderStates(shared.clock);
  const answerBytes = createByteBudget(ANSWER_BYTES);
  const deps = (name: ProviderName): AdapterDeps => ({ ...shared, states, answerBytes, config: config[name] });
  const pendle = createPendle(deps('pendle'));
  const coingecko = createCoingecko(deps('coingecko'));
  const kyberswap = createKyberswap(deps('kyberswap'));
  return {
    states: states.list,
    yieldmarket: pendle.apys,
    aggregator: createDefillamaYields(deps('defillamaYields')),
    incentivemarket: createRoyco(deps('royco')),
    stableIndex: createStablewatch(deps('stablewatch')),
    incentives: createMerkl(deps('merkl')),
    prices: [coingecko.prices, createDefillamaCoins(deps('defillamaCoins'))],
    charts: coingecko.charts,
    ohlcv: createGeckoterminal(deps('geckoterminal')),
    indexer: createMorphoApi(deps('morphoApi')),
    routes: kyberswap.routes,
    quotes: [kyberswap.quotes, createOpenocean({ ...deps('openocean'), gasPriceOf }), pendle.quotes],
  };
}
