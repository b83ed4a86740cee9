import { driftOf, itemsOf, leastHeadroomPct } from '../../domain/portfolio/items.ts';
import { oldest } from '../../domain/portfolio/rows.ts';
import type {
  Portfolio,
  PortfolioHeader,
  PortfolioItem,
  PortfolioLoop,
  PortfolioVault,
  RegisteredPosition,
  UnresolvedRow,
} from '../../domain/portfolio/types.ts';
import type { PositionStatus } from '../../domain/position/types.ts';
import { pageByKey, requestedPageSize } from '../../resolvers/common/page.ts';
import { readPortfolio } from '../../resolvers/ops/ops.ts';
import { builder } from '../builder.ts';
import { defineNode } from '../common/node.ts';
import { measuredFields, pageArgs } from '../common/page.ts';
import { ReadAtRef } from '../common/stamp.ts';
import { EquityPositionRef } from '../equity/equity-position.ts';
import { DriftConnectionRef, DriftRef } from '../ops/drift.ts';
import { UnresolvedReasonRef } from '../ops/ops-inputs.ts';
import { TokenRef } from '../refs.ts';
import { PnlRef } from './pnl.ts';
import { PositionRef, PositionStatusRef } from './position.ts';

const RegistrationRef = builder.objectRef<RegisteredPosition>('PositionRegistration').implement({
  description: 'A position as the app registered it.',
  fields: (t) => ({
    wallet: t.expose('wallet', { type: 'Address', description: 'Owner.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'Market of the position.' }),
    positionIndex: t.exposeInt('positionIndex', {
      description: 'Index of the position in the array of the wallet on chain.',
    }),
    isOpen: t.exposeBoolean('isOpen', { description: 'Whether the position is registered as open.' }),
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', description: 'Deposit at the opening. USD. Signed.' }),
    addedUsd: t.expose('addedUsd', { type: 'Decimal', description: 'Later deposits. USD. Signed.' }),
    removedUsd: t.expose('removedUsd', {
      type: 'Decimal',
      description: 'Withdrawals while the position was open. USD. Signed.',
    }),
    returnedUsd: t.expose('returnedUsd', { type: 'Decimal', description: 'Withdrawal at the closing. USD. Signed.' }),
    openCollateralApyPct: t.expose('collateralApyPctAtOpen', {
      type: 'Decimal',
      nullable: true,
      description: 'APY of the collateral at the opening, percent; `null` = not registered. Signed.',
    }),
    openBorrowApyPct: t.expose('borrowApyPctAtOpen', {
      type: 'Decimal',
      nullable: true,
      description: 'Borrow APY at the opening, percent; `null` = not registered. Signed.',
    }),
    openLeverageApyPct: t.expose('leverageApyPctAtOpen', {
      type: 'Decimal',
      nullable: true,
      description: 'Leveraged APY at the opening, percent; `null` = not registered. Signed.',
    }),
    desiredLtvPct: t.expose('desiredLtvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Requested LTV, percent; `null` = not registered. Signed.',
    }),
    entryPrice: t.expose('entryPrice', {
      type: 'Decimal',
      nullable: true,
      description: 'Price at the opening, loan tokens per collateral token; `null` = not registered. Signed.',
    }),
    exitPrice: t.expose('exitPrice', {
      type: 'Decimal',
      nullable: true,
      description: 'Price at the closing, loan tokens per collateral token; `null` = not registered. Signed.',
    }),
    equityVaultId: t.expose('equityVaultId', {
      type: 'StrategyId',
      nullable: true,
      description: 'Equity vault whose yield loop the position is; `null` = a plain position.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Time of the registration; a future time is returned as now.',
      resolve: ({ createdAtMs }) => createdAtMs,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'Latest change of the row; a future time is returned as now.',
      resolve: ({ updatedAtMs }) => updatedAtMs,
    }),
    closedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the closing in the register; `null` = not closed, or a time that lies ahead.',
      resolve: ({ closedAtMs }) => closedAtMs,
    }),
  }),
});

const PortfolioLoopRef = builder.objectRef<PortfolioLoop>('PortfolioLoop').implement({
  description: 'A loop of a wallet together with its row of the register.',
  fields: (t) => ({
    position: t.expose('position', { type: PositionRef, description: 'Position on chain.' }),
    registration: t.expose('row', {
      type: RegistrationRef,
      nullable: true,
      description: 'Row of the register; `null` = there is none, see `drift`.',
    }),
    openedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the registration; `null` = not registered, or the register has a time that lies ahead.',
      resolve: ({ row }) => row?.openedAtMs ?? null,
    }),
    pnl: t.expose('pnl', { type: PnlRef, description: 'Profit and loss of the loop.' }),
    drift: t.expose('drift', {
      type: DriftRef,
      nullable: true,
      description: 'Disagreement between register and chain; `null` = they agree.',
    }),
  }),
});

const LoopConnectionRef = builder.connectionObject(
  { type: PortfolioLoopRef, name: 'PortfolioLoopConnection', description: 'A page of loops of a vault.' },
  { name: 'PortfolioLoopEdge', description: 'A loop and its place in the list.' },
);

const PortfolioVaultRef = builder.objectRef<PortfolioVault>('PortfolioVault').implement({
  description: 'Holdings of a wallet in an equity vault, open or ended, with the loops of the vault.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Owner.' }),
    vaultId: t.expose('vaultId', { type: 'StrategyId', description: 'Equity vault.' }),
    status: t.expose('status', {
      type: PositionStatusRef,
      description: 'Open, closed, or liquidated (one of its loops was).',
    }),
    stockToken: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The stock; `null` = the vault is not in the catalog.',
      resolve: ({ chainId, vaultId }, _args, ctx) => ctx.services.catalog.vault(chainId, vaultId)?.stock ?? null,
    }),
    leastLtvHeadroomPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Least points of LTV before liquidation over stock leg and loops; `null` = none is known, or ended.',
      resolve: leastHeadroomPct,
    }),
    equityPosition: t.expose('equity', {
      type: EquityPositionRef,
      nullable: true,
      description: 'Stock leg and loops as held now; `null` = the vault has ended.',
    }),
    loops: t.field({
      type: LoopConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description: 'Loops of the vault, newest first.',
      args: pageArgs(t.arg),
      resolve: ({ loops }, args, ctx) => pageByKey(loops, keyOfItem, args, ctx.maxPageSize),
    }),
    openedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time of the registration of the oldest loop; `null` = none is registered, or at a time that lies ahead.',
      resolve: ({ loops }) => oldest(loops.map(({ row }) => row?.openedAtMs ?? null)),
    }),
    pnl: t.expose('pnl', { type: PnlRef, description: 'Profit and loss of both legs together.' }),
  }),
});

const PortfolioItemRef = builder.unionType('PortfolioItem', {
  description: 'A loop, or an equity vault.',
  types: [PortfolioLoopRef, PortfolioVaultRef],
  resolveType: ({ kind }) => (kind === 'loop' ? PortfolioLoopRef : PortfolioVaultRef),
});

export const PortfolioItemConnectionRef = builder.connectionObject(
  {
    type: PortfolioItemRef,
    name: 'PortfolioItemConnection',
    description: 'A page of loops and vaults.',
    fields: (t) => ({
      asOf: t.field(measuredFields.asOf),
      missingChains: t.field(measuredFields.missingChains),
    }),
  },
  { name: 'PortfolioItemEdge', description: 'A loop or vault and its place in the list.' },
);

/** Name an entry of a portfolio among its others, for cursors. */
function keyOfItem(item: PortfolioItem): string {
  return item.kind === 'loop' ? `loop ${item.position.id}` : `vault ${item.vaultId}`;
}

function keyOfRow({ row }: UnresolvedRow): string {
  return `${row.marketId} ${row.positionIndex}`;
}

function statusOf(item: PortfolioItem): PositionStatus {
  return item.kind === 'loop' ? item.position.status : item.status;
}

const UnresolvedRowRef = builder.objectRef<UnresolvedRow>('UnresolvedRow').implement({
  description: 'A row of the register without a position on chain.',
  fields: (t) => ({
    reason: t.expose('reason', { type: UnresolvedReasonRef, description: 'Reason for the lack of a position.' }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
    registration: t.expose('row', { type: RegistrationRef, description: 'Row of the register.' }),
  }),
});

const UnresolvedConnectionRef = builder.connectionObject(
  { type: UnresolvedRowRef, name: 'UnresolvedRowConnection', description: 'A page of rows without a position.' },
  { name: 'UnresolvedRowEdge', description: 'A row and its place in the list.' },
);

const PortfolioHeaderRef = builder.objectRef<PortfolioHeader>('PortfolioHeader').implement({
  description: 'Deposits and number of open positions of a wallet.',
  fields: (t) => ({
    totalDepositedUsd: t.expose('totalDepositedUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Deposits of everything open, exact USD; `null` = one of them is not known. Signed.',
    }),
    openCount: t.exposeInt('openCount', { description: 'Number of open loops and vaults.' }),
  }),
});

export const PortfolioRef = builder.objectRef<Portfolio>('Portfolio');
defineNode(PortfolioRef, {
  key: ['chainId', 'address'],
  keyOf: ({ chainId, wallet }) => [chainId, wallet],
  load: ([chainId, address], ctx) => readPortfolio({ chainId, address }, ctx),
  scope: 'ops',
});

PortfolioRef.implement({
  description: 'All positions of a wallet on one chain, from chain and register, each of them once.',
  fields: (t) => ({
    wallet: t.expose('wallet', { type: 'Address', description: 'Owner.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    readAt: t.field({
      type: ReadAtRef,
      description: 'Block at which everything was read.',
      resolve: ({ block }) => ({ blockNumber: block.number, blockTimeMs: Number(block.timestamp) * 1_000 }),
    }),
    netValueUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Net value of everything open, exact USD, as in `pnl`: what is under water counts as 0. `null` = one value is not known, see `pnl { gaps }`.',
      resolve: ({ pnl }) => pnl.netValueUsd ?? null,
    }),
    header: t.expose('header', { type: PortfolioHeaderRef, description: 'Deposits and number of open positions.' }),
    pnl: t.expose('pnl', {
      type: PnlRef,
      description: 'Profit and loss over everything of the wallet, ended positions included.',
    }),
    items: t.field({
      type: PortfolioItemConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description:
        'Loops and vaults: open loops, open vaults, then the ended ones, each newest first. The loops of a vault are in the vault.',
      args: {
        statuses: t.arg({
          type: [PositionStatusRef],
          description: 'Only with one of these statuses; all when left out.',
        }),
        ...pageArgs(t.arg),
      },
      resolve: (portfolio, { statuses, ...args }, ctx) => {
        const wanted = itemsOf(portfolio).filter((item) => statuses == null || statuses.includes(statusOf(item)));
        return pageByKey(wanted, keyOfItem, args, ctx.maxPageSize);
      },
    }),
    unresolvedRows: t.field({
      type: UnresolvedConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description: 'Rows of the register without a position on chain.',
      args: pageArgs(t.arg),
      resolve: ({ unresolved }, args, ctx) => pageByKey(unresolved, keyOfRow, args, ctx.maxPageSize),
    }),
    disagreements: t.field({
      type: DriftConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description: 'Disagreements between register and chain, loops of vaults included.',
      args: pageArgs(t.arg),
      resolve: (portfolio, args, ctx) =>
        pageByKey(driftOf(portfolio), ({ positionIndex }) => String(positionIndex), args, ctx.maxPageSize),
    }),
    leftRouters: t.field({
      type: ['Address'],
      nullable: true,
      complexity: { field: 1, multiplier: 1 },
      description:
        'Routers that may act on its own lending positions, because a batch that let them was broken off before its last call; one entry per router, at most 1. `null` = not known.',
      resolve: ({ leftAuthorizations }) => leftAuthorizations && [...leftAuthorizations],
    }),
  }),
});
