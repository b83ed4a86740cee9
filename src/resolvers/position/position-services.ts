import type { LoopTags } from '../../domain/equity/loops.ts';
import type { RegisteredRow } from '../../domain/portfolio/types.ts';
import type { WalletHoldings } from '../../domain/position/types.ts';
import type { ComposedWallet, LoopAttribution } from '../../domain/position/wallet.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { PinnedBlock } from '../common/read-services.ts';

/** The holdings of a wallet, and its loops that the app registered for a vault. */
export interface WalletReading {
  readonly holdings: WalletHoldings;
  readonly tags: LoopTags;
}

/** A page of wallets in the order of their addresses. */
interface WalletPage {
  readonly wallets: readonly ComposedWallet[];
  /** Wallets of the page that cannot be read. */
  readonly unreadable: readonly Address[];
  /** Of all pages. */
  readonly totalCount: number;
  /** Last address of the page; `null` = there is no further page. */
  readonly next: Address | null;
}

/** Rows of the register, or why they cannot be read. */
export type RegisteredRows = readonly RegisteredRow[] | Error;

/** Reading positions, live from the chain. */
export interface PositionsPort {
  /**
   * Read any number of wallets in a constant number of RPC requests and one statement. A wallet that cannot be read has
   * its error in the answer without an effect on the others. At a given block, or at the newest one.
   * @throws ChainReadError when the chain gives no usable answer at all
   */
  read(
    chainId: ChainId,
    wallets: readonly Address[],
    block?: PinnedBlock,
  ): Promise<ReadonlyMap<Address, WalletReading | Error>>;
  /** Read the rows of wallets from the register of the app in one statement. Never rejects: a wallet has its error. */
  registered(chainId: ChainId, wallets: readonly Address[]): Promise<ReadonlyMap<Address, RegisteredRows>>;
  /**
   * Find the equity vault that a wallet's position belongs to (or, `ambiguous`, may belong to); `null` = none.
   * @throws ChainReadError, UpstreamUnavailableError
   */
  vaultOf(chainId: ChainId, wallet: Address, positionId: number): Promise<LoopAttribution | null>;
  /** Read a page of all wallets that ever opened a position. @throws ChainReadError, UpstreamUnavailableError */
  page(
    chainId: ChainId,
    page: { readonly limit: number; readonly after?: Address | null },
    signal?: AbortSignal,
  ): Promise<WalletPage>;
}

export interface PositionServices {
  readonly positions: PositionsPort;
}
