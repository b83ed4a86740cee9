import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import type { SummedDivergence } from '../../domain/tvl/types.ts';
import { NotReadyError } from '../../shared/errors.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import type { TvlSnapshot, TvlTotals } from '../common/services.ts';
import { type MissingChain, notReadyChain } from './chains.ts';

export interface ChainTvlView extends TvlTotals {
  readonly chainId: ChainId;
  readonly stamp: Stamp;
  readonly oracleDivergences?: readonly SummedDivergence[];
}

export interface TvlView extends Pick<TvlSnapshot, 'total'> {
  /** Of the oldest chain. */
  readonly stamp: Stamp;
  /** Chains of which no TVL was computed yet: they are in no sum. */
  readonly missingChains: readonly MissingChain[];
  readonly chains: readonly ChainTvlView[];
}

/** Read the TVL with its age: as old as its oldest chain. @throws NotReadyError until one chain is computed */
export function readTvl(ctx: AppContext): TvlView {
  const tvl = ctx.loaders.tvl();
  if (tvl === null || tvl.chains.length === 0) {
    throw new NotReadyError('The TVL has not been computed for any chain yet. Try again in some seconds.', ['tvl']);
  }
  const staleAfterSec = ctx.services.budgets.tvl;
  const chains = tvl.chains.map(({ asOfMs, ...chain }) => ({ ...chain, stamp: { asOfMs, staleAfterSec } }));
  return {
    stamp: { asOfMs: Math.min(...chains.map(({ stamp }) => stamp.asOfMs)), staleAfterSec },
    missingChains: ctx.services.catalog.chainIds
      .filter((chainId) => !chains.some((chain) => chain.chainId === chainId))
      .map((chainId) => notReadyChain(chainId, notComputed(chainId))),
    total: tvl.total,
    chains,
  };
}

const TOTALS = ['badDebtUsd', 'divergentUsd'] as const;

/** Say why sums are not known. */
export function totalsGaps(totals: TvlTotals): readonly Gap[] {
  return TOTALS.filter((field) => totals[field] === undefined).map(notCompared);
}

/** Say why sums of a chain are not known, and whether its oracles are near their references. */
export function chainTvlGaps(chain: ChainTvlView): readonly Gap[] {
  const own = chain.oracleDivergences === undefined ? [notCompared('oracleDivergences')] : [];
  return [...totalsGaps(chain), ...own];
}

function notCompared(field: string): Gap {
  return gap(field, 'NOT_MEASURED', 'This computation did not compare oracles and debts with prices.');
}

function notComputed(chainId: ChainId): NotReadyError {
  return new NotReadyError(`The TVL of chain ${chainId} has not been computed yet. Try again in some seconds.`, [
    'tvl',
  ]);
}
