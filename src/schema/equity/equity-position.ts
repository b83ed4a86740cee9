import { LOOP_MATCHES } from '../../domain/equity/loops.ts';
import type { EquityPosition, StockPosition } from '../../domain/equity/position.ts';
import { strategyOf } from '../../resolvers/position/positions.ts';
import { builder } from '../builder.ts';
import { FreshnessRef, GapRef, ORACLE_PRICE_AS_OF, ReadAtRef } from '../common/stamp.ts';
import { WarningRef } from '../common/warning.ts';
import { PositionRef } from '../position/position.ts';
import { StrategyRef } from '../refs.ts';

const MATCH_DESCRIPTIONS: Record<(typeof LOOP_MATCHES)[number], string> = {
  tagged: 'The app registered the loops for this vault.',
  basis: 'One combination of loops explains the debt of the stock leg.',
  ambiguous: 'Several combinations do, or another vault would need the same loop: see `ambiguousYieldLoopIds`.',
  none: 'No loop of the wallet explains it.',
};

const LoopMatchRef = builder.enumType('YieldLoopMatch', {
  description: 'How the yield loops of a vault are known. Lower case as in the v1 contract.',
  values: Object.fromEntries(
    LOOP_MATCHES.map((match) => [match, { value: match, description: MATCH_DESCRIPTIONS[match] }]),
  ) as { [M in (typeof LOOP_MATCHES)[number]]: { value: M; description: string } },
});

const StockRef = builder.objectRef<StockPosition>('StockPosition').implement({
  description: 'The stock leg of a vault: what the wallet itself holds and owes on the stock market.',
  fields: (t) => ({
    symbol: t.exposeString('symbol', { description: 'The stock token.' }),
    collateral: t.expose('collateral', { type: 'Decimal', description: 'Stock posted, whole tokens.' }),
    collateralUsd: t.expose('collateralUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Its value, USD with 2 places; `null` = see `gaps`.',
    }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Oracle price in USD, which liquidation goes by; `null` = see `gaps`.',
    }),
    debtUsdg: t.expose('debtUsdg', {
      type: 'Decimal',
      nullable: true,
      description: 'Debt with interest, whole deposit tokens; `null` = see `gaps`.',
    }),
    ltvPct: t.expose('ltvPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Debt over collateral value, percent with 2 places; `null` = see `gaps`.',
    }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'LTV at which it can be liquidated, percent.',
    }),
    ltvHeadroomPct: t.expose('ltvHeadroomPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Points of LTV left before liquidation; `null` = see `gaps`.',
    }),
    liquidationPriceUsd: t.expose('liquidationPriceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Stock price at which it can be liquidated, USD; `null` = see `gaps`.',
    }),
    priceDropToLiquidationPct: t.expose('priceDropToLiquidationPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Fall of the stock price until then, percent with 2 places; `null` = see `gaps`.',
    }),
    borrowApyPct: t.expose('borrowApyPct', {
      type: 'Decimal',
      nullable: true,
      description: 'APY of its debt, percent with 2 places; `null` = see `gaps`.',
    }),
  }),
});

const EquityFreshnessRef = builder
  .objectRef<NonNullable<EquityPosition['freshness']>>('EquityPositionFreshness')
  .implement({
    description: 'Age of the values of the stock market. What the wallet holds is read live.',
    fields: (t) => ({
      borrow: t.expose('borrow', { type: FreshnessRef, description: 'Borrow rate and interest.' }),
      oracle: t.expose('oracle', { type: FreshnessRef, description: 'Oracle value.' }),
    }),
  });

export const EquityPositionRef = builder.objectRef<EquityPosition>('EquityPosition').implement({
  description: 'An open equity vault of a wallet: its stock leg, and the yield loops that are known to belong to it.',
  fields: (t) => ({
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'Id of the vault.' }),
    strategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'That strategy; `null` while it is not measured.',
      resolve: (position, _args, ctx) => strategyOf(position, ctx),
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain it lives on.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Its owner.' }),
    curator: t.exposeString('curator', { description: 'Partner that curates the stock market.' }),
    stock: t.expose('stock', { type: StockRef, description: 'The stock leg.' }),
    yieldLoops: t.expose('yieldLoops', {
      type: [PositionRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Its loops, newest first; they do not stand among the plain positions.',
    }),
    yieldLoopMatch: t.expose('yieldLoopMatch', { type: LoopMatchRef, description: 'How its loops are known.' }),
    ambiguousYieldLoopIds: t.exposeIntList('ambiguousYieldLoopIds', {
      nullable: true,
      description: 'Ids of the plain positions that may be its loops; `null` unless the match is ambiguous.',
    }),
    netValueUsd: t.expose('netValueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Stock leg plus loops, collateral less debt, USD with 2 places; `null` = see `gaps`.',
    }),
    currentNetApyPct: t.expose('currentNetApyPct', {
      type: 'Decimal',
      nullable: true,
      description:
        'LTV x (APY of the loops - borrow APY of the stock leg), percent with 2 places; `null` = see `gaps`.',
    }),
    freshness: t.expose('freshness', {
      type: EquityFreshnessRef,
      nullable: true,
      description: 'Age of the values of the stock market; `null` while there are none.',
    }),
    readAt: t.expose('readAt', {
      type: ReadAtRef,
      description:
        'Block at which it was read: what the wallet holds, its debt, and the prices that value it unless `freshness` names an older one.',
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}, of the stock; \`null\` = it needs none, or this is not known: see \`gaps\`.`,
      resolve: ({ oraclePriceAsOfMs }) => oraclePriceAsOfMs ?? null,
    }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'What to know of the values that the stock leg is valued with; empty when there is nothing.',
    }),
    gaps: t.expose('gaps', {
      type: [GapRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Every field that is `null`, and why; paths of the stock leg begin with `stock.`.',
    }),
  }),
});
