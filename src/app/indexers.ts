import type { Catalog } from '../catalog/types.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import type { Database } from '../database/client.ts';
import { createMarketMarkRepository, type MarketMarkRepository } from '../database/market-marks.ts';
import { createPositionHistoryRepository, type IndexerCursor } from '../database/position-history.ts';
import { type ChainIndexer, createChainIndexer, type IndexerRun } from '../indexer/chain-indexer.ts';
import type { PositionHistoryPort } from '../resolvers/position/history-services.ts';
import { createIndexerRecords, type IndexerRecords } from '../services/indexer-records.ts';
import { createPositionHistoryReads } from '../services/position-history.ts';
import { failureWord } from '../shared/errors.ts';
import type { ChainId } from '../shared/ids.ts';
import type { HistoryRun } from '../telemetry/metrics-history.ts';
import { createBudget } from '../upstreams/budgets.ts';
import { createPositionHistoryWarmer } from '../warmers/position-history.ts';
import type { Warmer } from '../warmers/types.ts';
import { forRequests } from './database-waits.ts';
import type { AppDeps } from './deps.ts';
import type { NodesOf } from './nodes.ts';

export interface PositionHistoryDeps extends Pick<AppDeps, 'config' | 'clock' | 'logger' | 'timers'> {
  readonly catalog: Catalog;
  readonly nodes: NodesOf;
  readonly db: Database;
  readonly onRun?: ((run: HistoryRun) => void) | undefined;
}

/** The parts of the history of positions: its job for every chain, and its tables. */
export interface PositionHistoryWiring {
  readonly warmers: readonly Warmer[];
  readonly positionHistory: PositionHistoryPort;
  readonly indexers: IndexerRecords;
  readonly marks: MarketMarkRepository;
}

/** Wire the indexers of position logs. A run that has used up its budget of requests ends, and the next one goes on. */
export function createPositionHistoryWiring(deps: PositionHistoryDeps): PositionHistoryWiring {
  const { config, catalog, nodes, db, clock, logger, timers, onRun } = deps;
  const { HISTORY_CONFIRMATION_SEC, HISTORY_REQUESTS_PER_MINUTE, REFRESH_POSITION_HISTORY_SEC } = config.env;
  const history = createPositionHistoryRepository(db);
  const marks = createMarketMarkRepository(db, clock);
  const indexers = new Map(
    catalog.chains.flatMap((chain): [ChainId, ChainIndexer][] => {
      const ofChain = nodes.get(chain.chainId);
      if (!ofChain) return [];
      const budget = createBudget({
        name: 'history',
        clock,
        rules: { limits: { minute: HISTORY_REQUESTS_PER_MINUTE } },
        backgroundWaitMs: 0,
      });
      const take = async (requests: number): Promise<boolean> =>
        (await budget.take({ cost: requests, traffic: 'background' })) === null;
      const indexer = createChainIndexer({
        nodes: ofChain,
        chain,
        history,
        marks,
        clock,
        logger,
        confirmationSec: HISTORY_CONFIRMATION_SEC,
        take,
      });
      return [[chain.chainId, indexer]];
    }),
  );
  const index = async (chainId: ChainId, signal: AbortSignal): Promise<number> => {
    const indexer = indexers.get(chainId);
    if (!indexer) return 0;
    const note = (known: KnownHead | null, failure: string | null) =>
      history.noteRun(chainId, {
        atMs: clock.now(),
        head: known?.head ?? null,
        headMs: known?.headAtMs ?? null,
        expected: indexer.state()?.expected ?? null,
        failure,
      });
    let run: IndexerRun;
    try {
      run = await indexer.run(signal);
    } catch (error) {
      if (!signal.aborted) {
        const newest = newestHead(indexer, nodes.get(chainId));
        // A failure to record the run must not hide the reason why the run failed.
        await note(newest, failureWord(error)).catch(() => {});
        // Without this the distance would stay as it was before the failures. A new process knows it from the database alone.
        const cursor = indexer.state()?.cursor ?? (await history.cursor(chainId).catch(() => null));
        if (cursor && newest) onRun?.({ ...NOTHING_READ, chainId, ...distanceOf(cursor, newest) });
      }
      throw error;
    }
    const state = indexer.state();
    await note(state, null);
    onRun?.({ ...run, chainId, ...(state ? distanceOf(state.cursor, state) : { isWhole: false }) });
    return run.logs;
  };
  const reads = createPositionHistoryReads({ history, marks });
  return {
    positionHistory: { read: forRequests(timers, reads.read), readEvents: forRequests(timers, reads.readEvents) },
    indexers: createIndexerRecords({
      chainIds: [...indexers.keys()],
      read: forRequests(timers, history.records),
      clock,
    }),
    marks,
    warmers: [...indexers.keys()].map((chainId) =>
      createPositionHistoryWarmer(index, chainId, REFRESH_POSITION_HISTORY_SEC),
    ),
  };
}

const NOTHING_READ = { requests: 0, logs: 0, rewoundBlocks: 0, correctedBlocks: 0 } as const;

interface KnownHead {
  readonly head: bigint;
  readonly headAtMs: number;
}

/** The newest block of a chain that is known: of the latest run, or of any other reading of its nodes. */
function newestHead(indexer: ChainIndexer, nodes: ChainNodes | undefined): KnownHead | null {
  const heads = (nodes?.status() ?? []).flatMap(({ status, head }): KnownHead[] =>
    head && status !== 'other_chain' ? [{ head: head.number, headAtMs: Number(head.timestamp) * 1_000 }] : [],
  );
  const known = indexer.state();
  if (known) heads.push(known);
  return heads.reduce<KnownHead | null>((newest, one) => (newest && newest.head >= one.head ? newest : one), null);
}

function distanceOf({ fromBlock, toBlock, toMs, isWhole }: IndexerCursor, { head, headAtMs }: KnownHead) {
  return {
    blocksBehind: head > toBlock ? Number(head - toBlock) : 0,
    secondsBehind: head > toBlock ? Math.max(0, (headAtMs - toMs) / 1_000) : 0,
    fromBlock: Number(fromBlock),
    isWhole,
  };
}
