import { FAILURE_REASONS, type FailureReason } from '../../domain/facts.ts';
import { isFailed } from '../../domain/portfolio/items.ts';
import type { PortfolioCounts } from '../../domain/portfolio/report.ts';
import type { FailedPortfolio } from '../../domain/portfolio/types.ts';
import { requestedPageSize } from '../../resolvers/common/page.ts';
import { listDocuments, type ReportList, type ReportWithAge } from '../../resolvers/ops/ops.ts';
import { MAX_CHAINS, MAX_FAILED_WALLETS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { FailureReasonRef } from '../common/freshness.ts';
import { MissingChainRef, pageArgs } from '../common/page.ts';
import { FreshnessRef, ReadAtRef } from '../common/stamp.ts';

const CountsRef = builder.objectRef<PortfolioCounts>('PortfolioCounts').implement({
  description: 'Numbers of the entries of a report.',
  fields: (t) => ({
    walletCount: t.exposeInt('users', { description: 'Number of wallets, unreadable ones included.' }),
    openLoopCount: t.exposeInt('open', { description: 'Number of open plain loops.' }),
    openVaultCount: t.exposeInt('equity', { description: 'Number of open equity vaults.' }),
    endedCount: t.exposeInt('closed', { description: 'Number of loops and vaults that have ended.' }),
    unresolvedCount: t.exposeInt('unresolved', { description: 'Number of rows without a position on chain.' }),
    driftCount: t.exposeInt('drift', { description: 'Number of disagreements between register and chain.' }),
    failedCount: t.exposeInt('failed', { description: 'Number of wallets that could not be read.' }),
  }),
});

const FailedPortfolioRef = builder.objectRef<FailedPortfolio>('FailedPortfolio').implement({
  description: 'A wallet that could not be read: it is in no list and no sum.',
  fields: (t) => ({
    wallet: t.expose('wallet', { type: 'Address', description: 'Address of the wallet.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    reason: t.field({
      type: FailureReasonRef,
      description: 'Reason of the failure.',
      resolve: ({ failure }) => reasonOf(failure.reason),
    }),
    message: t.string({ description: 'One plain sentence for people.', resolve: ({ failure }) => failure.message }),
  }),
});

const RecomputeFailureRef = builder.objectRef<NonNullable<ReportWithAge['failure']>>('RecomputeFailure').implement({
  description: 'Failure of the latest computation of a report.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Source without a usable answer: `chain` or `database`.' }),
    reason: t.field({
      type: FailureReasonRef,
      description: 'Reason of the failure.',
      resolve: ({ reason }) => reasonOf(reason),
    }),
    since: t.field({
      type: 'DateTime',
      description: 'Time at which the failing began.',
      resolve: ({ sinceMs }) => sinceMs,
    }),
  }),
});

/** Return the reason as one of the known ones; an unknown reason counts as `server_error`. */
function reasonOf(reason: string): FailureReason {
  return FAILURE_REASONS.find((known) => known === reason) ?? 'server_error';
}

const DocumentConnectionRef = builder.connectionObject(
  { type: 'PortfolioDocument', name: 'PortfolioDocumentConnection', description: 'A page of wallets as documents.' },
  { name: 'PortfolioDocumentEdge', description: 'A wallet as one document, and its place in the list.' },
);

const ReportRef = builder.objectRef<ReportWithAge>('PortfolioReport').implement({
  description: 'Every wallet of a chain, read at one block and cached for 60 seconds.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: 'Id of the chain.', resolve: ({ report }) => report.chainId }),
    readAt: t.field({
      type: ReadAtRef,
      description: 'Block at which everything was read.',
      resolve: ({ report }) => ({ blockNumber: report.blockNumber, blockTimeMs: report.asOfMs }),
    }),
    freshness: t.field({
      type: FreshnessRef,
      description: 'Age of the report since its computation; `FAILING` while a newer one cannot be computed.',
      resolve: ({ report, stale, degraded, staleAfterSec }) => ({
        asOfMs: report.computedAtMs,
        staleAfterSec,
        status: degraded && !stale ? ('failing' as const) : undefined,
      }),
    }),
    failure: t.expose('failure', {
      type: RecomputeFailureRef,
      nullable: true,
      description:
        'Failure of the latest computation: this is the last good report; `null` = the latest computation succeeded.',
    }),
    counts: t.field({
      type: CountsRef,
      description: 'Numbers of the entries.',
      resolve: ({ report }) => report.counts,
    }),
    failedWallets: t.field({
      type: [FailedPortfolioRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Wallets that could not be read, one entry per wallet, at most ${MAX_FAILED_WALLETS}; \`counts\` has the number of all.`,
      resolve: ({ report }) => report.entries.filter(isFailed).slice(0, MAX_FAILED_WALLETS),
    }),
    documents: t.field({
      type: DocumentConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: 10 * requestedPageSize(args) }),
      description:
        'Wallets in the order of their addresses, each as one document, unreadable wallets included. Typed fields of all of them take 3.5 times the work; `portfolios` has them in pages.',
      args: pageArgs(t.arg),
      resolve: (served, args, ctx) => listDocuments(served, args, ctx),
    }),
  }),
});

export const ReportListRef = builder.objectRef<ReportList>('PortfolioReports').implement({
  description: 'Reports of several chains.',
  fields: (t) => ({
    items: t.expose('reports', {
      type: [ReportRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Reports, one per chain, at most ${MAX_CHAINS}, in the order of the catalog.`,
    }),
    missingChains: t.expose('missingChains', {
      type: [MissingChainRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Requested chains without a report; one entry per served chain, at most ${MAX_CHAINS}.`,
    }),
  }),
});
