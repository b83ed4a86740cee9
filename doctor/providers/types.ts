import type { Catalog, Market, Token } from '../../src/catalog/types.ts';
import type { FailureReason } from '../../src/domain/facts.ts';
import type { Decimal } from '../../src/shared/decimal.ts';
import type { Address, ChainId } from '../../src/shared/ids.ts';
import type { AdapterDeps } from '../../src/upstreams/http.ts';
import type { ProviderName } from '../../src/upstreams/limits.ts';

/** Input of surfaces. Requests depend on the catalog and this context alone, so that a recording can be replayed. */
export interface SurfaceContext {
  readonly catalog: Catalog;
  readonly nowMs: number;
  /** Receiver of the referral fee, as configured. */
  readonly feeReceiver: Address | undefined;
}

/** The adapter's result: a value or a failure reason for every requested item. */
export type CheckOutcome = ReadonlyMap<string, ReportedValue>;
export type ReportedValue =
  | { readonly ok: true; readonly value: unknown; readonly measures: readonly Measure[] }
  | { readonly ok: false; readonly reason: FailureReason };

/** One number of an answer and its reference. */
export type Measure =
  | { readonly kind: 'rate'; readonly pct: Decimal }
  | { readonly kind: 'price'; readonly token: Token; readonly usd: Decimal }
  /** Quoted sale of a market's loan tokens for its collateral. */
  | { readonly kind: 'quote'; readonly market: Market; readonly amountIn: bigint; readonly amountOut: bigint };

/** One kind of request to a provider, through the service's own adapter. */
export interface ProviderSurface {
  readonly provider: ProviderName;
  /** E.g. `quote`. */
  readonly name: string;
  /** Set when the answers are of one chain. */
  readonly chainId?: ChainId | undefined;
  /** Name of the provider in errors of the adapter. */
  readonly publicName: string;
  /** Row fields with the observation time; numeric rows start with it. `null` = rows have none. */
  readonly timeFields: readonly string[] | null;
  /** Maximum plausible age of the newest row, seconds. */
  readonly maxAgeSec: number;
  /** Maximum plausible share of unknown items, such as for a secondary source. Default: none. */
  readonly mayLack?: number | undefined;
  /** Cadence of the refresh that makes exactly these requests; absent: they are for readers, or a sample of a refresh. */
  readonly cadence?: 'prices' | 'yieldmarketApy' | undefined;
  /**
   * `undefined` = the catalog has nothing to request.
   * @throws UpstreamError
   */
  readonly ask: (deps: AdapterDeps, context: SurfaceContext, signal?: AbortSignal) => Promise<CheckOutcome | undefined>;
}
