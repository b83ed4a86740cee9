import type { EquityVault, Market } from '../../catalog/types.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { NotReadyError } from '../../shared/errors.ts';
import { type BuilderDeps, composedMarket } from '../deps.ts';
import { requireFresh } from '../guards.ts';

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
