import type { SummedDivergence } from '../../domain/tvl/types.ts';
import { NotReadyError } from '../../shared/errors.ts';
import { isStaleIn } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import type { TvlSnapshot, TvlTotals } from '../common/services.ts';
import type { LeftOutChain } from './chains.ts';

export interface ShownTvl extends Pick<TvlSnapshot, 'total'> {
  readonly asOfMs: number;
  readonly stale: boolean;
  /** Chains of which no TVL was computed yet: they are in no sum. */
  readonly leftOut: readonly LeftOutChain[];
  readonly chains: readonly (TvlTotals & {
    readonly oracleDivergences?: readonly SummedDivergence[];
    readonly chainId: number;
    readonly asOfMs: number;
    readonly stale: boolean;
  })[];
}

/** Read the TVL with its age: as old as its oldest chain. @throws NotReadyError until one chain is computed */
export function readTvl(ctx: AppContext): ShownTvl {
  const tvl = ctx.loaders.tvl();
  if (tvl === null || tvl.chains.length === 0) {
    throw new NotReadyError('The TVL has not been computed for any chain yet. Try again in some seconds.', ['tvl']);
  }
  const staleAfterSec = ctx.services.budgets.tvl;
  const chains = tvl.chains.map((chain) => ({
    ...chain,
    stale: isStaleIn({ asOfMs: chain.asOfMs, staleAfterSec }, ctx),
  }));
  return {
    asOfMs: Math.min(...chains.map(({ asOfMs }) => asOfMs)),
    stale: chains.some(({ stale }) => stale),
    leftOut: ctx.services.catalog.chainIds
      .filter((chainId) => !chains.some((chain) => chain.chainId === chainId))
      .map((chainId) => ({ chainId, waitingFor: ['tvl'] })),
    total: tvl.total,
    chains,
  };
}
