import type { SwapSource } from '../catalog/schema.ts';
import type { Chain, Token } from '../catalog/types.ts';
import type {
  BorrowHistory,
  CollateralApy,
  FailureReason,
  MarketIncentives,
  SharedLiquidity,
  StableIndexPool,
  UsdPrice,
} from '../domain/facts.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, Hex, MarketId } from '../shared/ids.ts';
import type { RateHistory } from '../shared/rate-history.ts';

/**
 * The ports that warmers and transactions use. One folder per provider implements them. A failure of the whole provider throws
 * `UpstreamError`; a missing or unusable part is in `failures` and never among the values.
 */

/** Values for many keys, and failure reasons for the others. Every requested key is in exactly one of the two. */
export interface Batch<T> {
  readonly values: ReadonlyMap<string, T>;
  readonly failures: ReadonlyMap<string, FailureReason>;
  /** Measurement times of values, ms, where the answer has them. */
  readonly measuredMs?: ReadonlyMap<string, number> | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether it is for a name that is not in the catalog: those have a smaller share of the provider's budget. */
  readonly isUnlisted?: boolean | undefined;
}

/** Collateral APY by token address (`yieldmarket`, `aggregator`, `incentivemarket`). */
export interface CollateralApySourcePort {
  readonly name: 'yieldmarket' | 'aggregator' | 'incentivemarket';
  apys(chain: Chain, tokens: readonly Token[], options?: CallOptions): Promise<Batch<CollateralApy>>;
}

/** The pools of the stablecoin yield index by id. */
export interface StableIndexPools extends Batch<StableIndexPool> {
  /** Assets of the failed pools: without them a token could be matched to another pool of its asset. Absent = not known. */
  readonly failedAssets?: ReadonlyMap<string, string> | undefined;
}

/** Stablecoin yield index: every pool with its history, keyed by pool id. Tokens are matched to pools by `resolvePool`. */
export interface StableIndexPort {
  /** The list of pools; histories are fetched only for the ids in `withHistory`. */
  pools(
    withHistory: (pool: { id: string; asset: string }) => boolean,
    options?: CallOptions,
  ): Promise<StableIndexPools>;
}

/** What an account has earned in one token by the record of the incentive provider. Base units. */
export interface EarnedReward {
  readonly token: { readonly address: Address; readonly symbol: string; readonly decimals: number };
  /** Credited so far, what was claimed included. */
  readonly accrued: bigint;
  readonly claimed: bigint;
  /** Earned, and not credited yet. */
  readonly pending: bigint;
}

/** Rewards of accounts. */
export interface RewardsPort {
  /** The rewards of an account on a chain, one per token; empty = it has earned none. @throws UpstreamUnavailableError */
  earned(chainId: ChainId, account: Address, options?: CallOptions): Promise<readonly EarnedReward[]>;
}

/** Borrow and collateral incentives by market id. */
export interface IncentivesPort {
  live(chain: Chain, marketIds: readonly MarketId[], options?: CallOptions): Promise<Batch<MarketIncentives>>;
  /** The listed campaigns that have ended. The list may be incomplete. */
  ended(
    chain: Chain,
    marketIds: readonly MarketId[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<MarketId, MarketIncentives>>;
  /** APR over time of each campaign, by its id: a step function in percent. */
  history(campaignIds: readonly string[], options?: CallOptions): Promise<Batch<RateHistory>>;
}

/**
 * USD prices of tokens of any chain, by `priceKey`: chains may have the same addresses. Only tokens with an id at the provider are
 * requested; the others fail as `not_configured`.
 */
export interface PricePort {
  readonly name: 'coingecko' | 'defillama';
  usdPrices(tokens: readonly Token[], options?: CallOptions): Promise<Batch<UsdPrice>>;
}

/** Key of a token in the answers of `PricePort`. */
export function priceKey({ chainId, address }: Pick<Token, 'chainId' | 'address'>): string {
  return `${chainId}:${address}`;
}

/** The lending protocol's public indexer: a secondary source. */
export interface LendingIndexerPort {
  sharedLiquidity(chain: Chain, marketIds: readonly MarketId[], options?: CallOptions): Promise<Batch<SharedLiquidity>>;
  borrowHistory(chain: Chain, marketIds: readonly MarketId[], options?: CallOptions): Promise<Batch<BorrowHistory>>;
}

/** Purposes of a quote: a number to look at, or a transaction to sign. */
export type QuotePurpose = 'preview' | 'build';

/**
 * Time for one request to a venue by purpose, ms. A route is checked and simulated by the provider before it is built, for which
 * it may take 20 s. The sweep of exit sizes, which nobody waits for, has the timeout of the provider.
 */
export const QUOTE_REQUEST_MS: Readonly<Record<QuotePurpose, number>> = { preview: 4_000, build: 20_000 };

export interface QuoteOptions extends CallOptions {
  /** Default: preview. */
  readonly purpose?: QuotePurpose | undefined;
}

export interface RouteRequest {
  readonly chain: Chain;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Base units of `tokenIn`; the zero address is the native token. */
  readonly amountIn: bigint;
}

/** Expected result of a sale, without calldata. `null` = the provider has no route. */
export interface RoutePort {
  route(
    request: RouteRequest,
    options?: CallOptions,
  ): Promise<{
    readonly amountOut: bigint;
    readonly amountOutUsd?: Decimal | undefined;
    /** Time of the quote by the provider, ms; absent = it gives none. */
    readonly quotedMs?: number | undefined;
  } | null>;
}

export interface SwapRequest extends RouteRequest {
  readonly sender: Address;
  readonly recipient: Address;
  /** Ratio, e.g. 0.005. */
  readonly slippage: Decimal;
  /** Referral fee taken from the input, basis points; 0 = none. */
  readonly feeBps: number;
  readonly feeReceiver?: Address | undefined;
}

export interface SwapQuote {
  readonly source: SwapSource;
  readonly amountIn: bigint;
  /** Expected output after the fee, base units of `tokenOut`. */
  readonly amountOut: bigint;
  /** Referral fee inside the quote, basis points of the input, including the venue's share of it. */
  readonly feeBps: number;
  readonly router: Address;
  readonly calldata: Hex;
  /** Native value to send with the call; 0 for ERC-20 input. */
  readonly value: bigint;
  readonly expiresAtMs: number;
  /** When the venues were asked, ms; only of previews, which may use a quote again. */
  readonly quotedAtMs?: number | undefined;
}

/** A venue that returns executable calldata. `null` = no route. */
export interface SwapQuotePort {
  readonly source: SwapSource;
  /** Whether the venue serves this pair at all (its chain, and for `YieldMarket` a principal token on one side). */
  serves(request: RouteRequest): boolean;
  quote(request: SwapRequest, options?: QuoteOptions): Promise<SwapQuote | null>;
}

/** Points of `[ms, value]`. */
export interface PriceChart {
  readonly prices: readonly (readonly [number, number])[];
  readonly marketCaps: readonly (readonly [number, number])[];
  readonly totalVolumes: readonly (readonly [number, number])[];
}

export interface PriceChartPort {
  /** `null` = the provider does not know the coin. */
  chart(
    coinId: string,
    days: number,
    currency: string,
    options?: CallOptions,
  ): Promise<PriceChart | 'unknown_currency' | null>;
}

const TIMEFRAMES = ['minute', 'hour', 'day'] as const;
export type Timeframe = (typeof TIMEFRAMES)[number];

export interface DexPool {
  readonly address: string;
  readonly name: string;
  readonly dex: string;
  readonly reserveUsd: Decimal;
  /** Side of the pool that the requested token is on. */
  readonly side: 'base' | 'quote';
}

export interface OhlcvRow {
  /** Unix seconds. */
  readonly t: number;
  readonly o: number;
  readonly h: number;
  readonly l: number;
  readonly c: number;
  readonly v: number;
  /** Its volume is too small for its prices to be those of the pool. */
  readonly isUnbacked: boolean;
}

export interface OhlcvPort {
  /** The deepest pool with the token; `null` = no pool with a reserve is indexed. */
  deepestPool(chain: Chain, token: Address, options?: CallOptions): Promise<DexPool | null>;
  /** Oldest first; malformed rows are dropped and counted. */
  candles(
    chain: Chain,
    pool: DexPool,
    query: { readonly timeframe: Timeframe; readonly aggregate: number; readonly limit: number },
    options?: CallOptions,
  ): Promise<{ readonly candles: readonly OhlcvRow[]; readonly dropped: number }>;
}
