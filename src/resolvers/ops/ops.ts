import type { Drift, DriftKind, DriftSeverity } from '../../domain/drift/types.ts';
import type { PortfolioAggregates } from '../../domain/portfolio/aggregates.ts';
import { pageOfEntries } from '../../domain/portfolio/entries.ts';
import {
  type Direction,
  type DriftFilter,
  type ItemFilter,
  type Listed,
  type PortfolioOrder,
  queryDrift,
  queryItems,
  queryPortfolios,
} from '../../domain/portfolio/query.ts';
import { type PortfolioDocument, renderEntry } from '../../domain/portfolio/render.ts';
import type { PortfolioReport, PortfolioSample } from '../../domain/portfolio/report.ts';
import type { Portfolio, PortfolioItem } from '../../domain/portfolio/types.ts';
import type { PositionStatus } from '../../domain/position/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address, ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import { inPages } from '../../shared/pages.ts';
import { ageOf, momentOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { MAX_PAGE_SIZE, type Page, type PageArgs, pageSize, toPage } from '../common/page.ts';
import { readComposed, requireChain, selectChains } from '../market/chains.ts';
import type { ServedReport } from './ops-services.ts';

type Maybe<T> = T | null | undefined;

export interface PortfolioFilterInput {
  readonly chainIds?: Maybe<readonly ChainId[]>;
  readonly statuses?: Maybe<readonly PositionStatus[]>;
  readonly wallets?: Maybe<readonly Address[]>;
  readonly marketIds?: Maybe<readonly MarketId[]>;
  readonly strategyIds?: Maybe<readonly StrategyId[]>;
  readonly vaultIds?: Maybe<readonly StrategyId[]>;
  readonly driftKinds?: Maybe<readonly DriftKind[]>;
  readonly minValueUsd?: Maybe<Decimal>;
  readonly minLtvHeadroomPct?: Maybe<Decimal>;
  readonly maxLtvHeadroomPct?: Maybe<Decimal>;
}

export interface DriftFilterInput {
  readonly chainIds?: Maybe<readonly ChainId[]>;
  readonly kinds?: Maybe<readonly DriftKind[]>;
  readonly severities?: Maybe<readonly DriftSeverity[]>;
  readonly wallets?: Maybe<readonly Address[]>;
  readonly marketIds?: Maybe<readonly MarketId[]>;
}

export interface ListArgs extends PageArgs {
  readonly filter?: Maybe<PortfolioFilterInput>;
  readonly orderBy?: Maybe<{ readonly field: PortfolioOrder; readonly direction: Direction }>;
}

export interface OpsPage<T> extends Page<T> {
  /** Of the oldest report. */
  readonly asOfMs: number | null;
}

/** A report as it is shown. */
export interface ShownReport extends ServedReport {
  readonly ageSec: number;
  /** Older than its budget. */
  readonly stale: boolean;
  /** The latest recompute failed. */
  readonly degraded: boolean;
}

export const DEFAULT_PORTFOLIO_ORDER = { field: 'value', direction: 'desc' } as const;

/** Read the reports of chains. @throws BadRequestError, NotReadyError, ChainReadError, UpstreamUnavailableError */
export async function readReports(
  { chainIds }: { readonly chainIds?: Maybe<readonly ChainId[]> },
  ctx: AppContext,
): Promise<ShownReport[]> {
  const chains = selectChains(ctx, chainIds);
  return Promise.all(chains.map(({ chainId }) => readReport({ chainId }, ctx)));
}

/** Read the report of a chain with its age. @throws as `readReports` */
export async function readReport({ chainId }: { readonly chainId: ChainId }, ctx: AppContext): Promise<ShownReport> {
  requireChain(ctx, chainId);
  readComposed(ctx, chainId);
  const served = await ctx.loaders.report.load(chainId);
  const stamp = { asOfMs: served.report.computedAtMs, staleAfterSec: ctx.services.budgets.opsPortfolios };
  const { ageSec, stale } = ageOf(stamp, momentOf(ctx));
  return { ...served, ageSec, stale, degraded: served.failure !== null };
}

/** Rendered in some milliseconds: other requests run between. */
const WALLETS_PER_STEP = 20;

/** Render a page of the wallets of a report as the v1 contract shows them. @throws BadRequestError */
export async function listDocuments(
  served: ServedReport,
  { first, after }: PageArgs,
  ctx: AppContext,
): Promise<OpsPage<PortfolioDocument>> {
  const size = pageSize(first, Math.min(ctx.maxPageSize, MAX_PAGE_SIZE));
  const listed = pageOfEntries(served.report, { first: size, after });
  const edges: { cursor: string; node: PortfolioDocument }[] = [];
  for await (const step of inPages(listed.edges, WALLETS_PER_STEP)) {
    edges.push(...step.map(({ cursor, node }) => ({ cursor, node: renderEntry(node) })));
  }
  return { ...toPage(edges, listed), asOfMs: served.report.computedAtMs };
}

/** Read one wallet now. @throws BadRequestError, NotReadyError, ChainReadError, UpstreamUnavailableError */
export async function readPortfolio(
  { address, chainId }: { readonly address: Address; readonly chainId: ChainId },
  ctx: AppContext,
): Promise<Portfolio> {
  requireChain(ctx, chainId);
  readComposed(ctx, chainId);
  return ctx.loaders.portfolio.load({ chainId, wallet: address });
}

/** List wallets by what they hold. @throws as `readReports` */
export async function listPortfolios(args: ListArgs, ctx: AppContext): Promise<OpsPage<Portfolio>> {
  const reports = await readReports({ chainIds: args.filter?.chainIds }, ctx);
  return pageOf(reports, queryPortfolios(reportsOf(reports), listQuery(args, ctx)), (portfolio) => portfolio);
}

/** List loops and vaults, whoever holds them. @throws as `readReports` */
export async function listItems(args: ListArgs, ctx: AppContext): Promise<OpsPage<PortfolioItem>> {
  const reports = await readReports({ chainIds: args.filter?.chainIds }, ctx);
  return pageOf(reports, queryItems(reportsOf(reports), listQuery(args, ctx)), ({ item }) => item);
}

/** List disagreements between register and chain. @throws as `readReports` */
export async function listDrift(
  args: PageArgs & { readonly filter?: Maybe<DriftFilterInput> },
  ctx: AppContext,
): Promise<OpsPage<Drift>> {
  const reports = await readReports({ chainIds: args.filter?.chainIds }, ctx);
  const { chainIds: _chains, ...filter } = args.filter ?? {};
  const page = { first: pageSize(args.first, ctx.maxPageSize), ...(args.after == null ? {} : { after: args.after }) };
  return pageOf(reports, queryDrift(reportsOf(reports), given(filter) as DriftFilter, page), (drift) => drift);
}

/** Sum what matches. @throws as `readReports` */
export async function readAggregates(
  { filter }: { readonly filter?: Maybe<PortfolioFilterInput> },
  ctx: AppContext,
): Promise<PortfolioAggregates> {
  const reports = await readReports({ chainIds: filter?.chainIds }, ctx);
  return ctx.live().ops.aggregate(reportsOf(reports), toFilter(filter ?? {}));
}

export const MAX_HISTORY_DAYS = 400;
const DAY_MS = 86_400_000;

/** Read totals over time. @throws BadRequestError, UpstreamUnavailableError */
export async function readPortfolioHistory(
  { chainIds, days }: { readonly chainIds?: Maybe<readonly ChainId[]>; readonly days: number },
  ctx: AppContext,
): Promise<readonly PortfolioSample[]> {
  if (!Number.isInteger(days) || days < 1 || days > MAX_HISTORY_DAYS) {
    throw new BadRequestError(`days is ${days}. Send 1 to ${MAX_HISTORY_DAYS}.`, {
      field: 'days',
      value: String(days),
      limit: { min: 1, max: MAX_HISTORY_DAYS },
    });
  }
  const chains = selectChains(ctx, chainIds).map(({ chainId }) => chainId);
  return ctx.live().ops.history(chains, momentOf(ctx) - days * DAY_MS);
}

/** Find the symbols of a market or of the stock of a vault; `null` when it is not in the catalog. */
export function symbolsOf(
  { chainId, marketId, isVault }: { readonly chainId: ChainId; readonly marketId: MarketId; readonly isVault: boolean },
  ctx: AppContext,
): string | null {
  const market = ctx.services.catalog.market(chainId, marketId);
  if (!market) return null;
  return isVault ? market.collateral.displaySymbol : `${market.collateral.displaySymbol}/${market.loan.symbol}`;
}

function reportsOf(served: readonly ServedReport[]): readonly PortfolioReport[] {
  return served.map(({ report }) => report);
}

function listQuery(args: ListArgs, ctx: AppContext) {
  const { field: order, direction } = args.orderBy ?? DEFAULT_PORTFOLIO_ORDER;
  return {
    filter: toFilter(args.filter ?? {}),
    order,
    direction,
    first: pageSize(args.first, ctx.maxPageSize),
    ...(args.after == null ? {} : { after: args.after }),
  };
}

function toFilter({
  chainIds: _chains,
  minLtvHeadroomPct,
  maxLtvHeadroomPct,
  ...rest
}: PortfolioFilterInput): ItemFilter {
  return given({ ...rest, minHeadroomPct: minLtvHeadroomPct, maxHeadroomPct: maxLtvHeadroomPct }) as ItemFilter;
}

/** Leave out what was not given. */
function given(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value != null));
}

function pageOf<N, T>(reports: readonly ServedReport[], listed: Listed<N>, nodeOf: (node: N) => T): OpsPage<T> {
  const edges = listed.edges.map(({ cursor, node }) => ({ cursor, node: nodeOf(node) }));
  const times = reports.map(({ report }) => report.computedAtMs);
  return { ...toPage(edges, listed), asOfMs: times.length === 0 ? null : Math.min(...times) };
}
