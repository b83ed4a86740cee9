import { zeroAddress } from 'viem';
import type { Chain, Market } from '../catalog/types.ts';
import type { ChainFacts, Fact, FreshnessBudgets } from '../domain/facts.ts';
import { isStale, renderStamp, stampOf } from '../domain/freshness/stamp.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { WarningCode } from '../domain/plausibility/types.ts';
import type { Strategy } from '../domain/strategy/types.ts';
import { BadRequestError, NotReadyError } from '../shared/errors.ts';
import { type Address, type ChainId, EQUITY_PREFIX, type MarketId, type StrategyId } from '../shared/ids.ts';
import { NAMES } from '../shared/names.ts';
import { isFromFuture } from '../shared/observed.ts';
import { requireDeployed } from './deployment-guards.ts';
import { type Ineligibility, NotEligibleError, StaleDataError } from './errors.ts';

/** Look the chain up. @throws BadRequestError naming the served ids */
export function requireChainOf(chains: readonly Chain[], chainId: ChainId): Chain {
  const chain = chains.find((candidate) => candidate.chainId === chainId);
  if (chain) return chain;
  const served = chains.map((candidate) => candidate.chainId);
  throw new BadRequestError(`chainId ${chainId} is not served. Send one of ${served.join(', ')}.`, {
    field: 'chainId',
    value: String(chainId),
    limit: { oneOf: served },
  });
}

/**
 * Refuse to build for an address that can never sign: zero, or a contract of the catalog on any chain, since none has a key.
 * @throws BadRequestError
 */
export function requireSigner(chains: readonly Chain[], user: Address): void {
  const isOurs = chains.some((chain) => isContract(chain, user));
  if (user !== zeroAddress && !isOurs) return;
  throw notASigner(user, isOurs ? 'a contract that cannot sign' : 'the zero address');
}

function isContract({ contracts, tokens, swapRouters, markets, heartbeatsSec }: Chain, address: Address): boolean {
  return (
    Object.values(contracts).includes(address) ||
    tokens.some((token) => !token.isNative && token.address === address) ||
    Object.values(swapRouters).some((routers) => routers.includes(address)) ||
    markets.some(({ oracle, irm }) => oracle === address || irm === address) ||
    heartbeatsSec.has(address)
  );
}

/** Refuse an address that can never sign, with the reason. */
export function notASigner(user: Address, what: string): BadRequestError {
  const field = 'userAddress';
  return new BadRequestError(`${NAMES.input(field)} ${user} is ${what}: send the wallet that will sign.`, {
    field,
    value: user,
  });
}

/** Find the loop market of a strategy. @throws BadRequestError for an unknown id, and for an equity vault with a pointer */
export function requireLoop(chain: Chain, strategyId: StrategyId): Market {
  const market = chain.markets.find(({ id, kind }) => kind === 'loop' && id === (strategyId as string as MarketId));
  if (market) return market;
  const isVault = strategyId.startsWith(EQUITY_PREFIX);
  const { equityPreview, equityDeposit, strategies } = NAMES.places;
  throw new BadRequestError(
    isVault
      ? `${strategyId} is an equity vault: use ${equityPreview} and ${equityDeposit}.`
      : `Chain ${chain.chainId} has no strategy ${strategyId}. Send an id from ${strategies(chain.chainId)}.`,
    { field: 'strategyId', value: strategyId, limit: isVault ? { use: equityPreview } : undefined },
  );
}

/** Refuse to build on old numbers, though reads go on. @throws StaleDataError, NotReadyError before the first measurement */
export function requireFresh(market: Market, facts: ChainFacts, budgets: FreshnessBudgets, nowMs: number): void {
  const { lendingState, oracle } = facts.groups;
  const needed: readonly (readonly ['lendingState' | 'oracle', Fact<unknown> | undefined])[] = [
    ['lendingState', lendingState.items.get(market.id)],
    ['oracle', oracle.items.get(market.oracle)],
  ];
  const missing = needed.filter(([, fact]) => !fact || isFromFuture(fact.asOfMs, nowMs)).map(([group]) => group);
  if (missing.length > 0) {
    throw new NotReadyError('The market has not been measured yet. Try again in some seconds.', missing);
  }
  for (const [group, fact] of needed) {
    if (!fact) continue;
    const stamp = stampOf(fact, budgets[group]);
    if (!isStale(stamp, nowMs)) continue;
    const { asOf, staleAfterSec, staleForSec = 0 } = renderStamp(stamp, nowMs);
    throw new StaleDataError({ group, asOf, staleAfterSec, staleForSec });
  }
}

/** Checks of the listing that forbid an open. Liquidity is none of them: the chain's own numbers decide on it. */
const LISTING_REASONS: Readonly<Record<string, Ineligibility>> = {
  swap_route: 'no_swap_route',
  maturity: 'near_maturity',
  has_yield: 'not_listed',
};

/** Refuse to add risk on a principal token past its maturity. @throws NotEligibleError */
export function requireUnmatured({ collateral }: Market, nowMs: number): void {
  if (collateral.maturity === undefined || nowMs < collateral.maturity * 1_000) return;
  throw new NotEligibleError(`${collateral.symbol} has matured: nothing more is borrowed to buy it.`, {
    reason: 'matured',
  });
}

/** Warnings about prices that prevent an open, and the reason of the refusal. */
const UNSOUND: Readonly<Partial<Record<WarningCode, Ineligibility>>> = {
  off_peg: 'off_peg',
  oracle_divergence: 'oracle_divergence',
  oracle_out_of_range: 'oracle_divergence',
};

/**
 * Refuse to add risk on a stablecoin that has lost its peg, or on an oracle that is far from the price or outside the possible range.
 * @throws NotEligibleError
 */
export function requireSoundPrices(strategy: Pick<Strategy, 'spiralHints'> | undefined): void {
  const warning = strategy?.spiralHints?.warnings?.find(({ code }) => UNSOUND[code] !== undefined);
  const reason = warning && UNSOUND[warning.code];
  if (!reason) return;
  throw new NotEligibleError(`${warning.message} Nothing is opened while that is so.`, {
    reason,
    pointer: NAMES.places.strategies(),
  });
}

/** Refuse an open that is not offered: matured or soon maturing, without a swap route, unlisted. @throws NotEligibleError */
export function requireEligible(market: Market, composed: ComposedChain, nowMs: number): void {
  const { collateral } = market;
  requireUnmatured(market, nowMs);
  if (collateral.noSwapRoute) {
    throw new NotEligibleError(`${collateral.symbol} has no swap route: a position could not be closed.`, {
      reason: 'no_swap_route',
    });
  }
  const strategy = composed.strategies.find(({ id }) => id === (market.id as string));
  requireDeployed(strategy, 'Choose one from the strategies list, or try again later.');
  requireSoundPrices(strategy);
  const failed = strategy?.visibility.checks.find(({ name, passed }) => !passed && LISTING_REASONS[name] !== undefined);
  if (!failed) return;
  throw new NotEligibleError(
    `This strategy is not offered now (${failed.name}: ${failed.value ?? 'unknown'}, needed more than ${failed.threshold ?? 'none'}). Choose one from the strategies list.`,
    { reason: LISTING_REASONS[failed.name] ?? 'not_listed', rule: failed.name, pointer: NAMES.places.strategies() },
  );
}
