import { requestedPageSize } from '../../../resolvers/common/page.ts';
import { builder } from '../../../schema/builder.ts';
import { pageArgs } from '../../../schema/common/page.ts';
import { WalletRef } from '../../../schema/position/wallet.ts';
import { MAX_STATEMENT_EVENTS, pageStatement, type StatementRow } from '../resolvers/statement.ts';
import { PositionEventRef } from './history.ts';

const StatementRowRef = builder.objectRef<StatementRow>('StatementRow').implement({
  description: 'An event of a statement, with the position that it is of.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    positionId: t.expose('positionId', {
      type: 'PositionId',
      description: '`{chainId}-{marketId}-{index}` of the position; of a stock leg the id of its vault.',
    }),
    collateralSymbol: t.string({
      description: 'Symbol of the collateral, in which the collateral amounts are.',
      resolve: ({ market }) => market.collateral.symbol,
    }),
    loanSymbol: t.string({
      description: 'Symbol of the loan token, in which the debt and the loan amounts are.',
      resolve: ({ market }) => market.loan.symbol,
    }),
    isComplete: t.exposeBoolean('isComplete', {
      description: 'Whether the events of the position are all from its opening until now.',
    }),
    event: t.expose('event', { type: PositionEventRef, description: 'The event.' }),
  }),
});

const StatementConnectionRef = builder.connectionObject(
  { type: StatementRowRef, name: 'StatementConnection', description: 'A page of a statement.' },
  { name: 'StatementEdge', description: 'A row of a statement and its place in it.' },
);

builder.objectFields(WalletRef, (t) => ({
  statement: t.field({
    type: StatementConnectionRef,
    nullable: true,
    complexity: (args) => ({ field: 50, multiplier: requestedPageSize(args) }),
    description: `Every recorded event of the positions of the wallet, oldest first: loops of vaults, and the stock legs of vaults, held or left, included. A wallet with more than ${MAX_STATEMENT_EVENTS} events is refused. \`null\` = refused, or the records cannot be read, with the error beside it.`,
    args: pageArgs(t.arg),
    resolve: ({ readings }, args, ctx) => pageStatement(readings, args, ctx),
  }),
}));
