import type { Address, ChainId, MarketId, StrategyId } from '../shared/ids.ts';
import type { CollateralApySource, CollateralCategory, SwapSource } from './schema.ts';

/** One curated token of one chain. Optional fields are absent when the curators have not established them. */
export interface Token {
  readonly chainId: ChainId;
  readonly address: Address;
  readonly symbol: string;
  /** The symbol for display: that of a principal token lacks the date. */
  readonly displaySymbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly isNative: boolean;
  readonly category: CollateralCategory;
  readonly project?: string | undefined;
  readonly yieldSource?: string | undefined;
  readonly description?: string | undefined;
  readonly coingeckoId?: string | undefined;
  readonly stableIndexId?: string | undefined;
  readonly defillamaId?: string | undefined;
  readonly apySource: CollateralApySource;
  readonly onchainRate?: 'str' | 'vsr' | undefined;
  readonly isPt: boolean;
  /** Unix seconds; absent on tokens that do not mature. */
  readonly maturity?: number | undefined;
  readonly underlying?: { readonly address: Address; readonly symbol: string } | undefined;
  readonly noSwapRoute: boolean;
  readonly resetsApproval: boolean;
  /** Curated; absent = not known. */
  readonly points?: TokenPoints | undefined;
}

/** What is known of an off-chain points program on a token. */
export interface TokenPoints {
  /** `null` = there is none. */
  readonly program: { readonly program: string; readonly perDayPerCollateralToken: number } | null;
  /** The page that says so. */
  readonly sourceUrl: string;
  /** The day on which it was read, ms. */
  readonly checkedAtMs: number;
}

/** One Morpho Blue market; `id` is the checked hash of the five parameters. */
export interface Market {
  readonly chainId: ChainId;
  readonly id: MarketId;
  /** `loop`: a leverage strategy of its own; `stock`: the stock leg of equity vaults. */
  readonly kind: 'loop' | 'stock';
  readonly collateral: Token;
  readonly loan: Token;
  readonly oracle: Address;
  readonly irm: Address;
  /** Liquidation loan-to-value in WAD. */
  readonly lltv: bigint;
  readonly correlated: boolean;
  readonly curator?: string | undefined;
}

export interface EquityVault {
  readonly chainId: ChainId;
  readonly id: StrategyId;
  readonly stockMarket: Market;
  readonly stock: Token;
  readonly depositToken: Token;
  readonly curator: string;
  /** Default stock-leg LTV in percent. */
  readonly targetLtvPct: string;
  readonly yieldMarket: Market;
}

export interface ChainContracts {
  readonly morphoBlue: Address;
  readonly adaptiveCurveIrm: Address;
  readonly multicall3: Address;
  readonly flashLeverage: Address;
  readonly flashLeverageRouter: Address;
  /** Absent where the protocol has no public allocator: reallocation is then unavailable. */
  readonly publicAllocator?: Address | undefined;
  /** Absent where equity vaults are not offered. */
  readonly equityRouter?: Address | undefined;
}

export interface Chain {
  readonly chainId: ChainId;
  readonly name: string;
  /** Block explorer, an https URL without a slash at its end. */
  readonly explorerUrl?: string | undefined;
  readonly contracts: ChainContracts;
  /** The stablecoin in which exits are quoted. */
  readonly stable: Token;
  readonly native: Token;
  readonly wrappedNative?: Token | undefined;
  readonly providers: {
    readonly kyberswap?: string | undefined;
    readonly openocean?: string | undefined;
    readonly geckoterminal?: string | undefined;
    readonly pendle?: boolean | undefined;
  };
  readonly swapRouters: Readonly<Partial<Record<SwapSource, readonly Address[]>>>;
  readonly tokens: readonly Token[];
  /** All markets: loops first, then the stock markets of the equity vaults. */
  readonly markets: readonly Market[];
  readonly equityVaults: readonly EquityVault[];
  /** Published heartbeats of the feeds behind oracles, seconds, by the feed's address; an unknown one is missing. */
  readonly heartbeatsSec: ReadonlyMap<Address, number>;
}

export interface Catalog {
  readonly chains: readonly Chain[];
  readonly chainIds: readonly ChainId[];
  chain(chainId: ChainId): Chain | undefined;
  market(chainId: ChainId, id: MarketId): Market | undefined;
  vault(chainId: ChainId, id: StrategyId): EquityVault | undefined;
  token(chainId: ChainId, address: Address): Token | undefined;
}
