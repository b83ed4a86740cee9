import { driftOf } from '../../domain/portfolio/items.ts';
import { renderEntry } from '../../domain/portfolio/render.ts';
import { oldest } from '../../domain/portfolio/rows.ts';
import type {
  Pnl,
  Portfolio,
  PortfolioHeader,
  PortfolioLoop,
  PortfolioVault,
  RegisteredPosition,
  UnresolvedRow,
} from '../../domain/portfolio/types.ts';
import { builder } from '../builder.ts';
import { GapRef } from '../common/stamp.ts';
import { EquityPositionRef } from '../equity/equity-position.ts';
import { DriftRef } from '../ops/drift.ts';
import { UnresolvedReasonRef } from '../ops/ops-inputs.ts';
import { PositionRef, PositionStatusRef } from './position.ts';

export const PnlRef = builder.objectRef<Pnl>('Pnl').implement({
  description:
    'What something has brought, exact USD without rounding. Amounts of plain positions are those of the chain, in loan tokens, at the price of the loan token now; those of vaults are the registered ones.',
  fields: (t) => ({
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', nullable: true, description: 'All that was put in.' }),
    returnedUsd: t.expose('returnedUsd', { type: 'Decimal', nullable: true, description: 'All that was taken out.' }),
    netValueUsd: t.expose('netValueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'What is left in it now; 0 once it has ended, and while it owes more than its collateral is worth.',
    }),
    badDebtUsd: t.expose('badDebtUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'What its loans owe beyond their collateral, which nobody has to pay; `null` with the net value, for its reason.',
    }),
    divergentUsd: t.expose('divergentUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The part of the net value that stands on an oracle far from what it can be compared with: see `warnings` of the position. `null` with the net value, for its reason.',
    }),
    baseResultUsd: t.expose('baseResultUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Net value + returned - deposited; `null` also where a part was sold before: what of the deposit went with it is not kept on chain.',
    }),
    incentivesUsd: t.expose('incentivesUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Accrued by the incentives of its market over its registered life; not part of the net value.',
    }),
    totalUsd: t.expose('totalUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Base result + incentives, before the fee of closing what is open.',
    }),
    yieldFeeUsd: t.expose('yieldFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'What closing everything that is open would pay as yield fee today; by the documented rate where the contract does not tell its own, see `gaps` of the position.',
    }),
    baseResultAfterFeeUsd: t.expose('baseResultAfterFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Base result - yield fee.',
    }),
    totalAfterFeeUsd: t.expose('totalAfterFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Total - yield fee.',
    }),
    returnOnEquityPct: t.expose('returnOnEquityPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Total over deposited, percent; `null` = see `gaps`.',
    }),
    gaps: t.expose('gaps', {
      type: [GapRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Every field that is `null`, and why.',
    }),
  }),
});

export const RegistrationRef = builder.objectRef<RegisteredPosition>('PositionRegistration').implement({
  description: 'A position as the app registered it. `null` = the app did not say.',
  fields: (t) => ({
    wallet: t.expose('wallet', { type: 'Address', description: 'The wallet.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'The market.' }),
    positionIndex: t.exposeInt('positionIndex', { description: 'Index in the array of the wallet on chain.' }),
    isOpen: t.exposeBoolean('isOpen', { description: 'Whether it is registered as open.' }),
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', description: 'Put in when it was opened, USD.' }),
    addedUsd: t.expose('addedUsd', { type: 'Decimal', description: 'Put in later, USD.' }),
    removedUsd: t.expose('removedUsd', { type: 'Decimal', description: 'Taken out while it was open, USD.' }),
    returnedUsd: t.expose('returnedUsd', { type: 'Decimal', description: 'Taken out when it was closed, USD.' }),
    collateralApyPctAtOpen: t.expose('collateralApyPctAtOpen', {
      type: 'Decimal',
      nullable: true,
      description: 'APY of the collateral at the opening, percent.',
    }),
    borrowApyPctAtOpen: t.expose('borrowApyPctAtOpen', {
      type: 'Decimal',
      nullable: true,
      description: 'Borrow APY at the opening, percent.',
    }),
    leverageApyPctAtOpen: t.expose('leverageApyPctAtOpen', {
      type: 'Decimal',
      nullable: true,
      description: 'Leveraged APY at the opening, percent.',
    }),
    desiredLtvPct: t.expose('desiredLtvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'LTV asked for, percent.',
    }),
    entryPrice: t.expose('entryPrice', { type: 'Decimal', nullable: true, description: 'Price at the opening.' }),
    exitPrice: t.expose('exitPrice', { type: 'Decimal', nullable: true, description: 'Price at the closing.' }),
    equityVaultId: t.expose('equityVaultId', {
      type: 'StrategyId',
      nullable: true,
      description: 'Equity vault that it is the yield loop of; `null` = a plain position.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was registered; a time that lies ahead is shown as now.',
      resolve: ({ createdAtMs }) => createdAtMs,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'Latest change of the row; a time that lies ahead is shown as now.',
      resolve: ({ updatedAtMs }) => updatedAtMs,
    }),
    closedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was registered as closed; `null` = it was not, or at a time that lies ahead.',
      resolve: ({ closedAtMs }) => closedAtMs,
    }),
  }),
});

export const PortfolioLoopRef = builder.objectRef<PortfolioLoop>('PortfolioLoop').implement({
  description: 'A loop of a wallet with what the register knows of it.',
  fields: (t) => ({
    position: t.expose('position', { type: PositionRef, description: 'The position on chain.' }),
    registration: t.expose('row', {
      type: RegistrationRef,
      nullable: true,
      description: 'Its row; `null` = there is none, see `drift`.',
    }),
    openedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was registered; `null` = it is not, or the register claims a time that lies ahead.',
      resolve: ({ row }) => row?.openedAtMs ?? null,
    }),
    pnl: t.expose('pnl', { type: PnlRef, description: 'What it has brought.' }),
    drift: t.expose('drift', {
      type: DriftRef,
      nullable: true,
      description: 'Where register and chain disagree; `null` = they agree.',
    }),
  }),
});

export const PortfolioVaultRef = builder.objectRef<PortfolioVault>('PortfolioVault').implement({
  description: 'An equity vault of a wallet, open or ended, with the loops that are its own.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Its owner.' }),
    vaultId: t.expose('vaultId', { type: 'StrategyId', description: 'The vault.' }),
    status: t.expose('status', {
      type: PositionStatusRef,
      description: 'Open, closed, or liquidated (one of its loops was).',
    }),
    stockSymbol: t.exposeString('stockSymbol', {
      nullable: true,
      description: 'Its stock; `null` = the vault is not in the catalog.',
    }),
    equityPosition: t.expose('equity', {
      type: EquityPositionRef,
      nullable: true,
      description: 'Its stock leg and loops as they are held; `null` once it has ended.',
    }),
    loops: t.expose('loops', {
      type: [PortfolioLoopRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Its loops, newest first.',
    }),
    openedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the first of its loops was registered; `null` = none is, or not at a time that has come.',
      resolve: ({ loops }) => oldest(loops.map(({ row }) => row?.openedAtMs ?? null)),
    }),
    pnl: t.expose('pnl', { type: PnlRef, description: 'What it has brought, both legs together.' }),
  }),
});

export const PortfolioItemRef = builder.unionType('PortfolioItem', {
  description: 'A loop, or an equity vault.',
  types: [PortfolioLoopRef, PortfolioVaultRef],
  resolveType: ({ kind }) => (kind === 'loop' ? PortfolioLoopRef : PortfolioVaultRef),
});

const UnresolvedRowRef = builder.objectRef<UnresolvedRow>('UnresolvedRow').implement({
  description: 'A row of the register with nothing behind it on chain.',
  fields: (t) => ({
    reason: t.expose('reason', { type: UnresolvedReasonRef, description: 'Why.' }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
    registration: t.expose('row', { type: RegistrationRef, description: 'The row.' }),
  }),
});

const PortfolioHeaderRef = builder.objectRef<PortfolioHeader>('PortfolioHeader').implement({
  description: 'A wallet at a glance.',
  fields: (t) => ({
    totalDepositedUsd: t.expose('totalDepositedUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Deposits of everything open, exact USD; `null` while one of them is not known.',
    }),
    openCount: t.exposeInt('openCount', { description: 'Open loops and vaults.' }),
  }),
});

export const PortfolioRef = builder.objectRef<Portfolio>('Portfolio').implement({
  description: 'Everything of a wallet on one chain: what the chain holds and what the register says, each thing once.',
  fields: (t) => ({
    address: t.expose('wallet', { type: 'Address', description: 'The wallet.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    blockNumber: t.field({
      type: 'BigInteger',
      description: 'Block at which it was read.',
      resolve: ({ block }) => block.number,
    }),
    asOf: t.field({
      type: 'DateTime',
      description: 'Time of that block.',
      resolve: ({ block }) => Number(block.timestamp) * 1_000,
    }),
    header: t.expose('header', { type: PortfolioHeaderRef, description: 'The wallet at a glance.' }),
    pnl: t.expose('pnl', {
      type: PnlRef,
      description: 'Sums over everything of the wallet, ended positions included.',
    }),
    positions: t.expose('positions', {
      type: [PortfolioLoopRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Open plain loops, newest first.',
    }),
    equityPositions: t.expose('equityPositions', {
      type: [PortfolioVaultRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Open equity vaults.',
    }),
    closed: t.expose('closed', {
      type: [PortfolioItemRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'What was closed or liquidated, newest first; a closed vault stands as the vault.',
    }),
    unresolved: t.expose('unresolved', {
      type: [UnresolvedRowRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Rows of the register with nothing behind them on chain.',
    }),
    drift: t.field({
      type: [DriftRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Where register and chain disagree, loops of vaults included.',
      resolve: (portfolio) => [...driftOf(portfolio)],
    }),
    document: t.field({
      type: 'JSONObject',
      description: "The wallet's portfolio as one JSON value, exactly as the v1 contract shows it.",
      resolve: (portfolio) => renderEntry(portfolio),
    }),
  }),
});
