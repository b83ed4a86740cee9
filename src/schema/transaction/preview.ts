import {
  boundText,
  healthFactorText,
  type PreviewView,
  type SideView,
  sideEquityText,
  sideLiquidation,
  sideLtvText,
} from '../../resolvers/transaction/previewed.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { AmountRange } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { HEALTH_FACTOR } from '../position/position.ts';
import { EstimateRef, formatLiquidation, LiquidationRef } from './estimate.ts';

const SideRef = builder.objectRef<SideView>('PreviewSide').implement({
  description:
    'A position before or after an action; of a vault its stock leg. `gaps` of the preview explain a field that is `null`, e.g. `after.liquidation`.',
  fields: (t) => ({
    collateralAmount: t.field({
      type: 'Decimal',
      description: 'All collateral. Whole tokens.',
      resolve: ({ market, state }) => formatUnitsPlain(state.collateral, market.collateral.decimals),
    }),
    debtAmount: t.field({
      type: 'Decimal',
      description: 'All debt. Whole loan tokens.',
      resolve: ({ market, state }) => formatUnitsPlain(state.debt, market.loan.decimals),
    }),
    equity: t.field({
      type: 'Decimal',
      description: 'Collateral less debt at the oracle price. Whole loan tokens. Signed.',
      resolve: sideEquityText,
    }),
    ltvPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'LTV. Percent with 2 places.',
      resolve: sideLtvText,
    }),
    healthFactor: t.field({
      type: 'Decimal',
      nullable: true,
      description: HEALTH_FACTOR,
      resolve: healthFactorText,
    }),
    apyPct: t.expose('apyPct', {
      type: 'Decimal',
      nullable: true,
      description:
        'APY on the equity, of a vault its net APY: before the action at the current borrow rate, after it at the rate that it leaves behind. Percent with 2 places. Signed.',
    }),
    liquidation: t.field({
      type: LiquidationRef,
      nullable: true,
      description: 'The price at which it could be liquidated.',
      resolve: (side) => formatLiquidation(sideLiquidation(side)),
    }),
  }),
});

const AmountsRef = builder.objectRef<AmountRange>('AmountRange').implement({
  description:
    'The amounts of an action that would pass now, with the rest of the input unchanged. `gaps` of the preview explain an end that is `null`, e.g. `amounts.largest`.',
  fields: (t) => ({
    tokenAddress: t.field({
      type: 'Address',
      description: 'Address of the token that the amounts are in.',
      resolve: ({ token }) => token.address,
    }),
    symbol: t.string({
      description: 'Symbol of the token that the amounts are in.',
      resolve: ({ token }) => token.symbol,
    }),
    smallest: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The smallest amount. Whole tokens.',
      resolve: (range) => boundText(range.smallest, range),
    }),
    largest: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The largest amount, with room for ten minutes of interest where interest lowers it. Whole tokens.',
      resolve: (range) => boundText(range.largest, range),
    }),
  }),
});

export const PreviewRef = builder.interfaceRef<PreviewView>('Preview').implement({
  description:
    'The result of an action at current prices, from the preparation of its build: the numbers of the build that follows at the same block with the same quotes. Nothing is built.',
  interfaces: [EstimateRef],
  fields: (t) => ({
    before: t.expose('before', { type: SideRef, nullable: true, description: 'The position before the action.' }),
    after: t.expose('after', {
      type: SideRef,
      nullable: true,
      description: 'The position after the expected fill of its swaps.',
    }),
    amounts: t.expose('amounts', {
      type: AmountsRef,
      nullable: true,
      description: 'The smallest and the largest amount that would pass.',
    }),
    quotesAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the oldest quote behind the numbers. A build asks for new ones.',
      resolve: ({ quotesAsOfMs }) => quotesAsOfMs,
    }),
    note: t.exposeString('note', { description: 'The assumptions of the preview, in sentences.' }),
  }),
});
