import type { Catalog, Market, Token } from '../../catalog/types.ts';
import type { FailureReason } from '../../domain/facts.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { ProviderName } from '../../upstreams/config.ts';
import type { AdapterDeps } from '../../upstreams/http.ts';

/** What is asked of a provider follows from the catalog alone, so that a recording can be asked the same again. */
export interface SurfaceContext {
  readonly catalog: Catalog;
  readonly nowMs: number;
  /** Receiver of the referral fee, as configured. */
  readonly feeReceiver: Address | undefined;
}

/** What an adapter made of the answers: a value or the reason of its absence, for everything that was asked. */
export type CheckOutcome = ReadonlyMap<string, ReportedValue>;
export type ReportedValue =
  | { readonly ok: true; readonly value: unknown; readonly measures: readonly Measure[] }
  | { readonly ok: false; readonly reason: FailureReason };

/** One number of an answer, with what it can be held against. */
export type Measure =
  | { readonly kind: 'rate'; readonly pct: Decimal }
  | { readonly kind: 'price'; readonly token: Token; readonly usd: Decimal }
  /** Sale of loan tokens of a market for its collateral. */
  | { readonly kind: 'quote'; readonly market: Market; readonly amountIn: bigint; readonly amountOut: bigint };

/** One thing that the service asks of a provider, with the service's own adapter. */
export interface ProviderSurface {
  readonly provider: ProviderName;
  /** E.g. `quote`. */
  readonly name: string;
  /** Where the answers are of one chain. */
  readonly chainId?: ChainId;
  /** Name in errors of the adapter. */
  readonly publicName: string;
  /** Fields of a row that tell when it was observed; rows of numbers begin with theirs. `null` = nothing tells. */
  readonly timeFields: readonly string[] | null;
  /** How old the newest row may honestly be, seconds. */
  readonly maxAgeSec: number;
  /** Share of the items that it may honestly not know, such as a second source of what another one tells. Default: none. */
  readonly mayLack?: number;
  /** `undefined` = the catalog has nothing to ask for. @throws UpstreamError */
  readonly ask: (deps: AdapterDeps, context: SurfaceContext, signal?: AbortSignal) => Promise<CheckOutcome | undefined>;
}
