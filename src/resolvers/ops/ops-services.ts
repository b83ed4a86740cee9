import type { PortfolioAggregates } from '../../domain/portfolio/aggregates.ts';
import type { ItemFilter } from '../../domain/portfolio/query.ts';
import type { PortfolioReport, PortfolioSample } from '../../domain/portfolio/report.ts';
import type { Portfolio } from '../../domain/portfolio/types.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { PinnedBlock } from '../common/read-services.ts';

/** A report as it is served: the newest good one, and whether making a newer one failed. */
export interface ServedReport {
  readonly report: PortfolioReport;
  /** The latest recompute failed; this is the last good report. `null` = it did not. */
  readonly failure: { readonly provider: string; readonly reason: string; readonly sinceMs: number } | null;
}

/** Every wallet's portfolio, joined with the register. */
export interface OpsPort {
  /**
   * The report of a chain, kept for its budget. One recompute at a time; while it fails the last good report is served.
   * @throws AppError of the failed computation, while there is no good report yet
   */
  report(chainId: ChainId): Promise<ServedReport>;
  /**
   * Wallets, read now or at a given block, in a constant number of requests and statements. A wallet that cannot be read has its error in the answer.
   * @throws ChainReadError, UpstreamUnavailableError
   */
  live(
    chainId: ChainId,
    wallets: readonly Address[],
    block?: PinnedBlock,
  ): Promise<ReadonlyMap<Address, Portfolio | Error>>;
  /** Sum everything that matches, in pages between other work. */
  aggregate(reports: readonly PortfolioReport[], filter: ItemFilter): Promise<PortfolioAggregates>;
  /** Totals over time, oldest first. @throws UpstreamUnavailableError */
  history(chainIds: readonly ChainId[], fromMs: number): Promise<readonly PortfolioSample[]>;
}

export interface OpsServices {
  readonly ops: OpsPort;
}
