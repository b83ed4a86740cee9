import { z } from 'zod';
import { STRATEGY_ORDERS, type StrategyOrder } from '../../domain/strategy/keys.ts';
import { builder } from '../builder.ts';
import { ApySourceRef, CategoryRef } from '../common/token.ts';

/** More than the catalog holds; keeps a filter from becoming a scan of megabytes. */
const MAX_LISTED = 100;
const listed = z
  .array(z.unknown())
  .max(MAX_LISTED, `lists more than ${MAX_LISTED} values; send at most ${MAX_LISTED}`)
  .nullish();
const MAX_NAME_CHARS = 64;
const name = z.string().min(1).max(MAX_NAME_CHARS).nullish();

export const StrategyKindRef = builder.enumType('StrategyKind', {
  description: 'How a strategy earns. Lower case as in ids.',
  values: {
    loop: { value: 'loop', description: 'Collateral bought with borrowed money, several times over.' },
    equity: {
      value: 'equity',
      description: 'A stock posted as collateral, and a loop on what is borrowed against it.',
    },
  } as const,
});

export const StrategyFilterRef = builder.inputType('StrategyFilter', {
  description: 'Conditions on strategies; all that are given must hold. A value that is not known meets no limit.',
  fields: (t) => ({
    chainIds: t.field({
      type: ['ChainId'],
      validate: listed,
      description: 'On one of these chains; all when left out.',
    }),
    categories: t.field({ type: [CategoryRef], validate: listed, description: 'Collateral of one of these kinds.' }),
    correlated: t.boolean({ description: 'Whether collateral and loan follow the same price.' }),
    kind: t.field({ type: StrategyKindRef, description: 'Only loops, or only equity vaults.' }),
    loan: t.string({ validate: name, description: 'Loan token: its address or symbol, in any case.' }),
    collateral: t.string({ validate: name, description: 'Collateral token: its address or symbol, in any case.' }),
    apySources: t.field({
      type: [ApySourceRef],
      validate: listed,
      description: 'The collateral APY comes from one of these sources.',
    }),
    minLeverageApyPct: t.field({
      type: 'Decimal',
      description: 'Least leveraged APY at the default leverage, percent.',
    }),
    minLiquidityUsd: t.field({ type: 'Decimal', description: 'Least borrowable liquidity, USD.' }),
    minLeverage: t.field({ type: 'Decimal', description: 'Least maximum leverage.' }),
    maturityBefore: t.field({
      type: 'DateTime',
      description: 'Collateral matures before; leaves out what does not mature.',
    }),
    maturityAfter: t.field({
      type: 'DateTime',
      description: 'Collateral matures after; leaves out what does not mature.',
    }),
    listedOnly: t.boolean({ description: 'Leave out what the listing rules hide; `true` when left out.' }),
  }),
});

const ORDERS: Record<StrategyOrder, readonly [name: string, description: string]> = {
  leverageApy: ['LEVERAGE_APY', 'By `defaultLeverage.leverageApyPct`.'],
  borrowApy: ['NET_BORROW_APY', 'By `netBorrowApyPct`.'],
  collateralApy: ['COLLATERAL_APY', 'By `collateralApyPct` with the incentive on the collateral.'],
  liquidity: ['LIQUIDITY_USD', 'By `liquidityUsd`.'],
  maxLeverage: ['MAX_LEVERAGE', 'By `maxLeverage`.'],
  maturity: ['MATURITY', 'By maturity; what does not mature comes last.'],
  symbol: ['COLLATERAL_SYMBOL', 'By symbol of the collateral.'],
};

const OrderFieldRef = builder.enumType('StrategyOrderField', {
  description: 'What strategies are ordered by.',
  values: Object.fromEntries(
    STRATEGY_ORDERS.map((order) => [ORDERS[order][0], { value: order, description: ORDERS[order][1] }]),
  ) as Record<string, { value: StrategyOrder; description: string }>,
});

export const DirectionRef = builder.enumType('OrderDirection', {
  description: 'Direction of an order. Unknown values come last either way.',
  values: {
    ASC: { value: 'asc', description: 'Smallest first.' },
    DESC: { value: 'desc', description: 'Largest first.' },
  } as const,
});

export const StrategyOrderRef = builder.inputType('StrategyOrder', {
  description: 'Order of a strategies list; ties are broken by id.',
  fields: (t) => ({
    field: t.field({ type: OrderFieldRef, required: true, description: 'What to order by.' }),
    direction: t.field({ type: DirectionRef, required: true, defaultValue: 'desc', description: 'Direction.' }),
  }),
});
