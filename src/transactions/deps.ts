import type { Chain, Market, Token } from '../catalog/types.ts';
import { createReadAt } from '../chain/read-at.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { ChainFacts, FreshnessBudgets, OracleFeed } from '../domain/facts.ts';
import { isStale, stampOf } from '../domain/freshness/stamp.ts';
import { marketsById } from '../domain/market/lookup.ts';
import { isPlausiblePrice, priceContext, tokenPrice } from '../domain/market/prices.ts';
import type { ComposedChain, ComposedMarket } from '../domain/market/types.ts';
import type { Clock } from '../shared/clock.ts';
import { type Decimal, fromUnits } from '../shared/decimal.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { borrowApyChange, type MarketRates } from './preview/rates.ts';
import type { Quoter } from './quote/quoter.ts';
import type { VenueStatistics } from './quote/statistics.ts';
import type { LiveMarket } from './read/market-state.ts';
import { createLatestReader, type LatestReader } from './read/reads.ts';
import type { TokenDirectory } from './read/tokens.ts';
import { createBalanceSlots } from './simulate/balance-slot.ts';
import { canSimulate, createSimulator, type SimulationWay, type Simulator } from './simulate/simulate.ts';

/** Finds the equity vault of a loop; `null` = none. Loops of a vault are not managed alone. */
export type VaultOf = (chainId: ChainId, user: Address, positionId: number) => Promise<string | null>;

/** Parts that all builders of one service share. */
export interface BuilderDeps {
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  readonly budgets: FreshnessBudgets;
  facts(chainId: ChainId): ChainFacts;
  composed(chainId: ChainId): ComposedChain;
  readonly quoter: Quoter;
  /** Whether calls are simulated only where nothing else shows their outcome; absent = all are. */
  readonly previews?: boolean | undefined;
  readonly venueStatistics: VenueStatistics;
  readonly tokens: TokenDirectory;
  /** Begin a session on a chain: all its reads and simulations are of one node and block. */
  node(chainId: ChainId): ChainNode;
  /** Receives the referral fee of swaps into a position; absent = none is taken. */
  readonly feeReceiver: Address | undefined;
  /** Base URL of the client app; absent = no signing links. */
  readonly appUrl: string | undefined;
  readonly vaultOf: VaultOf;
  /** Gas price of a chain's node, wei; `undefined` = it gave no plausible one. */
  gasPriceOf(chainId: ChainId): Promise<bigint | undefined>;
}

/** One session on a chain, as builders use it. */
export interface ChainNode {
  readonly reader: LatestReader;
  readonly simulator: Simulator;
}

/** Receives the way in which a build was simulated; `none` = no node could. */
export type OnSimulated = (chainId: ChainId, way: SimulationWay | 'none') => void;

/** Create the sessions on the chains' nodes; balance slots of tokens outlive a session. */
export function createNodes(
  chains: readonly Chain[],
  nodes: ReadonlyMap<ChainId, ChainNodes>,
  clock: Clock,
  onSimulated: OnSimulated = () => {},
): (chainId: ChainId) => ChainNode {
  const slots = new Map(chains.map(({ chainId }) => [chainId, createBalanceSlots()]));
  const contracts = new Map(chains.map((chain) => [chain.chainId, chain.contracts]));
  return (chainId) => {
    const [on, known, at] = [nodes.get(chainId), slots.get(chainId), contracts.get(chainId)];
    if (!on || !known || !at) throw new Error(`no node is configured for chain ${chainId}`);
    const session = on.session({ prefers: canSimulate });
    return {
      reader: createLatestReader(session, createReadAt({ chainId, multicall3: at.multicall3, clock })),
      simulator: createSimulator(session, known, (way) => onSimulated(chainId, way)),
    };
  };
}

/** The same builders in which every chain has one session: all plans built with them are of one block. */
export function inOneSession(deps: BuilderDeps): BuilderDeps {
  const begun = new Map<ChainId, ChainNode>();
  return {
    ...deps,
    node(chainId) {
      const node = begun.get(chainId) ?? deps.node(chainId);
      begun.set(chainId, node);
      return node;
    },
  };
}

/** Find the composed market; absent while a source of its rates has never answered. */
export function composedMarket(deps: BuilderDeps, market: Market): ComposedMarket | undefined {
  return marketsById(deps.composed(market.chainId)).get(market.id);
}

/**
 * Yield and cost of a position on the market with a debt of `debtBefore` loan base units now, after a reallocation of `moved`
 * into the market; `undefined` while a source of its rates has never answered.
 */
export function ratesOf(
  composed: ComposedMarket | undefined,
  live: LiveMarket,
  {
    debtBefore = 0n,
    moved = 0n,
  }: { readonly debtBefore?: bigint | undefined; readonly moved?: bigint | undefined } = {},
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
 * USD prices of a chain as strategies show them, where they are fresh and plausible. A token without a measured price that is
 * collateral of a market of the catalog has the price of the market's oracle times the price of its loan token.
 */
export function tokenUsdPrices(deps: BuilderDeps, chain: Chain): (token: Address) => Decimal | undefined {
  const priceOf = freshPrices(deps, chain);
  return (address) => priceOf(address)?.usd;
}

/** Value base units of a token in USD; `undefined` = nothing prices it. */
export function loanUsd(
  usdOf: (token: Address) => Decimal | undefined,
  { address, decimals }: Pick<Token, 'address' | 'decimals'>,
): (units: bigint) => Decimal | undefined {
  return (units) => usdOf(address)?.times(fromUnits(units, decimals));
}

/**
 * The market whose oracle prices a token, where `tokenUsdPrices` has no measured price of it: that price is as old as the feeds
 * behind the oracle.
 */
export function pricedBy(deps: BuilderDeps, chain: Chain): (token: Address) => Market | undefined {
  const priceOf = freshPrices(deps, chain);
  return (address) => priceOf(address)?.market;
}

function freshPrices(
  deps: BuilderDeps,
  chain: Chain,
): (token: Address) => { readonly usd: Decimal; readonly market: Market | undefined } | undefined {
  const facts = deps.facts(chain.chainId);
  const context = priceContext(chain, facts);
  const nowMs = deps.clock.now();
  return (address) => {
    const token = chain.tokens.find((one) => one.address === address);
    const found = token && tokenPrice(token, 'usd', context);
    if (!found?.price || isStale(stampOf(found.price, deps.budgets.price), nowMs)) return undefined;
    const { usd } = found.price.value;
    return isPlausiblePrice(usd, context.pegged.has(address)) ? { usd, market: found.market } : undefined;
  };
}

/**
 * USD prices that were measured, and do not follow from an oracle: a second source beside it. Only fresh ones that passed their checks.
 */
export function measuredUsdPrices(deps: BuilderDeps, chain: Chain): (token: Address) => Decimal | undefined {
  const priceOf = freshPrices(deps, chain);
  return (address) => {
    const price = priceOf(address);
    return price?.market ? undefined : price?.usd;
  };
}

/** The feeds behind the oracle of a market, as far as it names them: they never change. */
export function feedsOf(deps: BuilderDeps, { chainId, oracle }: Market): readonly OracleFeed[] | undefined {
  return deps.facts(chainId).groups.oracle.items.get(oracle)?.value.feeds;
}

/** Referral fee of swaps into a position, basis points. */
export const REFERRAL_FEE_BPS = { correlated: 5, uncorrelated: 25 } as const;

/** The referral fee of swaps into a position on this market; 0 without a receiver. */
export function referralFeeBps(deps: BuilderDeps, market: Market): number {
  if (!deps.feeReceiver) return 0;
  return market.correlated ? REFERRAL_FEE_BPS.correlated : REFERRAL_FEE_BPS.uncorrelated;
}
