import type { MarketMarkRepository } from '../database/market-marks.ts';
import type { PositionHistoryRepository } from '../database/position-history.ts';
import type { MarketMark, PositionKey, RecordedLog, RecordedPosition } from '../domain/history/types.ts';
import type { PositionHistoryPort } from '../resolvers/position/history-services.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';

export interface PositionHistoryReads {
  readonly history: Pick<PositionHistoryRepository, 'cursor' | 'logs'>;
  readonly marks: Pick<MarketMarkRepository, 'read' | 'at'>;
  /** Default: those of some hundred positions with some ten events each. */
  readonly logsPerPage?: number | undefined;
}

const LOGS_PER_PAGE = 20_000;
/** Most positions have one page. Everybody can add events to a position, which bounds the memory of a reading. */
const MAX_PAGES = 5;
/** Hourly samples of a curve. */
const MAX_SAMPLES = 300;

/**
 * Create the reading of recorded positions: two statements for all of them, one more for each further page of logs, and one for the
 * marks of each, or of each market.
 */
export function createPositionHistoryReads({
  history,
  marks,
  logsPerPage = LOGS_PER_PAGE,
}: PositionHistoryReads): PositionHistoryPort {
  const readPages = async (keys: readonly PositionKey[], chainId: ChainId) => {
    const logs: RecordedLog[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const found = await history.logs({ chainId, keys, limit: logsPerPage, after: logs.at(-1) });
      for (const log of found) logs.push(log);
      if (found.length < logsPerPage) return { logs, isCut: false };
    }
    return { logs, isCut: true };
  };
  const readLogs = async (keys: readonly PositionKey[], chainId: ChainId) => {
    const [range, { logs, isCut }] = await Promise.all([history.cursor(chainId), readPages(keys, chainId)]);
    return { range, isCut, own: keys.map((key) => logsOf(key, logs)) };
  };
  return {
    read: async (keys) => {
      const chainId = keys[0]?.chainId;
      if (chainId === undefined) return [];
      const { range, isCut, own } = await readLogs(keys, chainId);
      return Promise.all(
        keys.map(async ({ marketId }, i): Promise<RecordedPosition> => {
          const logs = own[i] ?? [];
          const blocks = blocksOf(logs);
          const [fromBlock] = blocks;
          const ofMarket =
            fromBlock === undefined
              ? []
              : await marks.read({ chainId, marketId, fromBlock, samples: MAX_SAMPLES, blocks });
          return { range, logs, marks: ofMarket, isCut };
        }),
      );
    },
    readEvents: async (keys) => {
      const chainId = keys[0]?.chainId;
      if (chainId === undefined) return [];
      const { range, isCut, own } = await readLogs(keys, chainId);
      const marksOf = new Map<MarketId, Promise<readonly MarketMark[]>>();
      for (const { marketId } of keys) {
        const blocks = blocksOf(own.flatMap((logs, i) => (keys[i]?.marketId === marketId ? logs : [])));
        marksOf.set(marketId, marksOf.get(marketId) ?? marks.at(chainId, marketId, blocks));
      }
      return Promise.all(
        keys.map(async ({ marketId }, i) => ({
          range,
          logs: own[i] ?? [],
          marks: (await marksOf.get(marketId)) ?? [],
          isCut,
        })),
      );
    },
  };
}

function blocksOf(logs: readonly RecordedLog[]): readonly bigint[] {
  return [...new Set(logs.map(({ blockNumber }) => blockNumber))];
}

/** The logs of the transactions in which a position has an event. Any account may be given collateral of other markets. */
function logsOf(
  { account, wallet, positionIndex, marketId }: PositionKey,
  logs: readonly RecordedLog[],
): readonly RecordedLog[] {
  const isOwn = (log: RecordedLog): boolean =>
    (log.account === account && log.marketId === marketId) ||
    (log.wallet === wallet && positionIndex !== null && log.positionIndex === positionIndex);
  const transactions = new Set(logs.flatMap((log) => (isOwn(log) ? [log.txHash] : [])));
  return logs.filter(({ txHash }) => transactions.has(txHash));
}
