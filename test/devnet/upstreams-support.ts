import { type Address, type Hex, parseAbi } from 'viem';
import { createOverlay } from '../../devnet/overlay.ts';
import { type Provider, startUpstreams, type UpstreamOptions, type Upstreams } from '../../devnet/upstreams/index.ts';
import { type Catalog, type Chain, createCatalog, curatedChains, type Token } from '../../src/catalog/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';

import { createUpstreams, type Upstreams as ServiceUpstreams, upstreamsConfig } from '../../src/upstreams/index.ts';

/** Noon UTC: the day after which the first curated principal tokens have matured. */
export const NOW = Date.UTC(2026, 10, 20, 12);
export const DAY = 86_400_000;

export const allocatorAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'struct Withdrawal { MarketParams marketParams; uint128 amount; }',
  'function reallocateTo(address vault, Withdrawal[] withdrawals, MarketParams supplyMarketParams) payable',
]);
export const morphoAbi = parseAbi([
  'function market(bytes32) view returns (uint128, uint128, uint128, uint128, uint128, uint128)',
]);

/** GraphQL selection of the liquidity that vaults may move to a market. */
export const SHARED_LIQUIDITY =
  'publicAllocatorSharedLiquidity { assets vault { address publicAllocatorConfig { fee } } withdrawMarket { marketId } }';

export interface LiquiditySource {
  readonly assets: number | string;
  readonly vault: { readonly address: Address; readonly publicAllocatorConfig: { readonly fee: number } };
  readonly withdrawMarket: { readonly marketId: string };
}

/** A transaction that a venue quotes. */
export interface Quote {
  readonly to: Address;
  readonly data: Hex;
  readonly amountOut: bigint;
  readonly value: bigint;
}

export interface TestUpstreams extends Upstreams {
  readonly catalog: Catalog;
  readonly chain: (chainId: number) => Chain;
  readonly token: (symbol: string, chainId?: number) => Token;
  /** Move the injected clock. */
  readonly pass: (ms: number) => void;
  /** Ask a provider; a body makes it a POST. */
  readonly ask: (provider: Provider, path: string, body?: unknown) => Promise<{ status: number; body: never }>;
}

/** Start the simulated providers on a free port, with a clock that stands still until moved. */
export async function startTestUpstreams(
  options: Partial<UpstreamOptions> & { readonly now?: number } = {},
): Promise<TestUpstreams> {
  let nowMs = options.now ?? NOW;
  const catalog = options.catalog ?? createCatalog(curatedChains, createOverlay(nowMs));
  const upstreams = await startUpstreams({ catalog, clock: { now: () => nowMs }, rpcUrls: {}, ...options });
  const chain = (chainId: number): Chain => must(catalog.chain(chainId), `chain ${chainId}`);
  return {
    ...upstreams,
    catalog,
    chain,
    token: (symbol, chainId = 1) => {
      const found = chain(chainId).tokens.find((token) => [token.symbol, token.displaySymbol].includes(symbol));
      return must(found, symbol);
    },
    pass: (ms) => {
      nowMs += ms;
    },
    ask: async (provider, path, body) => {
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const response = await fetch(`${upstreams.urls[provider]}${path}`, body === undefined ? {} : post);
      return { status: response.status, body: (await response.json()) as never };
    },
  };
}

/** Say loudly that something expected is not there. */
export function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`There is no ${what}`);
  return value;
}

/** The service's adapters, over simulated providers. */
export function adaptersOf({ urls }: Pick<TestUpstreams, 'urls'>, clock: Clock): ServiceUpstreams {
  const at = (baseUrl: string) => ({ baseUrl, limits: { minute: 10_000 } });
  return createUpstreams({
    config: upstreamsConfig({
      pendle: at(urls.pendle),
      defillamaYields: at(urls['defillama-yields']),
      defillamaCoins: at(urls['defillama-coins']),
      stablewatch: at(urls.stablewatch),
      royco: at(urls.royco),
      merkl: at(urls.merkl),
      coingecko: at(urls.coingecko),
      geckoterminal: at(urls.geckoterminal),
      kyberswap: at(urls.kyberswap),
      openocean: at(urls.openocean),
      morphoApi: at(urls.morpho),
    }),
    fetch,
    clock,
    logger: silentLogger,
  });
}
