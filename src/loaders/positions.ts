import DataLoader from 'dataloader';
import type { PositionKey, RecordedPosition } from '../domain/history/types.ts';
import type { Portfolio, RegisteredRow } from '../domain/portfolio/types.ts';
import type { PinnedBlock } from '../resolvers/common/read-services.ts';
import type { OpsPort, ServedReport } from '../resolvers/ops/ops-services.ts';
import type { PositionHistoryServices } from '../resolvers/position/history-services.ts';
import type { PositionsPort, WalletReading } from '../resolvers/position/position-services.ts';
import type { LeveragePort } from '../resolvers/transaction/partner-services.ts';
import type { Address, ChainId } from '../shared/ids.ts';

/** Reads wallets; `Services` satisfies it. */
export interface PositionSources extends PositionHistoryServices {
  readonly positions: Pick<PositionsPort, 'read' | 'registered'>;
  readonly leverage: Pick<LeveragePort, 'proxyOwners'>;
  readonly ops: Pick<OpsPort, 'live' | 'report'>;
}

export interface WalletKey {
  readonly chainId: ChainId;
  /** Checksummed. */
  readonly wallet: Address;
  /** The block to read at; absent: the newest one. */
  readonly block?: PinnedBlock | undefined;
}

type WalletLoader<T> = DataLoader<WalletKey, T, string>;

export interface PositionLoaders {
  readonly wallet: WalletLoader<WalletReading>;
  /** Rows of the register; fails alone when they cannot be read. */
  readonly registered: WalletLoader<readonly RegisteredRow[]>;
  /** Owner of a position by the address of its contract; `null` = the address is not a position's contract. */
  readonly proxyOwner: WalletLoader<{ readonly owner: Address; readonly positionId: number } | null>;
  readonly portfolio: WalletLoader<Portfolio>;
  /** Recorded logs of a position; fails alone when they cannot be read. */
  readonly positionHistory: DataLoader<PositionKey, RecordedPosition, string>;
  /** The same without marks between events. */
  readonly positionEvents: DataLoader<PositionKey, RecordedPosition, string>;
  /** All wallets of a chain: one version of the report in everything that a context answers. */
  readonly report: DataLoader<ChainId, ServedReport>;
}

/**
 * Create the loaders of wallets. For any number of wallets there is one read per chain and kind. A wallet that cannot be read
 * fails alone.
 */
export function createPositionLoaders(sources: PositionSources): PositionLoaders {
  const { positions, leverage, ops, positionHistory } = sources;
  return {
    wallet: perChain((chainId, wallets, block) => positions.read(chainId, wallets, block)),
    registered: perChain((chainId, wallets) => positions.registered(chainId, wallets)),
    proxyOwner: perChain((chainId, wallets) => leverage.proxyOwners(chainId, wallets)),
    portfolio: perChain((chainId, wallets, block) => ops.live(chainId, wallets, block)),
    positionHistory: recordedPositions((keys) => positionHistory.read(keys)),
    positionEvents: recordedPositions((keys) => positionHistory.readEvents(keys)),
    report: new DataLoader((chainIds: readonly ChainId[]) =>
      Promise.all(chainIds.map((chainId) => ops.report(chainId).catch(asError))),
    ),
  };
}

function recordedPositions(
  read: PositionHistoryServices['positionHistory']['read'],
): DataLoader<PositionKey, RecordedPosition, string> {
  return new DataLoader(
    async (keys: readonly PositionKey[]) => {
      const found = new Map<PositionKey, RecordedPosition | Error>();
      for (const chainId of new Set(keys.map((key) => key.chainId))) {
        const ofChain = keys.filter((key) => key.chainId === chainId);
        const answers = await read(ofChain).catch(asError);
        for (const [i, key] of ofChain.entries()) {
          found.set(key, answers instanceof Error ? answers : (answers[i] ?? asError(null)));
        }
      }
      return keys.map((key) => found.get(key) ?? asError(null));
    },
    { cacheKeyFn: ({ chainId, account, marketId }) => `${chainId}|${account}|${marketId}` },
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('wallets cannot be read', { cause: error });
}

function perChain<T>(
  read: (
    chainId: ChainId,
    wallets: readonly Address[],
    block: PinnedBlock | undefined,
  ) => Promise<ReadonlyMap<Address, T | Error>>,
): WalletLoader<T> {
  return new DataLoader(
    async (keys: readonly WalletKey[]) => {
      const groups = new Map<string, { readonly first: WalletKey; readonly wallets: Address[] }>();
      for (const key of keys) {
        const group = groups.get(placeOf(key)) ?? { first: key, wallets: [] };
        group.wallets.push(key.wallet);
        groups.set(placeOf(key), group);
      }
      const answers = new Map(
        [...groups].map(([place, { first, wallets }]) => [place, read(first.chainId, wallets, first.block)]),
      );
      return Promise.all(
        keys.map(async (key) => {
          try {
            const answer = (await answers.get(placeOf(key)))?.get(key.wallet);
            return answer === undefined ? new Error('the wallet was not read') : answer;
          } catch (error) {
            return asError(error);
          }
        }),
      );
    },
    { cacheKeyFn: (key) => `${placeOf(key)}|${key.wallet}` },
  );
}

/** Wallets of one chain and block are read together. */
function placeOf({ chainId, block }: WalletKey): string {
  return `${chainId}|${block?.hash ?? ''}`;
}
