import type { Catalog } from '../../../catalog/types.ts';
import type { ChainFacts } from '../../../domain/facts.ts';
import { marketsAtReadings } from '../../../domain/market/at-block.ts';
import type { ComposedChain } from '../../../domain/market/types.ts';
import { composeWallet } from '../../../domain/position/wallet.ts';
import type { PositionsPort } from '../../../resolvers/position/position-services.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Address, ChainId } from '../../../shared/ids.ts';
import type { Logger } from '../../../shared/logger.ts';
import { loggedError } from '../../../shared/scrub.ts';
import { inTurns, letOthersRun } from '../../../shared/turns.ts';
import type { WatchedWallet } from '../domain/observe.ts';

export interface WatchedWalletsDeps {
  readonly catalog: Catalog;
  readonly positions: Pick<PositionsPort, 'read'>;
  readonly composed: (chainId: ChainId) => ComposedChain;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The last readings of wallets with alerts. */
export interface WatchedWallets {
  /**
   * Read wallets that were not read since the latest refresh of market state, and forget those that are not named. A wallet that
   * cannot be read keeps its last reading, which grows old.
   */
  read(chainId: ChainId, wallets: Iterable<Address>, facts: ChainFacts, signal: AbortSignal): Promise<void>;
  of(chainId: ChainId): ReadonlyMap<string, WatchedWallet>;
}

/** Wallets per reading: two requests to the chain. */
const WALLETS_PER_READING = 500;

interface Watched extends WatchedWallet {
  /** The refresh of market state after which it was read. */
  readonly refreshMs: number | null;
}

/** Create the readings of wallets with alerts. */
export function createWatchedWallets(deps: WatchedWalletsDeps): WatchedWallets {
  const { catalog, positions, composed, clock, logger } = deps;
  const known = new Map<ChainId, Map<string, Watched>>();
  return {
    of: (chainId) => known.get(chainId) ?? new Map(),
    async read(chainId, wallets, facts, signal) {
      const chain = catalog.chain(chainId);
      if (!chain) return;
      const before = known.get(chainId) ?? new Map<string, Watched>();
      const now = new Map<string, Watched>();
      const refreshMs = facts.groups.lendingState.lastSuccessMs;
      const due: Address[] = [];
      for (const wallet of new Set(wallets)) {
        const had = before.get(wallet) ?? { asOfMs: clock.now(), wallet: null, refreshMs: null };
        now.set(wallet, had);
        if (had.wallet === null || had.refreshMs !== refreshMs) due.push(wallet);
      }
      known.set(chainId, now);
      let failed = 0;
      let failure: unknown;
      for (let begin = 0; begin < due.length; begin += WALLETS_PER_READING) {
        signal.throwIfAborted();
        const page = due.slice(begin, begin + WALLETS_PER_READING);
        const readings = await positions.read(chainId, page).catch((error: unknown) => {
          failure = error;
          return new Map<Address, never>();
        });
        const valuesAt = marketsAtReadings(composed(chainId));
        for await (const wallet of inTurns(page)) {
          const reading = readings.get(wallet);
          if (reading === undefined || reading instanceof Error) {
            failure ??= reading;
            failed += 1;
            continue;
          }
          const { holdings, tags } = reading;
          const asOfMs = Number(holdings.block.timestamp) * 1_000;
          now.set(wallet, {
            asOfMs,
            wallet: composeWallet(chain, valuesAt(holdings.markets), holdings, tags),
            refreshMs,
          });
        }
        await letOthersRun();
      }
      if (failed > 0)
        logger.warn({ chainId, wallets: failed, err: loggedError(failure) }, 'wallets with alerts not read');
    },
  };
}
