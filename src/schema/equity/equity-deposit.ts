import type { Token } from '../../catalog/types.ts';
import { strategyOf, vaultOf } from '../../resolvers/position/positions.ts';
import type { CombinedStock, DepositPreview } from '../../transactions/equity/index.ts';
import { builder } from '../builder.ts';
import { ORACLE_PRICE_AS_OF } from '../common/stamp.ts';
import { StrategyRef, TokenRef } from '../refs.ts';
import { LiquidationRef } from '../transaction/estimate.ts';
import { SwapSourceRef } from '../transaction/swap-source.ts';

const CombinedRef = builder.objectRef<CombinedStock>('EquityCombinedStock').implement({
  description:
    "The wallet's whole stock leg after a deposit, present holdings included: one lending position, liquidated as one. `gaps` of the plan explain a field that is `null`, e.g. `deposit.stock.combined.liquidationPriceUsd`.",
  fields: (t) => ({
    collateralAmount: t.expose('collateral', { type: 'Decimal', description: 'All stock posted. Whole tokens.' }),
    debtAmount: t.expose('debtUsdg', { type: 'Decimal', description: 'All debt on it. Whole deposit tokens.' }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'LTV of the whole. Percent with 2 places.' }),
    liquidationPriceUsd: t.expose('liquidationPriceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Stock price at which the whole can be liquidated. USD.',
    }),
    priceDropToLiquidationPct: t.expose('priceDropToLiquidationPct', {
      type: 'Decimal',
      description: 'Fall of the stock price until then. Percent with 2 places. Signed.',
    }),
  }),
});

type OfToken = { readonly token: Token };

const StockLegRef = builder.objectRef<DepositPreview['stock'] & OfToken>('EquityStockLeg').implement({
  description:
    'The stock leg of a deposit: the stock that is bought and posted, and the debt that is taken on it, after the expected fill. `gaps` of the preview or plan explain a field that is `null`, e.g. `deposit.stock.priceUsd`.',
  fields: (t) => ({
    token: t.expose('token', { type: TokenRef, description: 'The stock.' }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Oracle price in USD, which decides on liquidation.',
    }),
    expectedReceived: t.expose('expectedReceived', {
      type: 'Decimal',
      description: 'Quoted output of the swap into the stock. Whole tokens.',
    }),
    minReceived: t.expose('minReceived', {
      type: 'Decimal',
      description: 'Least output of the swap into the stock, whole tokens: the borrow is sized on it.',
    }),
    requestedLtvPct: t.expose('requestedLtvPct', {
      type: 'Decimal',
      description: 'Requested LTV, percent: reached in the worst fill, never exceeded.',
    }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'LTV after the expected fill. Percent with 2 places.' }),
    maxLtvPct: t.expose('maxLtvPct', {
      type: 'Decimal',
      description: 'Highest LTV that may be requested: 88 % of the liquidation LTV. Percent.',
    }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'LTV at which the stock leg can be liquidated. Percent.',
    }),
    liquidationPriceUsd: t.expose('liquidationPriceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Stock price at which the stock leg can be liquidated. USD.',
    }),
    priceDropToLiquidationPct: t.expose('priceDropToLiquidationPct', {
      type: 'Decimal',
      description: 'Fall of the stock price until liquidation. Percent with 2 places. Signed.',
    }),
    combined: t.expose('combined', {
      type: CombinedRef,
      nullable: true,
      description: 'The whole stock leg of the wallet after the deposit.',
    }),
    borrowAmount: t.expose('borrowUsdg', {
      type: 'Decimal',
      description: 'Amount that is borrowed on the stock and looped. Whole deposit tokens.',
    }),
    borrowApyPct: t.expose('borrowApyPct', {
      type: 'Decimal',
      description: 'Borrow APY of the stock market after the deposit. Percent with 2 places.',
    }),
    borrowApyBeforePct: t.expose('borrowApyBeforePct', {
      type: 'Decimal',
      description: 'Current borrow APY of the stock market. Percent with 2 places.',
    }),
    swapSource: t.expose('swapSource', { type: SwapSourceRef, description: 'Venue of the swap into the stock.' }),
    priceImpactPct: t.expose('priceImpactPct', {
      type: 'Decimal',
      description: 'Loss of the swap against the oracle price, percent of its value; negative = gain.',
    }),
  }),
});

const YieldLegRef = builder.objectRef<DepositPreview['yieldLeg'] & OfToken>('EquityYieldLeg').implement({
  description:
    'The yield leg of a deposit: the loop that is opened with the debt of the stock leg. `gaps` of the preview or plan explain a field that is `null`, e.g. `deposit.yieldLeg.oraclePriceAsOf`.',
  fields: (t) => ({
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'The strategy of the loop.' }),
    collateralToken: t.expose('token', { type: TokenRef, description: 'The collateral.' }),
    collateralIn: t.expose('collateralIn', {
      type: 'Decimal',
      description: 'Quoted output of the swap of the borrowed tokens into collateral. Whole tokens.',
    }),
    minCollateralIn: t.expose('minCollateralIn', {
      type: 'Decimal',
      description: 'Least output of the swap of the borrowed tokens, whole tokens: the flash loan is sized on it.',
    }),
    leverage: t.expose('leverage', {
      type: 'Decimal',
      description: 'Leverage after the expected fill, a multiple of the equity, 1 place.',
    }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'LTV after the expected fill. Percent with 2 places.' }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'LTV at which the loop can be liquidated. Percent.',
    }),
    amountFlashLoan: t.expose('amountFlashLoan', {
      type: 'Decimal',
      description: 'Flash loan of the loop, which becomes its debt. Whole deposit tokens.',
    }),
    depositBasis: t.expose('depositBasis', {
      type: 'Decimal',
      description:
        'Deposit basis of the loop, from which the yield fee is counted when it is closed; whole deposit tokens.',
    }),
    leverageApyPct: t.expose('leverageApyPct', {
      type: 'Decimal',
      description:
        'APY of the loop after the deposit, whose flash loan raises the borrow rate; signed percent with 2 places. A borrow incentive counts as it is paid now: its dilution by the new debt is not known.',
    }),
    leverageApyBeforePct: t.expose('leverageApyBeforePct', {
      type: 'Decimal',
      description: 'APY of the loop at the current borrow rate. Signed percent with 2 places.',
    }),
    swapSource: t.expose('swapSource', {
      type: SwapSourceRef,
      description: 'Venue of the swap inside the flash loan.',
    }),
    priceImpactPct: t.expose('priceImpactPct', {
      type: 'Decimal',
      description: 'Loss of both swaps of the leg together, percent of their value; negative = gain.',
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}, of the yield market.`,
      resolve: (leg) => leg.oraclePriceAsOfMs ?? null,
    }),
  }),
});

const DepositFeesRef = builder.objectRef<DepositPreview['fees']>('EquityDepositFees').implement({
  description:
    'Referral fees of the swaps; 0 without a receiver. Exits take none. `gaps` of the preview or plan explain a field that is `null`, e.g. `deposit.fees.estimatedUsd`.',
  fields: (t) => ({
    stockLegBps: t.exposeInt('stockLegBps', {
      description: 'Fee on the swap into the stock, basis points of its input.',
    }),
    yieldLegBps: t.exposeInt('yieldLegBps', {
      description: 'Fee on both swaps of the yield leg, basis points of their input.',
    }),
    estimatedUsd: t.expose('estimatedFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'All fees together. USD with 2 places.',
    }),
  }),
});

export const EquityDepositRef = builder.objectRef<DepositPreview>('EquityDeposit').implement({
  description:
    'A deposit into an equity vault after the expected fill of its swaps. `gaps` of the preview or plan explain a field that is `null`, e.g. `deposit.stock.priceUsd`.',
  fields: (t) => ({
    strategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'The vault; `null` = it is not measured yet.',
      resolve: (preview, _args, ctx) => strategyOf(preview, ctx),
    }),
    depositToken: t.field({
      type: TokenRef,
      description: 'The token that is paid with.',
      resolve: (preview, _args, ctx) => vaultOf(preview, ctx).depositToken,
    }),
    depositAmount: t.expose('depositAmount', { type: 'Decimal', description: 'The deposit. Whole deposit tokens.' }),
    stock: t.field({
      type: StockLegRef,
      description: 'The stock leg.',
      resolve: (preview, _args, ctx) => ({ ...preview.stock, token: vaultOf(preview, ctx).stock }),
    }),
    yieldLeg: t.field({
      type: YieldLegRef,
      description: 'The yield leg.',
      resolve: (preview, _args, ctx) => ({
        ...preview.yieldLeg,
        token: vaultOf(preview, ctx).yieldMarket.collateral,
      }),
    }),
    netApyPct: t.expose('netApyPct', {
      type: 'Decimal',
      description:
        'LTV x (APY of the yield leg - borrow APY of the stock leg) after the deposit, whose debt raises both rates; signed percent with 2 places.',
    }),
    netApyBeforePct: t.expose('netApyBeforePct', {
      type: 'Decimal',
      description:
        'LTV x (APY of the yield leg - borrow APY of the stock leg) at current rates. Signed percent with 2 places.',
    }),
    liquidation: t.expose('liquidation', {
      type: LiquidationRef,
      nullable: true,
      description: 'The price at which the stock leg could be liquidated.',
    }),
    fees: t.expose('fees', { type: DepositFeesRef, description: 'Referral fees of the swaps.' }),
  }),
});
