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

const KindRef = builder.enumType('StrategyKind', {
  description: 'Kind of a strategy, and with it the type of the object.',
  values: {
    LOOP: {
      value: 'loop',
      description: '`LoopStrategy`: collateral bought with borrowed money, several times over.',
    },
    EQUITY_VAULT: {
      value: 'equity',
      description: '`EquityVaultStrategy`: a stock posted as collateral, and a loop on the loan against it.',
    },
  } as const,
});

export const StrategyFilterRef = builder.inputType('StrategyFilter', {
  description: 'Conditions on strategies; all that are given must hold. An unknown value meets no limit.',
  fields: (t) => ({
    kinds: t.field({
      type: [KindRef],
      validate: listed,
      description: 'Of one of these kinds; of any when left out.',
    }),
    categories: t.field({
      type: [CategoryRef],
      validate: listed,
      description: 'Collateral of one of these categories; of a vault the stock.',
    }),
    correlated: t.boolean({ description: 'Whether collateral and loan follow the same price; never of a vault.' }),
    loan: t.string({
      validate: name,
      description: 'Token that is borrowed against the collateral: address or symbol, in any case.',
    }),
    collateral: t.string({
      validate: name,
      description: 'Token that is posted, of a vault the stock: address or symbol, in any case.',
    }),
    search: t.string({
      validate: name,
      description: 'Part of the name of the strategy or of its collateral, in any case.',
    }),
    apySources: t.field({
      type: [ApySourceRef],
      validate: listed,
      description: 'APY of the collateral from one of these sources; of a vault that of its yield leg.',
    }),
    minApyPct: t.field({ type: 'Decimal', description: 'Least `apyPct`. Percent.' }),
    minLiquidityUsd: t.field({ type: 'Decimal', description: 'Least `liquidityUsd`. USD.' }),
    minMaxLeverage: t.field({ type: 'Decimal', description: 'Least `maxLeverage`.' }),
    maturesBefore: t.field({
      type: 'DateTime',
      description: 'Collateral matures before; leaves out vaults and tokens that do not mature.',
    }),
    maturesAfter: t.field({
      type: 'DateTime',
      description: 'Collateral matures after; leaves out vaults and tokens that do not mature.',
    }),
    listedOnly: t.boolean({
      defaultValue: true,
      description: 'Whether to leave out strategies that the listing rules hide.',
    }),
  }),
});

const ORDERS: Record<StrategyOrder, readonly [name: string, description: string]> = {
  apy: ['APY', '`apyPct`: of a loop at its default leverage, of a vault at its target LTV.'],
  borrowApy: ['NET_BORROW_APY', '`netBorrowApyPct` of the market in which the collateral is posted.'],
  collateralApy: [
    'COLLATERAL_APY',
    '`collateralApyPct` with the incentive on the collateral, of loops; vaults come last.',
  ],
  liquidity: ['LIQUIDITY_USD', '`liquidityUsd` of the market in which the collateral is posted.'],
  maxLeverage: ['MAX_LEVERAGE', '`maxLeverage`.'],
  maturity: ['MATURITY', 'Maturity of the collateral; vaults and tokens that do not mature come last.'],
  name: ['NAME', '`name`.'],
};

const OrderFieldRef = builder.enumType('StrategyOrderField', {
  description: 'Value that strategies are compared by. Unknown values come last in both directions.',
  values: Object.fromEntries(
    STRATEGY_ORDERS.map((order) => [ORDERS[order][0], { value: order, description: ORDERS[order][1] }]),
  ) as Record<string, { value: StrategyOrder; description: string }>,
});

export const DirectionRef = builder.enumType('OrderDirection', {
  description: 'Direction of an order. Unknown values come last in both.',
  values: {
    ASC: { value: 'asc', description: 'Smallest first.' },
    DESC: { value: 'desc', description: 'Largest first.' },
  } as const,
});

export const StrategyOrderRef = builder.inputType('StrategyOrder', {
  description: 'Order of a list of strategies; ties are broken by domain id and chain.',
  fields: (t) => ({
    field: t.field({ type: OrderFieldRef, required: true, description: 'Value to compare by.' }),
    direction: t.field({ type: DirectionRef, required: true, defaultValue: 'desc', description: 'Direction.' }),
  }),
});

export type StrategyFilterInput = typeof StrategyFilterRef.$inferInput;
export type StrategyOrderInput = typeof StrategyOrderRef.$inferInput;
