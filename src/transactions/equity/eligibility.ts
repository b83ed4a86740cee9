import type { EquityVault, Market } from '../../catalog/types.ts';
import type { ComposedChain, ComposedMarket } from '../../domain/market/types.ts';
import { NotReadyError } from '../../shared/errors.ts';
import { requireDeployed } from '../deployment-guards.ts';
import { type BuilderDeps, composedMarket } from '../deps.ts';
import { NotEligibleError } from '../errors.ts';
import { requireFresh, requireSoundPrices } from '../guards.ts';

/**
 * Refuse a deposit that could not be sold again, or that the list no longer offers for its maturity.
 * @throws NotEligibleError
 */
export function requireOpenVault(vault: EquityVault, { strategies }: ComposedChain, nowMs: number): void {
  const strategy = strategies.find(({ id }) => id === vault.id);
  requireDeployed(strategy, 'Choose another vault, or try again later.');
  requireSoundPrices(strategy);
  const closed = [vault.stock, vault.yieldMarket.collateral].find(({ noSwapRoute }) => noSwapRoute);
  const routeless = strategy?.visibility.checks.some(({ name, passed }) => name === 'swap_route' && !passed);
  if (closed || routeless) {
    throw new NotEligibleError(
      `The vault takes no deposits: ${(closed ?? vault.stock).symbol} has no swap route. Choose another vault.`,
      { reason: 'no_swap_route', rule: 'swap_route' },
    );
  }
  const { maturity, symbol } = vault.yieldMarket.collateral;
  if (maturity !== undefined && nowMs >= maturity * 1_000) {
    throw new NotEligibleError(`The vault takes no deposits: ${symbol} has matured. Choose another vault.`, {
      reason: 'matured',
    });
  }
  const check = strategy?.visibility.checks.find(({ name, passed }) => name === 'maturity' && !passed);
  if (check) {
    throw new NotEligibleError(
      `The vault takes no deposits: ${symbol} matures in ${check.value ?? 'too few'} days, and at least ${check.threshold ?? 'some'} are wanted. Choose another vault.`,
      { reason: 'near_maturity', rule: 'maturity' },
    );
  }
}

export interface VaultMarkets {
  readonly stock: ComposedMarket;
  readonly yieldMarket: ComposedMarket;
}

/**
 * Take both markets of a vault as composed, and insist that neither's numbers are too old to build on.
 * @throws StaleDataError; NotReadyError while one has not been measured
 */
export function requireVaultMarkets(deps: BuilderDeps, vault: EquityVault): VaultMarkets {
  const facts = deps.facts(vault.chainId);
  const fresh = (market: Market): ComposedMarket => {
    requireFresh(market, facts, deps.budgets, deps.clock.now());
    const composed = composedMarket(deps, market);
    if (composed) return composed;
    throw new NotReadyError('The yield of the vault has not been measured yet. Try again in some seconds.', [
      'collateralApy',
    ]);
  };
  return { stock: fresh(vault.stockMarket), yieldMarket: fresh(vault.yieldMarket) };
}
