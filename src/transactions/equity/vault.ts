import type { Chain, EquityVault } from '../../catalog/types.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { type Address, type ChainId, EQUITY_PREFIX, type MarketId, type StrategyId } from '../../shared/ids.ts';
import { NAMES } from '../../shared/names.ts';
import { NotEligibleError } from '../errors.ts';

export interface FoundVault {
  readonly chain: Chain;
  readonly router: Address;
  readonly vault: EquityVault;
}

/** The chains on which vaults can be entered and left: those whose catalog names an equity router. */
export function equityChainIds(chains: readonly Chain[]): readonly ChainId[] {
  return chains.filter(({ contracts }) => contracts.equityRouter !== undefined).map(({ chainId }) => chainId);
}

/**
 * Find a vault and the router that serves it.
 * @throws BadRequestError for a chain without vaults, or an unknown vault; NotEligibleError for the id of a loop
 */
export function findVault(
  chains: readonly Chain[],
  { strategyId, chainId }: { readonly strategyId: StrategyId; readonly chainId?: ChainId | undefined },
): FoundVault {
  const served = equityChainIds(chains);
  if (chainId !== undefined && !served.includes(chainId)) {
    throw new BadRequestError(
      `chainId ${chainId} has no equity vaults. Send ${served.join(' or ')}, or leave it out.`,
      { field: 'chainId', value: String(chainId), limit: { oneOf: served } },
    );
  }
  for (const chain of chains) {
    const router = chain.contracts.equityRouter;
    if (!router || (chainId !== undefined && chain.chainId !== chainId)) continue;
    const vault = chain.equityVaults.find(({ id }) => id === strategyId);
    if (vault) return { chain, router, vault };
  }
  const loopId = strategyId as string as MarketId;
  if (chains.some(({ markets }) => markets.some(({ id, kind }) => kind === 'loop' && id === loopId))) {
    throw new NotEligibleError(
      `${strategyId} is a leverage strategy, not an equity vault. Use ${NAMES.places.leverage} for it, or send a vault id: it starts with "${EQUITY_PREFIX}".`,
      { reason: 'not_equity_vault', pointer: NAMES.places.leveragePreview },
    );
  }
  throw new BadRequestError(
    `No equity vault has the id ${strategyId}. Send an id that starts with "${EQUITY_PREFIX}" from ${NAMES.places.strategies(served[0])}.`,
    { field: 'strategyId', value: strategyId },
  );
}
