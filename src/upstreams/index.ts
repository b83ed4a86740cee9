import { createByteBudget } from '../shared/calls/byte-budget.ts';
import { type BudgetUse, createBudget, type SharedTexts } from './budgets.ts';
import { createCoingecko } from './coingecko/client.ts';
import type { UpstreamsConfig } from './config.ts';
import { createDefillamaCoins } from './defillama-coins/client.ts';
import { createDefillamaYields } from './defillama-yields/client.ts';
import { createGeckoterminal } from './geckoterminal/client.ts';
import { type AdapterDeps, ANSWER_BYTES } from './http.ts';
import { createKyberswap } from './kyberswap/client.ts';
import { PLANS, PROVIDERS, type ProviderName, type ProviderPlan } from './limits.ts';
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
  RewardsPort,
  RoutePort,
  StableIndexPort,
  SwapQuotePort,
} from './types.ts';

export * from './config.ts';
export { PROVIDERS } from './limits.ts';
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
  readonly rewards: RewardsPort;
  /** In order of preference. */
  readonly prices: readonly [PricePort, PricePort];
  readonly charts: PriceChartPort;
  readonly ohlcv: OhlcvPort;
  readonly indexer: LendingIndexerPort;
  readonly routes: RoutePort;
  readonly quotes: readonly SwapQuotePort[];
  /** State of each provider in this process. */
  states(): readonly ProviderState[];
  /** The use of each provider by all processes, and where it leads. */
  quotas(): Promise<readonly Quota[]>;
  /** The same as this process has last seen it. */
  seenQuotas(): readonly Quota[];
}

/** The plan of a provider, its use, and where it leads. */
export interface Quota extends Pick<ProviderPlan, 'publicName' | 'unit'>, BudgetUse {}

export interface UpstreamsDeps extends Omit<AdapterDeps, 'config' | 'budget'> {
  readonly config: UpstreamsConfig;
  /** Where processes share the budgets; absent: they are those of this process. */
  readonly texts?: SharedTexts | undefined;
  /** Gas price that the second aggregator weighs routes by; absent: a fixed price. */
  readonly gasPriceOf?: GasPriceOf | undefined;
}

/** Create the adapters of all providers. No request is sent until a port is called. */
export function createUpstreams({ config, gasPriceOf, texts, ...shared }: UpstreamsDeps): Upstreams {
  const states = createProviderStates(shared.clock);
  const answerBytes = createByteBudget(ANSWER_BYTES);
  const budgets = PROVIDERS.map((name) => {
    const { clock, sleep } = shared;
    return [name, createBudget({ name: `budget:${name}`, rules: config[name].rules, clock, sleep, texts })] as const;
  });
  const budgetOf = new Map(budgets);
  const deps = (name: ProviderName): AdapterDeps => ({
    ...shared,
    states,
    answerBytes,
    config: config[name],
    budget: budgetOf.get(name),
  });
  const quotaOf = (name: ProviderName, use: BudgetUse): Quota => {
    const { publicName, unit } = PLANS[name];
    return { publicName, unit, ...use };
  };
  const pendle = createPendle(deps('pendle'));
  const coingecko = createCoingecko(deps('coingecko'));
  const kyberswap = createKyberswap(deps('kyberswap'));
  return {
    states: states.list,
    quotas: () => Promise.all(budgets.map(async ([name, budget]) => quotaOf(name, await budget.use()))),
    seenQuotas: () => budgets.map(([name, budget]) => quotaOf(name, budget.seen())),
    yieldmarket: pendle.apys,
    aggregator: createDefillamaYields(deps('defillamaYields')),
    incentivemarket: createRoyco(deps('royco')),
    stableIndex: createStablewatch(deps('stablewatch')),
    ...incentivesOf(createMerkl(deps('merkl'))),
    prices: [coingecko.prices, createDefillamaCoins(deps('defillamaCoins'))],
    charts: coingecko.charts,
    ohlcv: createGeckoterminal(deps('geckoterminal')),
    indexer: createMorphoApi(deps('morphoApi')),
    routes: kyberswap.routes,
    quotes: [kyberswap.quotes, createOpenocean({ ...deps('openocean'), gasPriceOf }), pendle.quotes],
  };
}

/** One client for both, because they share the budget of the provider. */
function incentivesOf(merkl: IncentivesPort & RewardsPort): Pick<Upstreams, 'incentives' | 'rewards'> {
  return { incentives: merkl, rewards: merkl };
}
