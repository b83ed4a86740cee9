import type { Chain } from '../catalog/types.ts';
import { CHAIN_SOURCE } from '../chain/rpc/errors.ts';
import { TVL_KEY } from '../domain/facts.ts';
import { composeTvl } from '../domain/tvl/compose.ts';
import { tvlMarkets } from '../domain/tvl/markets.ts';
import type { ChainTvl } from '../domain/tvl/types.ts';
import type { Clock } from '../shared/clock.ts';
import { formatPct } from '../shared/decimal.ts';
import type { Logger } from '../shared/logger.ts';
import { refreshGroup, type Snapshot } from './refresh.ts';
import type { Beside, ReadPositions, RecordTvl, Warmer } from './types.ts';

export interface TvlDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readPositions: ReadPositions;
  readonly recordTvl: RecordTvl;
  /** Absent: a run waits for its writes. */
  readonly beside?: Beside | undefined;
}

/**
 * Create the warmer of a chain's TVL: the positions of every wallet, valued with the current facts. While a market with
 * positions has no value, the last computed TVL stays, with its age.
 */
export function createTvlWarmer(deps: TvlDeps, chain: Chain, everySec: number): Warmer {
  const { snapshot, logger, recordTvl, beside = (work) => work } = deps;
  const { chainId } = chain;
  let leftOut = '';
  let diverging = '';
  let isRecorded = true;

  const record = async (tvl: ChainTvl): Promise<void> => {
    try {
      await recordTvl(tvl);
      if (!isRecorded) logger.info({ chainId }, 'tvl samples stored again');
      isRecorded = true;
    } catch (error) {
      if (isRecorded) logger.warn({ chainId, error }, 'tvl samples not stored');
      isRecorded = false;
    }
  };

  return {
    name: `tvl:${chainId}`,
    groups: ['tvl'],
    everySec,
    phase: 2,
    run: (signal) =>
      refreshGroup(deps, {
        everySec,
        chainId,
        group: 'tvl',
        keys: [TVL_KEY],
        source: CHAIN_SOURCE,
        signal,
        ask: async () => {
          const { positions, asOfMs, unreadable } = await deps.readPositions(chainId, signal);
          const markets = tvlMarkets(chain, snapshot.facts(chainId));
          const outcome = composeTvl(markets, positions, asOfMs, unreadable);
          if (!outcome.computed) {
            logger.warn({ chainId, unpriced: outcome.unpriced }, 'tvl cannot be computed');
            return { values: new Map(), failures: new Map([[TVL_KEY, 'missing']]) };
          }
          logLeftOut(outcome.tvl);
          logDivergences(outcome.tvl);
          await beside(record(outcome.tvl));
          return { values: new Map([[TVL_KEY, outcome.tvl]]), failures: new Map(), asOfMs };
        },
      }),
  };

  /** Log the divergent oracles among the sums, once per change. */
  function logDivergences({ oracleDivergences = [] }: Pick<ChainTvl, 'oracleDivergences'>): void {
    const now = oracleDivergences.map(({ marketId }) => marketId).join();
    if (now === diverging) return;
    diverging = now;
    const oracles = oracleDivergences.map(({ marketId, oracle, against, divergencePct, grossTvlUsd }) => ({
      marketId,
      oracle,
      against,
      divergencePct: formatPct(divergencePct),
      grossTvlUsd: grossTvlUsd.toFixed(2),
    }));
    if (now === '') logger.info({ chainId }, 'oracles in the tvl are near their references again');
    else logger.warn({ chainId, oracles }, 'oracles in the tvl are far from their references');
  }

  /** Log the positions that are in none of the sums, once per change. */
  function logLeftOut(counts: { readonly outsideCatalog: number; readonly unreadableWallets: number }): void {
    const { outsideCatalog, unreadableWallets } = counts;
    const now = `${outsideCatalog}/${unreadableWallets}`;
    if (now !== leftOut && (leftOut !== '' || now !== '0/0')) {
      logger.info({ chainId, outsideCatalog, unreadableWallets }, 'positions left out of the tvl');
    }
    leftOut = now;
  }
}
