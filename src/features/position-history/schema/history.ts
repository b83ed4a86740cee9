import type { PositionEventKind } from '../../../domain/history/operations.ts';
import { pageByRank, requestedPageSize } from '../../../resolvers/common/page.ts';
import { vaultOf } from '../../../resolvers/position/positions.ts';
import { builder } from '../../../schema/builder.ts';
import { ChainRef } from '../../../schema/common/chain.ts';
import { enumValues } from '../../../schema/common/enum-values.ts';
import { gapsOf } from '../../../schema/common/gaps.ts';
import { pageArgs } from '../../../schema/common/page.ts';
import { ReadAtRef } from '../../../schema/common/stamp.ts';
import { EquityPositionRef } from '../../../schema/equity/equity-position.ts';
import { PositionRef } from '../../../schema/position/position.ts';
import { WalletRef } from '../../../schema/position/wallet.ts';
import { TokenRef } from '../../../schema/refs.ts';
import { MAX_VAULTS } from '../../../shared/contract/list-bounds.ts';
import { BadRequestError } from '../../../shared/errors.ts';
import {
  type AmountsView,
  curveViews,
  type EquityPointView,
  eventViews,
  historyGaps,
  MAX_CURVE_POINTS,
  type PositionEventView,
  splitView,
} from '../resolvers/history-views.ts';
import {
  findStockLeg,
  listStockLegs,
  type PositionHistoryRow,
  readPnlDifference,
  readPnlSplit,
  readPositionHistory,
  type StockLeg,
} from '../resolvers/position-history.ts';
import { PnlDifferenceRef, PnlSplitRef } from './pnl-split.ts';

const PositionEventKindRef = builder.enumType('PositionEventKind', {
  description: 'Kind of an event of a position.',
  values: enumValues<PositionEventKind>({
    opened: 'The position was opened.',
    supplied: 'Collateral was added.',
    withdrawn: 'Collateral was taken out.',
    repaid: 'Debt was repaid.',
    borrowed: 'More was borrowed and paid out.',
    increased:
      'The leverage was raised: more was borrowed and swapped into collateral. Of a stock leg: stock was added and more was borrowed.',
    partly_closed: 'A part of the collateral was sold. Of a stock leg: a part was repaid and stock was taken out.',
    closed: 'All of the collateral was sold or taken out.',
    liquidated: 'Collateral was seized by a liquidation, all of it or a part.',
  }),
});

const PayerRef = builder.enumType('PositionPayer', {
  description: 'Payer for a position.',
  values: enumValues<'owner' | 'other' | 'unknown'>({
    owner: "The owner, through the product's contracts or at the lending protocol.",
    other: 'Another account, contracts of others that the owner has used included.',
    unknown:
      "Not known: a payment through the product's router by another contract in a native token or in one outside the catalog, or one that several accounts may have made.",
  }),
});

const AmountsRef = builder.objectRef<AmountsView>('PositionEventAmounts').implement({
  description: 'Amounts of both tokens of a market.',
  fields: (t) => ({
    collateralAmount: t.expose('collateral', { type: 'Decimal', description: 'Whole collateral tokens.' }),
    loanAmount: t.expose('loan', { type: 'Decimal', description: 'Whole loan tokens.' }),
  }),
});

export const PositionEventRef = builder.objectRef<PositionEventView>('PositionEvent').implement({
  description:
    'An event of a position, from the events of the lending protocol and the token transfers of its transaction. Earlier effects of the transaction (a swap of another token) are not in it. Amounts are `null` where the transfers do not explain them, and values of the market where the node does not keep the state of the block.',
  fields: (t) => ({
    kind: t.expose('kind', { type: PositionEventKindRef, description: 'Kind of the event.' }),
    at: t.field({ type: 'DateTime', description: 'Time of the block.', resolve: ({ atMs }) => atMs }),
    blockNumber: t.expose('blockNumber', { type: 'BigInteger', description: 'Number of the block.' }),
    txHash: t.expose('txHash', {
      type: 'HexData',
      description: 'Hash of the transaction.',
      extensions: { jsonSchema: { pattern: '^0x[0-9a-f]{64}$', examples: [`0x${'ab'.repeat(32)}`] } },
    }),
    logIndex: t.exposeInt('logIndex', { description: 'Index of its first event in the block.' }),
    collateralChange: t.expose('collateralChange', {
      type: 'Decimal',
      description: 'Change of the collateral. Whole tokens. Signed.',
    }),
    debtChange: t.expose('debtChange', {
      type: 'Decimal',
      description: 'Borrowed less repaid, whole loan tokens, without interest. Signed.',
    }),
    collateralAfter: t.expose('collateralAfter', {
      type: 'Decimal',
      description: 'Collateral after it, whole tokens; of the known events only. Signed.',
    }),
    debtAfter: t.expose('debtAfter', {
      type: 'Decimal',
      nullable: true,
      description:
        'Debt with interest at the end of the block, whole loan tokens; of the known events only. `null` = the node does not keep the state of the block. Signed.',
    }),
    paid: t.expose('paid', {
      type: AmountsRef,
      nullable: true,
      description:
        'Paid by the owner, or by another account on its behalf, see `paidBy`, fee included; `null` = not explained by the transfers.',
    }),
    paidBy: t.expose('paidBy', {
      type: PayerRef,
      nullable: true,
      description: 'Payer of `paid`; `null` = nothing was paid, or the transfers do not explain what.',
    }),
    received: t.expose('received', {
      type: AmountsRef,
      nullable: true,
      description: 'Received by the owner; `null` = not explained by the transfers.',
    }),
    fee: t.expose('fee', {
      type: AmountsRef,
      nullable: true,
      description: 'Fee of the contract; `null` = not explained by the transfers.',
    }),
    oraclePrice: t.expose('oraclePrice', {
      type: 'Decimal',
      nullable: true,
      description:
        "The oracle's price at the end of the block, loan tokens per collateral token; `null` = the node does not keep the state of the block.",
    }),
  }),
});

const PositionEventConnectionRef = builder.connectionObject(
  { type: PositionEventRef, name: 'PositionEventConnection', description: 'A page of the events of a position.' },
  { name: 'PositionEventEdge', description: 'An event of a position and its place in the list.' },
);

const EquityPointRef = builder.objectRef<EquityPointView>('PositionEquityPoint').implement({
  description: 'Equity of a position at one time, by the price of the oracle then.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'The time.', resolve: ({ atMs }) => atMs }),
    equityAmount: t.expose('equity', {
      type: 'Decimal',
      description: 'Collateral less debt, whole loan tokens; negative under water.',
    }),
    equityUsd: t.expose('equityUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Equity in USD at the price of the loan token of now, exact; `null` = the price is unknown. Signed.',
    }),
    collateralAmount: t.expose('collateral', { type: 'Decimal', description: 'Collateral. Whole tokens.' }),
    debtAmount: t.expose('debt', { type: 'Decimal', description: 'Debt with interest. Whole loan tokens.' }),
  }),
});

const DEFAULT_POINTS = 100;

/** @throws BadRequestError */
function checkPoints(points: number | null | undefined): number {
  const most = points ?? DEFAULT_POINTS;
  if (most >= 1 && most <= MAX_CURVE_POINTS) return most;
  throw new BadRequestError(`points is ${most}. Send 1 to ${MAX_CURVE_POINTS}.`, {
    field: 'points',
    value: String(most),
    limit: { min: 1, max: MAX_CURVE_POINTS },
  });
}

const PositionHistoryRef = builder.objectRef<PositionHistoryRow>('PositionHistory').implement({
  description:
    'Recorded past of a position. Events are shown as soon as their block was read; a reorganization of the chain may replace the newest ones.',
  fields: (t) => ({
    completeFrom: t.field({
      type: ReadAtRef,
      nullable: true,
      description:
        'Block from which no event is missing: that of the opening if it was found, otherwise the oldest one that was read; `null` = none was read.',
      resolve: ({ history: { completeFrom } }) => completeFrom,
    }),
    readTo: t.field({
      type: ReadAtRef,
      nullable: true,
      description: 'The newest block that was read; `null` = none was read.',
      resolve: ({ history: { readTo } }) => readTo,
    }),
    isComplete: t.boolean({
      description:
        'Whether the events are all from the opening until now: they add up to the holdings of the position by the chain. Otherwise `gaps` tell why, of the field `events`.',
      resolve: ({ history }) => history.incomplete === undefined,
    }),
    events: t.field({
      type: PositionEventConnectionRef,
      args: pageArgs(t.arg),
      complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
      description: 'Events, oldest first.',
      resolve: (row, args, ctx) =>
        pageByRank(eventViews(row), ({ rank }) => rank, args, ctx.maxPageSize, 'positionEvents'),
    }),
    equityCurve: t.field({
      type: [EquityPointRef],
      args: {
        points: t.arg.int({
          description: `Most points: 1 to ${MAX_CURVE_POINTS}; ${DEFAULT_POINTS} when left out.`,
        }),
      },
      complexity: ({ points }) => ({
        field: 1,
        multiplier: Math.min(MAX_CURVE_POINTS, Math.max(1, points ?? DEFAULT_POINTS)),
      }),
      description: `Equity at events, at hourly samples between them and now, oldest first; at most ${MAX_CURVE_POINTS}, spread evenly.`,
      resolve: (row, { points }) => curveViews(row, checkPoints(points)),
    }),
    gaps: t.field(
      gapsOf(
        historyGaps,
        'Fields that are `null`, `events` that are not complete, and a curve of the equity that does not reach until now',
      ),
    ),
  }),
});

builder.objectFields(PositionRef, (t) => ({
  history: t.field({
    type: PositionHistoryRef,
    nullable: true,
    complexity: 5,
    description: 'Recorded events and equity; `null` = the market of the position is not in the catalog.',
    resolve: (position, _args, ctx) => readPositionHistory(position, ctx),
  }),
  pnlSplit: t.field({
    type: PnlSplitRef,
    nullable: true,
    complexity: 5,
    description:
      'Profit and loss since the opening by its parts; `null` = the market of the position is not known or not measured.',
    resolve: async (position, _args, ctx) => {
      const row = await readPositionHistory(position, ctx);
      return row && splitView(row, await readPnlSplit(row, ctx));
    },
  }),
  pnlDifference: t.field({
    type: PnlDifferenceRef,
    nullable: true,
    complexity: 10,
    description:
      'Excess of `pnl` over `pnlSplit`, by its causes; `null` = the market of the position is not known or not measured.',
    resolve: (position, _args, ctx) => readPnlDifference(position, ctx),
  }),
}));

const StockLegRef = builder.objectRef<StockLeg>('StockLeg').implement({
  description:
    "The stock leg of an equity vault over time: the wallet's own collateral and debt on the stock market, also after it has left the vault. Its loops have histories of their own.",
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'The owner.' }),
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'Id of the vault.' }),
    isOpen: t.exposeBoolean('isOpen', { description: 'Whether the wallet has collateral or debt in it now.' }),
    stockToken: t.field({
      type: TokenRef,
      description: 'The stock: the collateral of its events.',
      resolve: (leg, _args, ctx) => vaultOf(leg, ctx).stock,
    }),
    depositToken: t.field({
      type: TokenRef,
      description: 'The token that is borrowed: the loan token of its events.',
      resolve: (leg, _args, ctx) => vaultOf(leg, ctx).depositToken,
    }),
    history: t.field({
      type: PositionHistoryRef,
      nullable: true,
      complexity: 5,
      description:
        'Recorded events and equity, of all times at which the wallet was in the vault; `null` = the stock market is not in the catalog.',
      resolve: (leg, _args, ctx) => readPositionHistory(leg, ctx),
    }),
    pnlSplit: t.field({
      type: PnlSplitRef,
      nullable: true,
      complexity: 5,
      description:
        'Profit and loss of the stock leg since its first opening by its parts, in deposit tokens. A loan that was taken counts as received, also where it went into the loop of the vault; `null` = the stock market is not measured.',
      resolve: async (leg, _args, ctx) => {
        const row = await readPositionHistory(leg, ctx);
        return row && splitView(row, await readPnlSplit(row, ctx));
      },
    }),
  }),
});

builder.objectFields(EquityPositionRef, (t) => ({
  stockLeg: t.field({
    type: StockLegRef,
    description: 'The stock leg over time.',
    resolve: ({ chainId, wallet, strategyId }) => ({ chainId, wallet, strategyId, isOpen: true }),
  }),
}));

builder.objectFields(ChainRef, (t) => ({
  stockLeg: t.field({
    type: StockLegRef,
    nullable: true,
    authScopes: { partner: true },
    description:
      'The stock leg of a vault of a wallet, also of one that it has left, and while the chain is not measured; `null` = there is no such vault here, or nothing of it is known. Needs a key.',
    args: {
      wallet: t.arg({ type: 'Address', required: true, description: 'The owner.' }),
      strategyId: t.arg({ type: 'StrategyId', required: true, description: 'Id of the vault.' }),
    },
    resolve: (chain, args, ctx) => findStockLeg(chain, args, ctx),
  }),
}));

builder.objectFields(WalletRef, (t) => ({
  stockLegs: t.field({
    type: [StockLegRef],
    nullable: true,
    complexity: { field: 5, multiplier: 2 },
    description: `The stock legs of the vaults that the wallet is in, or has left, with what is recorded of them; one per vault, at most ${MAX_VAULTS}; \`null\` = the records cannot be read, with the error beside it.`,
    resolve: async ({ readings }, _args, ctx) => [...(await listStockLegs(readings, ctx))],
  }),
}));
