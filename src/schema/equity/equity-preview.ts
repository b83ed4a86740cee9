import { priceAgeState } from '../../domain/market/price-age.ts';
import { strategyOf } from '../../resolvers/position/positions.ts';
import type { CombinedStock, DepositPreview, ShownCost } from '../../transactions/equity/index.ts';
import { builder } from '../builder.ts';
import {
  ORACLE_PRICE_AS_OF,
  OraclePriceAgeRef,
  PREVIEW_PRICE_AGE,
  PREVIEW_PRICE_AS_OF,
  PREVIEW_READ_AT,
  ReadAtRef,
} from '../common/stamp.ts';
import { CostKindRef } from '../position/position-preview.ts';
import { StrategyRef } from '../refs.ts';
import { SwapSourceRef } from '../transaction/transaction.ts';

const DepositTokenRef = builder.objectRef<DepositPreview['depositToken']>('EquityDepositToken').implement({
  description: 'The token that a vault takes.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'Its contract.' }),
    symbol: t.exposeString('symbol', { description: 'Its symbol.' }),
    decimals: t.exposeInt('decimals', { description: 'Decimals of its base unit.' }),
  }),
});

const CombinedRef = builder.objectRef<CombinedStock>('EquityCombinedStock').implement({
  description:
    "The wallet's whole stock leg after a deposit, what it holds already included: one lending position, liquidated as one.",
  fields: (t) => ({
    collateral: t.expose('collateral', { type: 'Decimal', description: 'All stock posted, whole tokens.' }),
    debtUsdg: t.expose('debtUsdg', { type: 'Decimal', description: 'All debt on it, whole deposit tokens.' }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'Its LTV, percent with 2 places.' }),
    liquidationPriceUsd: t.expose('liquidationPriceUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Stock price at which it can be liquidated, USD; `null` = the USD price of the deposit token is not known.',
    }),
    priceDropToLiquidationPct: t.expose('priceDropToLiquidationPct', {
      type: 'Decimal',
      description: 'Fall of the stock price until then, percent with 2 places.',
    }),
  }),
});

const StockLegRef = builder.objectRef<DepositPreview['stock']>('EquityStockLegPreview').implement({
  description:
    'The stock leg of a deposit: the stock that is bought and posted, and what is borrowed on it. Its LTV is that of the expected fill.',
  fields: (t) => ({
    symbol: t.exposeString('symbol', { description: 'The stock token.' }),
    address: t.expose('address', { type: 'Address', description: 'Its contract.' }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Oracle price in USD, which liquidation goes by; `null` = the USD price of the deposit token is not known.',
    }),
    expectedReceived: t.expose('expectedReceived', {
      type: 'Decimal',
      description: 'Stock that the swap is quoted to give, whole tokens.',
    }),
    minReceived: t.expose('minReceived', {
      type: 'Decimal',
      description: 'Stock that the swap gives at least, whole tokens: the borrow is sized on it.',
    }),
    requestedLtvPct: t.expose('requestedLtvPct', {
      type: 'Decimal',
      description: 'LTV that was asked for, percent: reached in the worst fill, never exceeded.',
    }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'LTV after the expected fill, percent with 2 places.' }),
    maxLtvPct: t.expose('maxLtvPct', {
      type: 'Decimal',
      description: 'Highest LTV that may be asked for: 88 % of the liquidation LTV, percent.',
    }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'LTV at which the stock leg can be liquidated, percent.',
    }),
    liquidationPriceUsd: t.expose('liquidationPriceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Stock price at which that happens, USD; `null` = the USD price of the deposit token is not known.',
    }),
    priceDropToLiquidationPct: t.expose('priceDropToLiquidationPct', {
      type: 'Decimal',
      description: 'Fall of the stock price until then, percent with 2 places.',
    }),
    combined: t.expose('combined', {
      type: CombinedRef,
      nullable: true,
      description: 'The same for all that the wallet will hold in the vault; `null` = a preview that names no wallet.',
    }),
    borrowUsdg: t.expose('borrowUsdg', {
      type: 'Decimal',
      description: 'What is borrowed on the stock and looped, whole deposit tokens.',
    }),
    borrowApyPct: t.expose('borrowApyPct', {
      type: 'Decimal',
      description: 'APY of that debt at the rate that the market has once it is borrowed, percent with 2 places.',
    }),
    borrowApyBeforePct: t.expose('borrowApyBeforePct', {
      type: 'Decimal',
      description: 'The rate of now, before it, percent with 2 places.',
    }),
    borrowApyAfterPct: t.expose('borrowApyAfterPct', {
      type: 'Decimal',
      deprecationReason: 'The same as `borrowApyPct`.',
      description: 'The same as `borrowApyPct`.',
    }),
    swapSource: t.expose('swapSource', {
      type: SwapSourceRef,
      description: 'Venue of the swap, as the v1 contract names it.',
    }),
    priceImpactPct: t.expose('priceImpactPct', {
      type: 'Decimal',
      description: "Share of the swap's value at the oracle's price that it loses, percent; negative = gains.",
    }),
  }),
});

const YieldLegRef = builder.objectRef<DepositPreview['yieldLeg']>('EquityYieldLegPreview').implement({
  description: 'The yield leg of a deposit: the loop that is opened with what the stock leg borrows.',
  fields: (t) => ({
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'The strategy that it is a loop of.' }),
    collateralSymbol: t.exposeString('collateralSymbol', { description: 'Its collateral.' }),
    collateralIn: t.expose('collateralIn', {
      type: 'Decimal',
      description: 'Collateral that the borrowed tokens are quoted to buy, whole tokens.',
    }),
    minCollateralIn: t.expose('minCollateralIn', {
      type: 'Decimal',
      description: 'The same in the worst fill: the flash loan is sized on it.',
    }),
    leverage: t.expose('leverage', { type: 'Decimal', description: 'Leverage after the expected fill, 1 place.' }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'LTV after the expected fill, percent with 2 places.' }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'LTV at which the loop can be liquidated, percent.',
    }),
    amountFlashLoan: t.expose('amountFlashLoan', {
      type: 'Decimal',
      description: 'Its flash loan, which becomes its debt, whole deposit tokens.',
    }),
    depositBasis: t.expose('depositBasis', {
      type: 'Decimal',
      description:
        'Deposit basis of the loop: what the yield fee is counted from when it is closed, whole deposit tokens.',
    }),
    leverageApyPct: t.expose('leverageApyPct', {
      type: 'Decimal',
      description:
        'APY at that leverage once this deposit has borrowed, percent with 2 places, signed: its own flash loan raises the rate that it pays. A borrow incentive counts as it is paid now: how far more debt dilutes it is not known.',
    }),
    leverageApyBeforePct: t.expose('leverageApyBeforePct', {
      type: 'Decimal',
      description: 'The same at the rates of now, before it.',
    }),
    leverageApyAfterPct: t.expose('leverageApyAfterPct', {
      type: 'Decimal',
      deprecationReason: 'The same as `leverageApyPct`.',
      description: 'The same as `leverageApyPct`.',
    }),
    swapSource: t.expose('swapSource', {
      type: SwapSourceRef,
      description: 'Venue of the swap inside the flash loan.',
    }),
    priceImpactPct: t.expose('priceImpactPct', {
      type: 'Decimal',
      description: 'Share of their value that both swaps of the leg lose together, percent; negative = gains.',
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: PREVIEW_PRICE_AS_OF,
      resolve: (leg) => leg.oraclePriceAsOfMs ?? null,
    }),
    oraclePriceAge: t.field({
      type: OraclePriceAgeRef,
      description: PREVIEW_PRICE_AGE,
      resolve: (leg) => priceAgeState(leg.oraclePriceAsOfMs),
    }),
  }),
});

const DepositFeesRef = builder.objectRef<DepositPreview['fees']>('EquityDepositFees').implement({
  description: 'Referral fees of the swaps; 0 where nobody receives them. Exits take none.',
  fields: (t) => ({
    stockLegBps: t.exposeInt('stockLegBps', { description: 'Of the swap into the stock, basis points of its input.' }),
    yieldLegBps: t.exposeInt('yieldLegBps', {
      description: 'Of both swaps of the yield leg, basis points of their input.',
    }),
    estimatedFeeUsd: t.expose('estimatedFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'All of them together, USD with 2 places; `null` = the USD price of the deposit token is not known.',
    }),
  }),
});

const DepositCostRef = builder.objectRef<ShownCost>('EquityDepositCost').implement({
  description: 'One cost of a deposit, paid at once.',
  fields: (t) => ({
    kind: t.expose('kind', { type: CostKindRef, description: 'What it is for.' }),
    token: t.expose('token', { type: 'Address', description: 'Token in which it is counted.' }),
    symbol: t.exposeString('symbol', { description: 'Its symbol.' }),
    amount: t.expose('amount', { type: 'Decimal', description: 'Whole tokens.' }),
    usd: t.expose('usd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD with 2 places; `null` = the token has no price.',
    }),
    pctOfEquity: t.expose('pctOfEquity', {
      type: 'Decimal',
      nullable: true,
      description: 'Percent of what is deposited, 2 places; `null` = it cannot be valued.',
    }),
  }),
});

const DepositWorstCaseRef = builder.objectRef<DepositPreview['worstCase']>('EquityDepositWorstCase').implement({
  description: 'What is left of a deposit when every swap gives its minimum only.',
  fields: (t) => ({
    equity: t.expose('equity', { type: 'Decimal', description: 'Net value of both legs, whole deposit tokens.' }),
    ltv: t.expose('ltv', { type: 'Decimal', description: 'LTV of the stock leg, percent with 2 places.' }),
    yieldLtv: t.expose('yieldLtv', { type: 'Decimal', description: 'LTV of the yield leg, percent with 2 places.' }),
  }),
});

const DepositLiquidationRef = builder
  .objectRef<NonNullable<DepositPreview['liquidation']>>('EquityDepositLiquidation')
  .implement({
    description: 'Where the stock leg of a deposit could be liquidated.',
    fields: (t) => ({
      price: t.expose('price', { type: 'Decimal', description: 'Oracle price, deposit tokens per stock token.' }),
      dropPct: t.expose('dropPct', { type: 'Decimal', description: 'How far the price may fall until then, percent.' }),
    }),
  });

export const DepositPreviewRef = builder.objectRef<DepositPreview>('EquityDepositPreview').implement({
  description: 'What a deposit into an equity vault will be once its swaps have given what they are quoted at.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain of the vault.' }),
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'Id of the vault.' }),
    strategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'That strategy; `null` while it is not measured.',
      resolve: (preview, _args, ctx) => strategyOf(preview, ctx),
    }),
    depositToken: t.expose('depositToken', { type: DepositTokenRef, description: 'What is paid with.' }),
    depositAmount: t.expose('depositAmount', { type: 'Decimal', description: 'How much of it, whole tokens.' }),
    stock: t.expose('stock', { type: StockLegRef, description: 'The stock leg.' }),
    yieldLeg: t.expose('yieldLeg', { type: YieldLegRef, description: 'The yield leg.' }),
    netApyPct: t.expose('netApyPct', {
      type: 'Decimal',
      description:
        'LTV x (APY of the yield leg - borrow APY of the stock leg) once this deposit has borrowed and so raised both rates, percent with 2 places, signed.',
    }),
    netApyBeforePct: t.expose('netApyBeforePct', {
      type: 'Decimal',
      description: 'The same at the rates of now, before it, percent with 2 places.',
    }),
    netApyAfterPct: t.expose('netApyAfterPct', {
      type: 'Decimal',
      deprecationReason: 'The same as `netApyPct`.',
      description: 'The same as `netApyPct`.',
    }),
    costs: t.field({
      type: [DepositCostRef],
      complexity: { field: 1, multiplier: 4 },
      description: 'What it costs at once, by kind.',
      resolve: ({ costs }) => [...costs],
    }),
    totalSwapCostPctOfEquity: t.expose('totalSwapCostPctOfEquity', {
      type: 'Decimal',
      nullable: true,
      description:
        'All that its swaps lose, their referral fees included, percent of what is deposited with 2 places; `null` = it cannot be valued.',
    }),
    worstCase: t.expose('worstCase', {
      type: DepositWorstCaseRef,
      description: 'What is left when every swap gives its minimum only.',
    }),
    liquidation: t.expose('liquidation', {
      type: DepositLiquidationRef,
      nullable: true,
      description: 'Where the stock leg could be liquidated; `null` = it owes nothing.',
    }),
    readAt: t.field({
      type: ReadAtRef,
      nullable: true,
      description: PREVIEW_READ_AT,
      resolve: (preview) => preview.readAt ?? null,
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}, of the stock; \`null\` = see \`oraclePriceAge\`.`,
      resolve: (preview) => preview.oraclePriceAsOfMs ?? null,
    }),
    oraclePriceAge: t.field({
      type: OraclePriceAgeRef,
      description: PREVIEW_PRICE_AGE,
      resolve: (preview) => priceAgeState(preview.oraclePriceAsOfMs),
    }),
    fees: t.expose('fees', { type: DepositFeesRef, description: 'What the swaps cost in referral fees.' }),
    slippage: t.expose('slippage', { type: 'Decimal', description: 'Slippage in force: a ratio, capped at 0.01.' }),
  }),
});
