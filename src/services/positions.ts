import type { Catalog, Chain } from '../catalog/types.ts';
import type { HoldingsOptions, PositionReader } from '../chain/positions.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import type { Registration, RegistrationRepository } from '../database/registrations.ts';
import type { LoopTags } from '../domain/equity/loops.ts';
import { marketsAt, marketsAtReadings } from '../domain/market/at-block.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import { attributionOf, composeWallet } from '../domain/position/wallet.ts';
import type { TvlPosition } from '../domain/tvl/types.ts';
import type { PositionsPort, WalletReading } from '../resolvers/position/position-services.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { systemTimers, type Timers } from '../shared/timers.ts';
import type { PositionsReading } from '../warmers/types.ts';
import { untilThere } from './fresh-reads/until-block-known.ts';
import { byAddress, OWN_FAILURES, type WalletDirectory } from './wallets.ts';

export interface PositionsDeps {
  readonly catalog: Catalog;
  readonly readers: ReadonlyMap<ChainId, PositionReader>;
  readonly directory: WalletDirectory;
  readonly registrations: Pick<RegistrationRepository, 'byWallets'>;
  readonly composed: (chainId: ChainId) => ComposedChain;
  /** Timers of short waits within a request. Default: the system's. */
  readonly waits?: Timers | undefined;
}

/**
 * Create the reading of positions: holdings from the chain, and from the app's registrations which loops belong to which
 * vault.
 */
export function createPositions(deps: PositionsDeps): PositionsPort {
  const { catalog, readers, directory, registrations, composed, waits = systemTimers } = deps;

  const on = (chainId: ChainId): { readonly chain: Chain; readonly reader: PositionReader } => {
    const chain = catalog.chain(chainId);
    const reader = readers.get(chainId);
    if (!chain || !reader) throw new Error(`chain ${chainId} has no reader of positions`);
    return { chain, reader };
  };

  const read = async (
    chainId: ChainId,
    wallets: readonly Address[],
    options: HoldingsOptions = {},
  ): Promise<ReadonlyMap<Address, WalletReading | Error>> => {
    const { values, failures } = (await on(chainId).reader.readHoldings(wallets, options)).wallets;
    const tags = await tagsOf(chainId, vaultHolders(values.values()));
    return new Map(
      wallets.map((wallet) => {
        const holdings = values.get(wallet);
        if (!holdings) return [wallet, new ChainReadError(failures.get(wallet) ?? 'missing')];
        const known = tags.get(wallet) ?? NO_TAGS;
        return [wallet, known instanceof Error ? known : { holdings, tags: known }];
      }),
    );
  };

  /** Only wallets with a vault need the registrations. Without them the match would be a guess, so those wallets fail. */
  const tagsOf = async (
    chainId: ChainId,
    wallets: readonly Address[],
  ): Promise<ReadonlyMap<Address, LoopTags | Error>> => {
    if (wallets.length === 0) return new Map();
    try {
      const rows = await registrations.byWallets(wallets, chainId);
      return new Map(wallets.map((wallet) => [wallet, toTags(rows.get(wallet) ?? [])]));
    } catch (error) {
      const failure = error instanceof Error ? error : new Error('registrations cannot be read', { cause: error });
      return new Map(wallets.map((wallet) => [wallet, failure]));
    }
  };

  return {
    read: (chainId, wallets, block) =>
      block ? untilThere(waits, () => read(chainId, wallets, { block })) : read(chainId, wallets),
    registered: async (chainId, wallets) => {
      try {
        const rows = await registrations.byWallets(wallets, chainId);
        return new Map(wallets.map((wallet) => [wallet, rows.get(wallet) ?? []]));
      } catch (error) {
        const failure = error instanceof Error ? error : new Error('the register cannot be read', { cause: error });
        return new Map(wallets.map((wallet) => [wallet, failure]));
      }
    },
    vaultOf: async (chainId, wallet, positionId) => {
      const { chain } = on(chainId);
      if (chain.equityVaults.length === 0) return null;
      const reading = (await read(chainId, [wallet])).get(wallet);
      if (!reading || reading instanceof Error) throw reading ?? new ChainReadError('missing');
      const { holdings, tags } = reading;
      return attributionOf(chain, marketsAt(composed(chainId), holdings.markets), holdings, tags, positionId);
    },
    page: async (chainId, { limit, after }, signal) => {
      const { chain } = on(chainId);
      const { wallets, block } = await directory.find(chainId, signal);
      const rest = after == null ? wallets : wallets.filter((wallet) => byAddress(wallet, after) > 0);
      const pageWallets = rest.slice(0, limit);
      const readings = await read(chainId, pageWallets, { block, signal });
      const unreadable: Address[] = [];
      const valuesAt = marketsAtReadings(composed(chainId));
      const found = pageWallets.flatMap((wallet) => {
        const reading = readings.get(wallet);
        if (reading && !(reading instanceof Error)) {
          return [composeWallet(chain, valuesAt(reading.holdings.markets), reading.holdings, reading.tags)];
        }
        unreadable.push(wallet);
        return [];
      });
      const next = rest.length > pageWallets.length ? (pageWallets.at(-1) ?? null) : null;
      return { wallets: found, unreadable, totalCount: wallets.length, next };
    },
  };
}

/**
 * Read the positions of every wallet of a chain at one block, for sums over all of them. A wallet with a temporary failure
 * fails the reading; one whose positions revert is counted.
 * @throws ChainReadError, UpstreamUnavailableError
 */
export async function readAllPositions(
  { directory, readers }: Pick<PositionsDeps, 'directory' | 'readers'>,
  chainId: ChainId,
  signal: AbortSignal,
): Promise<PositionsReading> {
  const reader = readers.get(chainId);
  if (!reader) throw new Error(`chain ${chainId} has no reader of positions`);
  const { wallets, block, unreadable } = await directory.find(chainId, signal);
  const reading = await reader.readHoldings(wallets, { block, positionsOnly: true, signal });
  const { values, failures } = reading.wallets;
  for (const reason of failures.values()) {
    if (!OWN_FAILURES.includes(reason)) throw new ChainReadError(reason);
  }
  const positions = [...values.values()].flatMap(({ wallet, positions: held }) =>
    held.map(({ marketId, collateral, borrowShares, open }): TvlPosition => {
      return { wallet, marketId, collateral, borrowShares, open };
    }),
  );
  return {
    positions,
    asOfMs: Number(reading.block.timestamp) * 1_000,
    unreadable: unreadable + failures.size,
  };
}

const NO_TAGS: LoopTags = new Map();

function vaultHolders(
  holdings: Iterable<{ readonly wallet: Address; readonly stocks: readonly unknown[] }>,
): readonly Address[] {
  return [...holdings].filter(({ stocks }) => stocks.length > 0).map(({ wallet }) => wallet);
}

function toTags(rows: readonly Registration[]): LoopTags {
  return new Map(
    rows.flatMap(({ positionIndex, equityVaultId, marketId }) =>
      equityVaultId === null ? [] : [[positionIndex, { vaultId: equityVaultId, marketId }] as const],
    ),
  );
}
