import { getAddress, zeroAddress } from 'viem';
import { z } from 'zod';
import { MAX_CHAINS, MAX_LLTV_WAD, MAX_MARKETS, MAX_TOKENS, MAX_VAULTS } from '../shared/contract/list-bounds.ts';
import { StartupError } from '../shared/errors.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../shared/ids.ts';
import { computeMarketId } from './market-id.ts';
import { type CatalogOverlay, type ChainData, chainDataSchema, overlaySchema } from './schema.ts';
import type { Catalog, Chain, ChainContracts, EquityVault, Market, Token, TokenPoints } from './types.ts';

/** An invalid catalog: the message names the row and the fault. */
export class CatalogError extends StartupError {
  override readonly name = 'CatalogError';
}

type ParsedChain = z.output<typeof chainDataSchema>;
type ParsedToken = ParsedChain['tokens'][number];

/**
 * Create the catalog from curated data and an optional overlay. Every reference is resolved and every market id is recomputed
 * from its parameters.
 * @throws CatalogError naming the chain and row that is malformed, unresolved or does not hash to its id.
 */
export function createCatalog(data: readonly ChainData[], overlay: CatalogOverlay = []): Catalog {
  const additions = parse(overlaySchema, overlay, 'overlay');
  const chains = data.map((row) =>
    buildChain(withOverlay(parse(chainDataSchema, row, `chain ${row.chainId}`), additions)),
  );
  requireWithinBounds(chains);
  const byId = new Map(chains.map((chain) => [chain.chainId, chain]));
  const markets = new Map(
    chains.flatMap((chain) => chain.markets.map((m) => [`${chain.chainId}:${m.id}`, m] as const)),
  );
  const vaults = new Map(
    chains.flatMap((chain) => chain.equityVaults.map((v) => [`${v.chainId}:${v.id}`, v] as const)),
  );
  const tokens = new Map(chains.flatMap((chain) => chain.tokens.map((t) => [`${t.chainId}:${t.address}`, t] as const)));
  return {
    chains,
    chainIds: chains.map((chain) => chain.chainId),
    chain: (chainId) => byId.get(chainId),
    market: (chainId, id) => markets.get(`${chainId}:${id}`),
    vault: (chainId, id) => vaults.get(`${chainId}:${id}`),
    token: (chainId, address) => tokens.get(`${chainId}:${address}`),
  };
}

/** Lists over the catalog are answered without pages, and steps of leverage without a limit of their own. */
function requireWithinBounds(chains: readonly Chain[]): void {
  const refuse = (where: string, what: string, count: number, most: number) => {
    if (count > most) throw new CatalogError(`Catalog ${where}: ${count} ${what}, and at most ${most} are served.`);
  };
  refuse('data', 'chains', chains.length, MAX_CHAINS);
  for (const { chainId, tokens, markets, equityVaults } of chains) {
    const where = `chain ${chainId}`;
    refuse(where, 'tokens', tokens.length, MAX_TOKENS);
    refuse(where, 'markets', markets.length, MAX_MARKETS);
    refuse(where, 'equity vaults', equityVaults.length, MAX_VAULTS);
    const high = markets.find(({ lltv }) => lltv > MAX_LLTV_WAD);
    if (high)
      throw new CatalogError(`Catalog ${where}: market ${high.id} has an LLTV above 98 %, which Morpho Blue has not.`);
  }
}

function parse<S extends z.ZodType>(schema: S, value: unknown, row: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new CatalogError(`Catalog ${row}: ${z.prettifyError(result.error)}`);
}

function withOverlay(chain: ParsedChain, overlay: z.output<typeof overlaySchema>): ParsedChain {
  const entries = overlay.filter((entry) => entry.chainId === chain.chainId);
  const complete = entries.flatMap((entry) => entry.complete);
  return {
    ...chain,
    tokens: [...chain.tokens.map((token) => completed(token, complete)), ...entries.flatMap((entry) => entry.tokens)],
    markets: [...chain.markets, ...entries.flatMap((entry) => entry.markets)],
    feeds: [...chain.feeds, ...entries.flatMap((entry) => entry.feeds)],
  };
}

/** The catalog's own fields take precedence: an overlay may only add missing ones. */
function completed(token: ParsedToken, patches: readonly { symbol: string }[]): ParsedToken {
  const patch = patches.find((candidate) => candidate.symbol === token.symbol);
  return patch ? { ...patch, ...token } : token;
}

function buildChain(row: ParsedChain): Chain {
  const { chainId } = row;
  const addressOf = new Map(row.tokens.map((token) => [token.symbol, getAddress(token.address)]));
  const tokens = row.tokens.map((token) => buildToken(chainId, token, addressOf));
  const bySymbol = new Map(tokens.map((token) => [token.symbol, token]));
  if (bySymbol.size !== tokens.length)
    throw new CatalogError(`Catalog chain ${chainId}: two tokens have the same symbol.`);
  const token = (symbol: string, where: string): Token => {
    const found = bySymbol.get(symbol);
    if (!found)
      throw new CatalogError(`Catalog chain ${chainId}, ${where}: token "${symbol}" is not in the token list.`);
    return found;
  };

  const loops = row.markets.map((market) =>
    buildMarket(chainId, 'loop', {
      ...market,
      loan: token(market.loan, market.id),
      collateral: token(market.collateral, market.id),
    }),
  );
  const stocks = row.equityVaults.map((vault) =>
    buildMarket(chainId, 'stock', {
      ...vault,
      id: vault.stockMarketId,
      loan: token(vault.depositToken, vault.id),
      collateral: token(vault.stock, vault.id),
      correlated: false,
    }),
  );
  const markets = [...loops, ...stocks];
  const marketById = new Map(markets.map((market) => [market.id, market]));
  if (marketById.size !== markets.length) throw new CatalogError(`Catalog chain ${chainId}: a market is listed twice.`);

  const equityVaults = row.equityVaults.map((vault): EquityVault => {
    const stockMarket = marketById.get(vault.stockMarketId.toLowerCase() as MarketId);
    const yieldMarket = marketById.get(vault.yieldMarketId.toLowerCase() as MarketId);
    if (!stockMarket || !yieldMarket || vault.id.toLowerCase() !== `equity-${stockMarket.id}`) {
      throw new CatalogError(`Catalog chain ${chainId}, vault ${vault.id}: its stock or yield market is not listed.`);
    }
    return {
      chainId,
      id: vault.id.toLowerCase() as StrategyId,
      stockMarket,
      stock: stockMarket.collateral,
      depositToken: stockMarket.loan,
      curator: vault.curator,
      targetLtvPct: vault.targetLtvPct,
      yieldMarket,
    };
  });

  const native = tokens.find((candidate) => candidate.isNative);
  if (!native) throw new CatalogError(`Catalog chain ${chainId}: the native token (zero address) is missing.`);
  return {
    chainId,
    name: row.name,
    explorerUrl: row.explorerUrl,
    contracts: mapAddresses(row.contracts) as unknown as ChainContracts,
    stable: token(row.stable, 'stable'),
    native,
    wrappedNative: row.wrappedNative === undefined ? undefined : token(row.wrappedNative, 'wrappedNative'),
    providers: defined(row.providers),
    swapRouters: Object.fromEntries(
      Object.entries(row.swapRouters).map(([source, list]) => [source, list.map((a) => getAddress(a))]),
    ),
    tokens,
    markets,
    equityVaults,
    heartbeatsSec: new Map(row.feeds.map(({ address, heartbeatSec }) => [getAddress(address), heartbeatSec])),
  };
}

function buildToken(chainId: ChainId, row: ParsedToken, addressOf: ReadonlyMap<string, Address>): Token {
  const underlying = row.underlying === undefined ? undefined : addressOf.get(row.underlying);
  if (row.underlying !== undefined && underlying === undefined) {
    throw new CatalogError(
      `Catalog chain ${chainId}, token ${row.symbol}: its underlying "${row.underlying}" is not listed.`,
    );
  }
  const isPt = row.maturity !== undefined;
  const { symbol, category, apySource, noSwapRoute, resetsApproval, underlying: _symbol, points, ...rest } = row;
  return {
    ...(defined(rest) as Omit<typeof rest, 'address'>),
    chainId,
    symbol,
    address: getAddress(row.address),
    displaySymbol: isPt ? symbol.replace(/-\d{1,2}[A-Z]{3}\d{4}$/, '') : symbol,
    isNative: row.address === zeroAddress,
    category: category ?? 'Other',
    apySource: apySource ?? 'none',
    isPt,
    noSwapRoute: noSwapRoute ?? false,
    resetsApproval: resetsApproval ?? false,
    ...(points && { points: pointsOf(points) }),
    underlying:
      underlying === undefined || row.underlying === undefined
        ? undefined
        : { address: underlying, symbol: row.underlying },
  } as Token;
}

function pointsOf({ sourceUrl, checkedOn, ...of }: NonNullable<ParsedToken['points']>): TokenPoints {
  return { program: of.program === null ? null : of, sourceUrl, checkedAtMs: Date.parse(checkedOn) };
}

interface MarketRow {
  readonly id: string;
  readonly loan: Token;
  readonly collateral: Token;
  readonly oracle: string;
  readonly irm: string;
  readonly lltv: string;
  readonly correlated: boolean;
  readonly curator?: string | undefined;
}

function buildMarket(chainId: ChainId, kind: Market['kind'], row: MarketRow): Market {
  const params = {
    loanToken: row.loan.address,
    collateralToken: row.collateral.address,
    oracle: getAddress(row.oracle),
    irm: getAddress(row.irm),
    lltv: BigInt(row.lltv),
  };
  if (row.collateral.description === undefined) {
    throw new CatalogError(
      `Catalog chain ${chainId}, token ${row.collateral.symbol}: it is the collateral of market ${row.id} and needs a description: one or two sentences on the token and its source of yield.`,
    );
  }
  const computed = computeMarketId(params);
  if (computed !== row.id.toLowerCase()) {
    throw new CatalogError(
      `Catalog chain ${chainId}, market ${row.id} (${row.collateral.symbol}/${row.loan.symbol}): its parameters hash to ${computed}. Correct the id or the parameters.`,
    );
  }
  return {
    chainId,
    id: computed,
    kind,
    collateral: row.collateral,
    loan: row.loan,
    oracle: params.oracle,
    irm: params.irm,
    lltv: params.lltv,
    correlated: row.correlated,
    curator: row.curator,
  };
}

function mapAddresses(contracts: Readonly<Record<string, string | undefined>>): Record<string, Address> {
  const entries = Object.entries(contracts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, getAddress(value)]));
}

/** Drop the keys whose value is undefined, because the target types use absent keys. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
