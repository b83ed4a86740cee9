import type { Chain, Market, Token } from '../catalog/types.ts';
import type { ChainClient } from '../chain/client.ts';
import type { ChainFacts, FreshnessBudgets, OracleFeed } from '../domain/facts.ts';
import { isStale, stampOf } from '../domain/freshness/stamp.ts';
import { marketsById } from '../domain/market/lookup.ts';
import { isPlausiblePrice, tokenPrice } from '../domain/market/prices.ts';
import { peggedTokens } from '../domain/market/statics.ts';
import type { ComposedChain, ComposedMarket } from '../domain/market/types.ts';
import { oncePer } from '../domain/memo.ts';
import type { Clock } from '../shared/clock.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { borrowApyChange, type MarketRates } from './preview/rates.ts';
import type { Quoter } from './quoting/quoter.ts';
import type { VenueStatistics } from './quoting/statistics.ts';
import type { LiveMarket } from './requirements/market-state.ts';
import { createLatestReader, type LatestReader } from './requirements/reads.ts';
import type { TokenDirectory } from './requirements/tokens.ts';
import { createSimulator, type Simulator } from './simulation/simulate.ts';

/** Tells which equity vault a loop belongs to; `null` = none. Loops of a vault are not managed alone. */
export type VaultOf = (chainId: ChainId, user: Address, positionId: number) => Promise<string | null>;

/** What all builders of one service share. */
export interface BuilderDeps {
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  readonly budgets: FreshnessBudgets;
  facts(chainId: ChainId): ChainFacts;
  composed(chainId: ChainId): ComposedChain;
  readonly quoter: Quoter;
  readonly venueStatistics: VenueStatistics;
  readonly tokens: TokenDirectory;
  node(chainId: ChainId): ChainNode;
  /** Receives the referral fee of swaps into a position; absent = none is taken. */
  readonly feeReceiver: Address | undefined;
  /** Base URL of the client app; absent = no signing links. */
  readonly appUrl: string | undefined;
  readonly vaultOf: VaultOf;
}

/** One chain, as builders use it. */
export interface ChainNode {
  readonly reader: LatestReader;
  readonly simulator: Simulator;
}

/** Open the doors to the chains once each. */
export function createNodes(
  chains: readonly Chain[],
  clients: ReadonlyMap<ChainId, ChainClient>,
  clock: Clock,
): (chainId: ChainId) => ChainNode {
  const nodes = new Map<ChainId, ChainNode>();
  for (const { chainId, contracts } of chains) {
    const client = clients.get(chainId);
    if (!client) continue;
    nodes.set(chainId, {
      reader: createLatestReader(client, contracts.multicall3, clock),
      simulator: createSimulator(client),
    });
  }
  return (chainId) => {
    const node = nodes.get(chainId);
    if (!node) throw new Error(`no RPC client is configured for chain ${chainId}`);
    return node;
  };
}

/** Find the composed market; absent while a source of its rates has never answered. */
export function composedMarket(deps: BuilderDeps, market: Market): ComposedMarket | undefined {
  return marketsById(deps.composed(market.chainId)).get(market.id);
}

/**
 * Yield and cost of a position on the market that owes `debtBefore` loan base units now and into which a reallocation moves
 * `moved`; `undefined` while a source of its rates has never answered.
 */
export function ratesOf(
  composed: ComposedMarket | undefined,
  live: LiveMarket,
  { debtBefore = 0n, moved = 0n }: { readonly debtBefore?: bigint; readonly moved?: bigint } = {},
): MarketRates | undefined {
  if (!composed) return undefined;
  const { effectiveCollateralApyPct: collateralApyPct, borrowApyPct, netBorrowApyPct } = composed;
  return {
    collateralApyPct,
    incentiveAprPct: borrowApyPct.minus(netBorrowApyPct),
    borrowApyPct: (debt) => borrowApyChange(live, debt - debtBefore, moved),
  };
}

/**
 * USD prices of a chain as strategies show them, as far as they are fresh and believed: of a token without a measured one
 * that is collateral of a market of the catalog, what the market's oracle and the price of its loan token say.
 */
export function usdPrices(deps: BuilderDeps, chain: Chain): (token: Address) => Decimal | undefined {
  const priceOf = believedPrices(deps, chain);
  return (address) => priceOf(address)?.usd;
}

/**
 * The market whose oracle says what a token is worth, where `usdPrices` has no measured price of it: that price is as old as
 * the feeds behind the oracle.
 */
export function pricedBy(deps: BuilderDeps, chain: Chain): (token: Address) => Market | undefined {
  const priceOf = believedPrices(deps, chain);
  return (address) => priceOf(address)?.market;
}

function believedPrices(
  deps: BuilderDeps,
  chain: Chain,
): (token: Address) => { readonly usd: Decimal; readonly market: Market | undefined } | undefined {
  const facts = deps.facts(chain.chainId);
  const pegged = peggedTokens(chain);
  const nowMs = deps.clock.now();
  const tokens = tokensByAddress(chain);
  return (address) => {
    const token = tokens.get(address);
    const found = token && tokenPrice(token, 'usd', { chain, facts, pegged });
    if (!found?.price || isStale(stampOf(found.price, deps.budgets.price), nowMs)) return undefined;
    const { usd } = found.price.value;
    return isPlausiblePrice(usd, pegged.has(address)) ? { usd, market: found.market } : undefined;
  };
}

/**
 * USD prices that were measured, and do not follow from an oracle: a second source beside it. Fresh and believed ones only.
 */
export function measuredPrices(deps: BuilderDeps, chain: Chain): (token: Address) => Decimal | undefined {
  const priceOf = believedPrices(deps, chain);
  return (address) => {
    const price = priceOf(address);
    return price?.market ? undefined : price?.usd;
  };
}

const tokensByAddress: (chain: Chain) => ReadonlyMap<Address, Token> = oncePer(
  (chain) => new Map(chain.tokens.map((token) => [token.address, token])),
);

/** The feeds behind the oracle of a market, as far as it names them: they never change. */
export function feedsOf(deps: BuilderDeps, { chainId, oracle }: Market): readonly OracleFeed[] | undefined {
  return deps.facts(chainId).groups.oracle.items.get(oracle)?.value.feeds;
}

/** Referral fee of swaps into a position, basis points. */
const FEE_BPS = { correlated: 5, uncorrelated: 25 } as const;

/** The referral fee of swaps into a position on this market; 0 without somebody to receive it. */
export function referralFeeBps(deps: BuilderDeps, market: Market): number {
  if (!deps.feeReceiver) return 0;
  return market.correlated ? FEE_BPS.correlated : FEE_BPS.uncorrelated;
}

/** Fields of a swap request that say who takes which fee. */
export function feeFields(deps: BuilderDeps, feeBps: number): { feeBps: number; feeReceiver?: Address } {
  return deps.feeReceiver && feeBps > 0 ? { feeBps, feeReceiver: deps.feeReceiver } : { feeBps: 0 };
}
