import type { EquityVault } from '../../catalog/types.ts';
import type { ComposedChain } from '../../domain/market/types.ts';
import { NotEligibleError } from '../errors.ts';

/**
 * Refuse a deposit that could not be sold again, or that the list no longer offers for its maturity.
 * @throws NotEligibleError
 */
export function requireOpenVault(vault: EquityVault, { strategies }: ComposedChain, nowMs: number): void {
  const strategy = strategies.find(({ id }) => id === vault.id);
  const closed = [vault.stock, vault.yieldMarket.collateral].find(({ noSwapRoute }) => noSwapRoute);
  const routeless = strategy?.visibility.checks.some(({ name, passed }) => name === 'swap_route' && !passed);
  if (closed || routeless) {
    throw new NotEligibleError(
      `The vault takes no deposits: ${(closed ?? vault.stock).symbol} has no swap route. Choose another vault.`,
      { reason: 'no_swap_route' },
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
      { reason: 'near_maturity' },
    );
  }
}

/** Refuse a deposit into a yield market that the product's contract does not open positions in now. @throws NotEligibleError */
export function requireOpenMarket(
  vault: EquityVault,
  state: { readonly isSupported: boolean; readonly isPaused: boolean },
): void {
  if (state.isPaused) {
    throw new NotEligibleError(
      'The contract that holds positions is paused by its owner: none can be opened, changed or closed there until it is unpaused. Try again later.',
      { reason: 'market_closed' },
    );
  }
  if (state.isSupported) return;
  throw new NotEligibleError(
    `The vault takes no deposits: its yield market ${vault.yieldMarket.id} is closed to new positions. Open vaults can still be left through /v1/partner/equity/exit/build.`,
    { reason: 'market_closed', pointer: '/v1/partner/equity/exit/build' },
  );
}
