import type { Catalog, Chain, EquityVault } from '../../catalog/types.ts';
import { BadRequestError, NotFoundError } from '../../shared/errors.ts';
import { type Address, type ChainId, EQUITY_PREFIX, type MarketId, type StrategyId } from '../../shared/ids.ts';
import { NotEligibleError } from '../errors.ts';

export interface FoundVault {
  readonly chain: Chain;
  readonly router: Address;
  readonly vault: EquityVault;
}

/** The chains on which vaults can be entered and left: those whose catalog names an equity router. */
export function equityChainIds(catalog: Catalog): readonly ChainId[] {
  return catalog.chains.filter(({ contracts }) => contracts.equityRouter !== undefined).map(({ chainId }) => chainId);
}

/**
 * Find a vault and the router that serves it.
 * @throws BadRequestError for a chain without vaults; NotEligibleError for the id of a loop; NotFoundError for an unknown vault
 */
export function findVault(
  catalog: Catalog,
  { strategyId, chainId }: { readonly strategyId: StrategyId; readonly chainId?: ChainId | undefined },
): FoundVault {
  const served = equityChainIds(catalog);
  if (chainId !== undefined && !served.includes(chainId)) {
    throw new BadRequestError(
      `chainId ${chainId} has no equity vaults. Send ${served.join(' or ')}, or leave it out.`,
      { field: 'chainId', value: String(chainId), limit: { oneOf: served } },
    );
  }
  const chainIds = chainId === undefined ? served : [chainId];
  for (const id of chainIds) {
    const chain = catalog.chain(id);
    const vault = catalog.vault(id, strategyId);
    const router = chain?.contracts.equityRouter;
    if (chain && vault && router) return { chain, router, vault };
  }
  if (!strategyId.startsWith(EQUITY_PREFIX)) {
    const isLoop = catalog.chainIds.some((id) => catalog.market(id, strategyId as string as MarketId)?.kind === 'loop');
    if (isLoop) {
      throw new NotEligibleError(
        `${strategyId} is a leverage strategy, not an equity vault. Use /v1/partner/leverage for it, or send a vault id: it starts with "${EQUITY_PREFIX}".`,
        { reason: 'not_equity_vault', pointer: '/v1/partner/leverage/simulate' },
      );
    }
  }
  throw new NotFoundError(
    `No equity vault has the id ${strategyId}. The ids stand in /v1/strategies?chainId=${served[0]} and start with "${EQUITY_PREFIX}".`,
    { resource: 'strategy', id: strategyId },
  );
}
