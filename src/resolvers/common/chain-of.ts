import type { Chain } from '../../catalog/types.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { ChainId, StrategyId } from '../../shared/ids.ts';
import { requireChain } from '../market/chains.ts';
import type { AppContext } from './context.ts';

/**
 * Find the chain that a strategy names: the one that has it.
 * @throws BadRequestError for an id that no chain has, and for a `chainId` beside it that is another one, naming the right one
 */
export function chainOfStrategy(
  { strategyId, chainId }: { readonly strategyId: StrategyId; readonly chainId?: ChainId | null | undefined },
  ctx: AppContext,
): ChainId {
  const named = chainId == null ? undefined : requireChain(ctx, chainId, 'input.chainId').chainId;
  const found = ctx.services.catalog.chains.find((chain) => hasStrategy(chain, strategyId));
  if (!found) {
    throw new BadRequestError(`No chain has a strategy ${strategyId}. Send an id from the strategies list.`, {
      field: 'input.strategyId',
      value: strategyId,
    });
  }
  if (named === undefined || named === found.chainId) return found.chainId;
  throw new BadRequestError(
    `chainId ${named} contradicts the strategyId, which is on chain ${found.chainId}. Send chainId ${found.chainId}, or none.`,
    { field: 'input.chainId', value: String(named), limit: { oneOf: [found.chainId] } },
  );
}

function hasStrategy({ markets, equityVaults }: Chain, strategyId: StrategyId): boolean {
  const id: string = strategyId;
  return markets.some((market) => market.id === id) || equityVaults.some((vault) => vault.id === id);
}
