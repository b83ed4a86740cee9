import type { EquityVault } from '../../catalog/types.ts';
import type { ComposedChain } from '../../domain/market/types.ts';
import { requireDeployed } from '../deployment-guards.ts';
import { NotEligibleError } from '../errors.ts';
import { requireSoundPrices } from '../guards.ts';

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
