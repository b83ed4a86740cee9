import type { IndexerRecord } from '../../domain/history/indexer-state.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { selectChains } from '../market/chains.ts';

/**
 * Read how far the logs of positions are read, by chain.
 * @throws BadRequestError, UpstreamUnavailableError
 */
export async function readIndexers(
  args: { readonly chainIds?: readonly ChainId[] | null | undefined },
  ctx: AppContext,
): Promise<IndexerRecord[]> {
  const chosen = new Set(selectChains(ctx, args.chainIds).map(({ chainId }) => chainId));
  return (await ctx.live().indexers.read()).filter(({ chainId }) => chosen.has(chainId));
}
