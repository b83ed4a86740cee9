import type { Drift } from '../../domain/drift/types.ts';
import type { PortfolioAggregates } from '../../domain/portfolio/aggregates.ts';
import { pageOfEntries } from '../../domain/portfolio/entries.ts';
import { driftOf } from '../../domain/portfolio/items.ts';
import {
  type DriftFilter,
  type ItemFilter,
  type Listed,
  queryDrift,
  queryItems,
  queryPortfolios,
} from '../../domain/portfolio/query.ts';
import { type PortfolioDocument, renderEntry } from '../../domain/portfolio/render.ts';
import type { PortfolioReport, PortfolioSample } from '../../domain/portfolio/report.ts';
import type { Portfolio, PortfolioItem } from '../../domain/portfolio/types.ts';
import type { DriftFilterInput, PortfolioFilter, PortfolioOrderInput } from '../../schema/ops/ops-inputs.ts';
import { BadRequestError, NotFoundError, NotReadyError, UpstreamUnavailableError } from '../../shared/errors.ts';
import type { Address, ChainId, MarketId } from '../../shared/ids.ts';
import { pageWindow } from '../../shared/page-window.ts';
import { inTurns } from '../../shared/turns.ts';
import { ageOf, momentOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { type FieldPath, type FreshArgs, readFresh } from '../common/fresh-reads.ts';
import { MAX_PAGE_SIZE, type Page, type PageArgs, toPage } from '../common/page.ts';
import type { PinnedBlock } from '../common/read-services.ts';
import { type MissingChain, notReadyChain, readComposed, requireChain, selectChains } from '../market/chains.ts';
import type { ServedReport } from './ops-services.ts';

type Maybe<T> = T | null | undefined;

interface ListArgs extends PageArgs {
  readonly chainIds?: Maybe<readonly ChainId[]>;
  readonly filter?: Maybe<PortfolioFilter>;
  readonly orderBy?: Maybe<PortfolioOrderInput>;
}

interface OpsPage<T> extends Page<T> {
  /** Of the oldest report. */
  readonly asOfMs: number | null;
  /** Requested chains without a report. */
  readonly missingChains?: readonly MissingChain[];
}

/** Reports of the requested chains, and the chains without one. */
export interface ReportList {
  readonly reports: readonly ReportWithAge[];
  readonly missingChains: readonly MissingChain[];
}

export interface ReportAggregates extends PortfolioAggregates {
  readonly missingChains: readonly MissingChain[];
}

/** A report with its age and the success of the latest recompute. */
export interface ReportWithAge extends ServedReport {
  /** Its budget. */
  readonly staleAfterSec: number;
  /** Older than its budget. */
  readonly stale: boolean;
  /** The latest recompute failed. */
  readonly degraded: boolean;
}

const DEFAULT_PORTFOLIO_ORDER = { field: 'value', direction: 'desc' } as const;

/**
 * Read the reports of chains. A chain without one is reported, and the others are answered.
 * @throws BadRequestError; NotReadyError, ChainReadError, UpstreamUnavailableError when no requested chain has one
 */
export async function readReportList(
  { chainIds }: { readonly chainIds?: Maybe<readonly ChainId[]> },
  ctx: AppContext,
  field = 'chainIds',
): Promise<ReportList> {
  const chains = selectChains(ctx, chainIds, field);
  const read = await Promise.allSettled(chains.map(({ chainId }) => readReport({ chainId }, ctx)));
  const reports: ReportWithAge[] = [];
  const missingChains: MissingChain[] = [];
  for (const [i, one] of read.entries()) {
    const chainId = chains[i]?.chainId;
    if (one.status === 'fulfilled') reports.push(one.value);
    else if (chainId !== undefined) missingChains.push(missingChain(chainId, one.reason));
  }
  const [first] = read;
  if (reports.length === 0 && first?.status === 'rejected') throw first.reason;
  return { reports, missingChains };
}

/** @throws any error that is not a failure of the chain or of the database */
function missingChain(chainId: ChainId, reason: unknown): MissingChain {
  if (reason instanceof NotReadyError) return notReadyChain(chainId, reason);
  if (!(reason instanceof UpstreamUnavailableError)) throw reason;
  const { message, retryAfterSec = null } = reason;
  return { chainId, reason: 'upstream_unavailable', message, retryAfterSec, waitingFor: [] };
}

/** Read the report of a chain with its age. @throws as `readReportList` */
async function readReport({ chainId }: { readonly chainId: ChainId }, ctx: AppContext): Promise<ReportWithAge> {
  requireChain(ctx, chainId);
  readComposed(ctx, chainId);
  const served = await ctx.loaders.report.load(chainId);
  const stamp = { asOfMs: served.report.computedAtMs, staleAfterSec: ctx.services.budgets.opsPortfolios };
  const { stale } = ageOf(stamp, momentOf(ctx));
  return { ...served, staleAfterSec: stamp.staleAfterSec, stale, degraded: served.failure !== null };
}

/** Render a page of the wallets of a report as the v1 contract shows them. @throws BadRequestError */
export async function listDocuments(
  served: ServedReport,
  args: PageArgs,
  ctx: AppContext,
): Promise<OpsPage<PortfolioDocument>> {
  const listed = pageOfEntries(served.report, pageOfArgs(args, Math.min(ctx.maxPageSize, MAX_PAGE_SIZE)));
  const edges: { cursor: string; node: PortfolioDocument }[] = [];
  for await (const { cursor, node } of inTurns(listed.edges)) edges.push({ cursor, node: renderEntry(node) });
  return { ...toPage(edges, listed), asOfMs: served.report.computedAtMs };
}

/** Read one wallet now. @throws BadRequestError, NotReadyError, ChainReadError, UpstreamUnavailableError */
export async function readPortfolio(
  { address, chainId, block }: PortfolioArgs & { readonly block?: PinnedBlock | undefined },
  ctx: AppContext,
): Promise<Portfolio> {
  requireChain(ctx, chainId);
  readComposed(ctx, chainId);
  return ctx.loaders.portfolio.load({ chainId, wallet: address, block });
}

interface PortfolioArgs {
  readonly address: Address;
  readonly chainId: ChainId;
}

/** Read one wallet as fresh as required. @throws as `readPortfolio` and `readFresh` */
export function freshPortfolio(
  args: PortfolioArgs & FreshArgs,
  ctx: AppContext,
  info: FieldPath,
): Promise<Portfolio> | Portfolio {
  const chainIds = () => [requireChain(ctx, args.chainId).chainId];
  return readFresh(info, args, chainIds, 'live', ctx, (blocks) =>
    readPortfolio({ ...args, block: blocks.get(args.chainId) }, ctx),
  );
}

/** Read a disagreement now. @throws as `readPortfolio`, and NotFoundError when register and chain agree */
export async function readDrift(
  { chainId, wallet, positionIndex }: Pick<Drift, 'chainId' | 'wallet' | 'positionIndex'>,
  ctx: AppContext,
): Promise<Drift> {
  const portfolio = await readPortfolio({ address: wallet, chainId }, ctx);
  const found = driftOf(portfolio).find((drift) => drift.positionIndex === positionIndex);
  if (found) return found;
  const id = `${chainId} ${wallet} ${positionIndex}`;
  throw new NotFoundError(
    `Register and chain agree about position ${positionIndex} of ${wallet} on chain ${chainId}.`,
    {
      resource: 'drift',
      id,
    },
  );
}

/** List wallets by their holdings. @throws as `readReportList` */
export async function listPortfolios(args: ListArgs, ctx: AppContext): Promise<OpsPage<Portfolio>> {
  const list = await readReportList(args, ctx);
  return pageOf(list, queryPortfolios(reportsOf(list), listQuery(args, ctx)), (portfolio) => portfolio);
}

/** List the loops and vaults of all wallets. @throws as `readReportList` */
export async function listItems(
  args: ListArgs & { readonly isWhole?: boolean | undefined },
  ctx: AppContext,
): Promise<OpsPage<PortfolioItem>> {
  const list = await readReportList(args, ctx);
  const query = { ...listQuery(args, ctx), isWhole: args.isWhole };
  return pageOf(list, queryItems(reportsOf(list), query), ({ item }) => item);
}

/** List disagreements between register and chain. @throws as `readReportList` */
export async function listDrift(
  args: PageArgs & {
    readonly chainIds?: Maybe<readonly ChainId[]>;
    readonly filter?: Maybe<DriftFilterInput>;
    readonly items?: Maybe<PortfolioFilter>;
  },
  ctx: AppContext,
): Promise<OpsPage<Drift>> {
  const list = await readReportList(args, ctx);
  const found = queryDrift(
    reportsOf(list),
    given(args.filter ?? {}) as DriftFilter,
    pageOfArgs(args, ctx.maxPageSize),
    given(args.items ?? {}) as ItemFilter,
  );
  return pageOf(list, found, (drift) => drift);
}

/** Sum the matching entries. @throws as `readReportList` */
export async function readAggregates(
  { filter, ...on }: Pick<ListArgs, 'chainIds' | 'filter'>,
  ctx: AppContext,
): Promise<ReportAggregates> {
  const list = await readReportList(on, ctx);
  const aggregates = await ctx.live().ops.aggregate(reportsOf(list), given(filter ?? {}) as ItemFilter);
  return { ...aggregates, missingChains: list.missingChains };
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

function reportsOf({ reports }: ReportList): readonly PortfolioReport[] {
  return reports.map(({ report }) => report);
}

function listQuery(args: ListArgs, ctx: AppContext) {
  const { field: order, direction } = args.orderBy ?? DEFAULT_PORTFOLIO_ORDER;
  return {
    filter: given(args.filter ?? {}) as ItemFilter,
    order,
    direction,
    ...pageOfArgs(args, ctx.maxPageSize),
  };
}

/** Read the requested page. @throws BadRequestError */
function pageOfArgs(args: PageArgs, max: number) {
  const { after, before } = args;
  return {
    window: pageWindow(args, max),
    after: after ?? undefined,
    before: before ?? undefined,
  };
}

/** Leave out absent values. */
function given(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value != null));
}

function pageOf<N, T>(list: ReportList, listed: Listed<N>, nodeOf: (node: N) => T): OpsPage<T> {
  const edges = listed.edges.map(({ cursor, node }) => ({ cursor, node: nodeOf(node) }));
  const asOfMs = oldestOf(reportsOf(list).map(({ computedAtMs }) => computedAtMs));
  return { ...toPage(edges, listed), asOfMs, missingChains: list.missingChains };
}

function oldestOf(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.min(...times);
}
