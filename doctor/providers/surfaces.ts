import type { Catalog, Token } from '../../src/catalog/types.ts';
import type { CollateralApy, UsdPrice } from '../../src/domain/facts.ts';
import { createCoingecko } from '../../src/upstreams/coingecko/client.ts';
import { createDefillamaCoins } from '../../src/upstreams/defillama-coins/client.ts';
import { createDefillamaYields } from '../../src/upstreams/defillama-yields/client.ts';
import { createPendle } from '../../src/upstreams/pendle/client.ts';
import { createRoyco } from '../../src/upstreams/royco/client.ts';
import { createStablewatch } from '../../src/upstreams/stablewatch/client.ts';
import { priceKey } from '../../src/upstreams/types.ts';
import { lendingSurfaces } from './lending-surfaces.ts';
import { optional, outcomeOf, single } from './outcome.ts';
import { swapSurfaces } from './swap-surfaces.ts';
import type { Measure, ProviderSurface } from './types.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** Items requested of providers with one request per item: enough for a judgement. */
const SAMPLES = 3;

/** Every kind of request that the service makes to providers. */
export function surfacesOf(catalog: Catalog): readonly ProviderSurface[] {
  return [...apySurfaces, ...lendingSurfaces(catalog), ...priceSurfaces, ...swapSurfaces(catalog)];
}

const rateOf = ({ apyPct }: CollateralApy): readonly Measure[] => [{ kind: 'rate', pct: apyPct }];

/** Tokens of all chains with this yield source that have not matured. */
function earning(catalog: Catalog, source: Token['apySource'], nowMs: number): readonly Token[] {
  return catalog.chains.flatMap(({ tokens }) =>
    tokens.filter(({ apySource, maturity }) => apySource === source && !(maturity && maturity * 1_000 <= nowMs)),
  );
}

const apySurfaces: readonly ProviderSurface[] = [
  {
    provider: 'pendle',
    name: 'implied_apys',
    publicName: 'yieldmarket',
    cadence: 'yieldmarketApy',
    timeFields: null,
    maxAgeSec: DAY,
    ask: async (deps, { catalog, nowMs }, signal) => {
      const tokens = earning(catalog, 'yieldmarket', nowMs);
      const chain = catalog.chains.find(({ providers }) => providers.pendle === true);
      if (!chain || tokens.length === 0) return undefined;
      const own = tokens.filter(({ chainId }) => chainId === chain.chainId);
      return outcomeOf(await createPendle(deps).apys.apys(chain, own, optional(signal)), rateOf);
    },
  },
  tokenApys('defillamaYields', 'pool_yields', 'aggregator', 'aggregator', createDefillamaYields, ['timestamp']),
  tokenApys('royco', 'vault_yields', 'incentivemarket', 'incentivemarket', createRoyco, ['blockTimestamp']),
  {
    provider: 'stablewatch',
    name: 'pools',
    publicName: 'stableindex',
    timeFields: ['timestamp'],
    maxAgeSec: 3 * DAY,
    ask: async (deps, { catalog }, signal) => {
      const ids = new Set(catalog.chains.flatMap(({ tokens }) => tokens.map(({ stableIndexId }) => stableIndexId)));
      const assets = new Set(
        catalog.chains.flatMap(({ tokens }) =>
          tokens.filter(({ apySource }) => apySource === 'stableindex').map(({ symbol }) => symbol),
        ),
      );
      let left = SAMPLES;
      const wanted = new Set<string>();
      const isWanted = ({ id, asset }: { id: string; asset: string }) => {
        if (wanted.has(id)) return true;
        if (left === 0 || !(ids.has(id) || assets.has(asset))) return false;
        left -= 1;
        wanted.add(id);
        return true;
      };
      const batch = await createStablewatch(deps).pools(isWanted, optional(signal));
      return outcomeOf(batch, ({ avg7dPct }) => [{ kind: 'rate', pct: avg7dPct }]);
    },
  },
];

function tokenApys(
  provider: ProviderSurface['provider'],
  name: string,
  publicName: string,
  source: Token['apySource'],
  create: typeof createRoyco,
  timeFields: readonly string[],
): ProviderSurface {
  return {
    provider,
    name,
    publicName,
    timeFields,
    maxAgeSec: 3 * DAY,
    ask: async (deps, { catalog, nowMs }, signal) => {
      const tokens = earning(catalog, source, nowMs).slice(0, SAMPLES);
      const chain = catalog.chains[0];
      if (!chain || tokens.length === 0) return undefined;
      return outcomeOf(await create(deps).apys(chain, tokens, optional(signal)), rateOf);
    },
  };
}

function priced(catalog: Catalog): readonly Token[] {
  return catalog.chains.flatMap(({ tokens }) => tokens.filter(({ coingeckoId }) => coingeckoId !== undefined));
}

const priceSurfaces: readonly ProviderSurface[] = [
  {
    ...pricesOf('coingecko', 'coingecko', (deps) => createCoingecko(deps).prices, ['last_updated_at']),
    cadence: 'prices',
  },
  pricesOf('defillamaCoins', 'defillama', createDefillamaCoins, ['timestamp'], 0.1),
  {
    provider: 'coingecko',
    name: 'price_chart',
    publicName: 'coingecko',
    timeFields: [],
    maxAgeSec: DAY,
    ask: async (deps, { catalog }, signal) => {
      const [token] = priced(catalog);
      if (token?.coingeckoId === undefined) return undefined;
      const chart = await createCoingecko(deps).charts.chart(token.coingeckoId, 1, 'usd', optional(signal));
      if (chart === null || chart === 'unknown_currency') return single(token.coingeckoId, null);
      return single(token.coingeckoId, chart);
    },
  },
];

function pricesOf(
  provider: ProviderSurface['provider'],
  publicName: string,
  create: (deps: Parameters<typeof createDefillamaCoins>[0]) => ReturnType<typeof createDefillamaCoins>,
  timeFields: readonly string[],
  mayLack?: number,
): ProviderSurface {
  return {
    provider,
    name: 'prices',
    publicName,
    timeFields,
    maxAgeSec: 6 * HOUR,
    mayLack,
    ask: async (deps, { catalog }, signal) => {
      const tokens = priced(catalog);
      if (tokens.length === 0) return undefined;
      const byKey = new Map(tokens.map((token) => [priceKey(token), token]));
      return outcomeOf<UsdPrice>(await create(deps).usdPrices(tokens, optional(signal)), ({ usd }, key) => {
        const token = byKey.get(key);
        return token === undefined ? [] : [{ kind: 'price', token, usd }];
      });
    },
  };
}
