import DataLoader from 'dataloader';
import type { Stamp } from '../domain/freshness/types.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { RatePoint } from '../shared/rate-history.ts';

/** Rates of a market, percent. */
export type RateKind = 'borrowApy' | 'collateralApy' | 'incentiveApr';
/** What is recorded of a market: its rates; its utilization in percent, its liquidity and its price in whole loan tokens. */
export type HistoryKind = RateKind | 'utilization' | 'liquidity' | 'collateralPrice';

/** Half open: `fromMs <= at < toMs`. */
export interface HistoryRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The recorded series of one market: not downsampled, oldest first, inside the requested range. */
export interface HistorySeries {
  readonly points: readonly RatePoint[];
  /** Public names of the sources that the points come from, e.g. `chain`, `indexer`. */
  readonly sources: readonly string[];
  /** Stamp of the newest known point (inside the range or not). */
  readonly stamp: Stamp;
}

/**
 * Recorded histories: own samples, and the indexer's for other times. A market without any record is missing in the answer.
 */
export interface HistorySource {
  read(
    kind: HistoryKind,
    chainId: ChainId,
    marketIds: readonly MarketId[],
    range: HistoryRange,
  ): Promise<ReadonlyMap<MarketId, HistorySeries>>;
}

export interface HistoryKey extends HistoryRange {
  readonly kind: HistoryKind;
  readonly chainId: ChainId;
  readonly marketId: MarketId;
}

export interface HistoryLoaders {
  readonly history: DataLoader<HistoryKey, HistorySeries | null, string>;
}

/** Create the loaders of histories. For any number of markets there is one read per kind, chain and range. */
export function createHistoryLoaders(source: HistorySource): HistoryLoaders {
  return {
    history: new DataLoader(
      async (keys: readonly HistoryKey[]) => {
        const groups = new Map<string, { readonly first: HistoryKey; readonly ids: MarketId[] }>();
        for (const key of keys) {
          const group = groups.get(groupOf(key)) ?? { first: key, ids: [] };
          group.ids.push(key.marketId);
          groups.set(groupOf(key), group);
        }
        const answers = new Map<string, Promise<ReadonlyMap<MarketId, HistorySeries>>>();
        for (const [name, { first, ids }] of groups) {
          answers.set(name, source.read(first.kind, first.chainId, ids, { fromMs: first.fromMs, toMs: first.toMs }));
        }
        return Promise.all(
          keys.map(async (key) => {
            try {
              return (await answers.get(groupOf(key)))?.get(key.marketId) ?? null;
            } catch (error) {
              return error instanceof Error ? error : new Error('history read failed', { cause: error });
            }
          }),
        );
      },
      { cacheKeyFn: (key) => `${groupOf(key)}|${key.marketId}` },
    ),
  };
}

function groupOf(key: HistoryKey): string {
  return `${key.kind}|${key.chainId}|${key.fromMs}|${key.toMs}`;
}
