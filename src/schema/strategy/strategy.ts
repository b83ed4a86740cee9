import { MAX_WARNINGS } from '../../domain/plausibility/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { requireChain } from '../../resolvers/market/chains.ts';
import { oracleOf } from '../../resolvers/market/market-facts.ts';
import { marketOf, tokensOf } from '../../resolvers/strategy/strategies.ts';
import { MAX_LADDER_RUNGS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { MarketDeploymentRef } from '../common/deployment.ts';
import { FactFreshnessRef } from '../common/fact-freshness.ts';
import { gapsOf } from '../common/gaps.ts';
import { NodeRef } from '../common/node.ts';
import { ORACLE_PRICE_AS_OF } from '../common/stamp.ts';
import { WarningRef } from '../common/warning.ts';
import { ExitLiquidityRef } from '../market/exit-liquidity.ts';
import { FeesRef } from '../market/fees.ts';
import { IncentiveRef } from '../market/incentive.ts';
import { MarketRef } from '../market/market.ts';
import { LtvLimitsRef, OracleRef, RateMeansRef } from '../market/market-facts.ts';
import { TokenPriceRef } from '../market/price.ts';
import { StrategyRef, TokenRef } from '../refs.ts';
import { ExitLiquidityTierRef, LeverageRungRef, LinksRef, PointsRef } from './strategy-parts.ts';
import { VisibilityRef } from './visibility.ts';

const freshnessOf = ({ freshness, inputFreshness }: Strategy) => ({ ...freshness, ...inputFreshness });

StrategyRef.implement({
  description:
    'One leveraged strategy: a loop on one market, or an equity vault. Numbers are as people see them, percent and USD with 2 places; `market` has them at full precision. A measured value that is not known is `null` with its reason in `gaps`, never 0.',
  interfaces: [NodeRef],
  resolveType: ({ kind }: Strategy) => (kind === 'loop' ? 'LoopStrategy' : 'EquityVaultStrategy'),
  fields: (t) => ({
    strategyId: t.expose('id', {
      type: 'StrategyId',
      description: 'Domain id: the id of the market, of a vault `equity-` + the id of the stock market.',
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    chain: t.field({
      type: ChainRef,
      description: 'Chain of the strategy.',
      resolve: (strategy, _args, ctx) => requireChain(ctx, strategy.chainId),
    }),
    marketId: t.expose('marketId', {
      type: 'MarketId',
      description: 'Id of the market in which the collateral is posted; of a vault the stock market.',
    }),
    market: t.field({
      type: MarketRef,
      description: 'Market in which the collateral is posted, with its numbers at full precision.',
      resolve: marketOf,
    }),
    name: t.string({
      description: 'Name for people: the symbols `collateral/loan`, of a vault those of its stock leg.',
      resolve: ({ collateral, loan }) => `${collateral.symbol}/${loan.symbol}`,
    }),
    collateral: t.field({
      type: TokenRef,
      description: 'Token that is posted; of a vault the stock.',
      resolve: (strategy, _args, ctx) => tokensOf(strategy, ctx).collateral,
    }),
    loan: t.field({
      type: TokenRef,
      description: 'Token that is borrowed against the collateral.',
      resolve: (strategy, _args, ctx) => tokensOf(strategy, ctx).loan,
    }),
    correlated: t.exposeBoolean('correlated', {
      description: 'Whether collateral and loan follow the same price; if not, leverage is a bet on the price.',
    }),
    curator: t.exposeString('curator', {
      nullable: true,
      description:
        'Partner that curates the market; distinguishes two vaults on one ticker. `null` = the product itself.',
    }),
    visibility: t.expose('visibility', {
      type: VisibilityRef,
      description: 'Whether the strategy is listed, and the rules that decided.',
    }),
    links: t.expose('links', { type: LinksRef, nullable: true, description: 'Pages to read on; `null` = none.' }),
    freshness: t.field({
      type: FactFreshnessRef,
      description: 'Age of the facts, by group.',
      resolve: freshnessOf,
    }),
    gaps: t.field(gapsOf(({ gaps }) => gaps)),
  }),
});

builder.interfaceFields(StrategyRef, (t) => ({
  apyPct: t.field({
    type: 'Decimal',
    description:
      'APY on the own money at the default leverage: `defaultLeverage.leverageApyPct`. Percent, signed, 2 places, incentives included.',
    resolve: ({ defaultLeverage }) => defaultLeverage.leverageApyPct,
  }),
  maxLeverage: t.expose('maxLeverage', {
    type: 'Decimal',
    description:
      'Leverage at the maximum LTV, of a vault at the cap of its stock leg. A multiple of the equity, 1 place.',
  }),
  leverageLadder: t.expose('leverageLadder', {
    type: [LeverageRungRef],
    complexity: { field: 1, multiplier: 10 },
    description: `Steps from leverage 1 to \`maxLeverage\`, at most ${MAX_LADDER_RUNGS}: of a loop each whole leverage and the exact maximum, of a vault the LTVs 0, target and highest.`,
  }),
  defaultLeverage: t.expose('defaultLeverage', {
    type: LeverageRungRef,
    description: 'Step that is used when a caller names none: of a loop at the safe LTV, of a vault at the target LTV.',
  }),
  historicalLeverageApyPct: t.expose('historicalLeverageApyPct', {
    type: RateMeansRef,
    nullable: true,
    description:
      'Trailing means of both rates at the default leverage of today. Percent. Each mean is over all days of the window that its rate has; the points of `leveragedApyHistory` are the days that both have.',
  }),
  borrowApyPct: t.expose('borrowApyPct', { type: 'Decimal', description: 'Borrow APY that is paid now. Percent.' }),
  quarterlyBorrowApyPct: t.expose('quarterlyBorrowApyPct', {
    type: 'Decimal',
    nullable: true,
    description: 'Mean borrow APY of 90 days. Percent.',
  }),
  borrowIncentive: t.field({
    type: IncentiveRef,
    nullable: true,
    description: 'Incentives paid to borrowers.',
    resolve: (strategy, _args, ctx) => marketOf(strategy, _args, ctx).borrowIncentive ?? null,
  }),
  netBorrowApyPct: t.expose('netBorrowApyPct', {
    type: 'Decimal',
    description:
      'Borrow APY less the borrow incentives, percent. The APY is compounded, the incentives (APRs) are not. While incentives are not known none is counted, and `gaps` says so. Signed.',
  }),
  totalCollateralApyPct: t.expose('totalCollateralApyPct', {
    type: 'Decimal',
    description:
      'Rate of the collateral in the ladder, percent with 2 places. Of a loop `collateralApyPct` plus `collateralIncentive.aprPct` (an APR, not compounded); while incentives are not known none is counted, and `gaps` says so. Of a vault `yieldLegApyPct`, which has the incentives of its yield leg in it. Signed.',
  }),
  collateralIncentive: t.field({
    type: IncentiveRef,
    nullable: true,
    description: 'Incentives paid on collateral.',
    resolve: (strategy, _args, ctx) => marketOf(strategy, _args, ctx).collateralIncentive ?? null,
  }),
  pointsIncentive: t.expose('pointsIncentive', {
    type: PointsRef,
    nullable: true,
    description: 'Off-chain points on the collateral.',
  }),
  supplyUsd: t.expose('supplyUsd', {
    type: 'Decimal',
    nullable: true,
    description: 'USD supplied to the market.',
  }),
  liquidityUsd: t.expose('liquidityUsd', {
    type: 'Decimal',
    nullable: true,
    description: 'USD that can be borrowed at once.',
  }),
  publicAllocatorLiquidityUsd: t.expose('publicAllocatorLiquidityUsd', {
    type: 'Decimal',
    nullable: true,
    description: '`liquidityUsd` plus the liquidity that the public allocator could bring. USD.',
  }),
  utilizationPct: t.field({
    type: 'Decimal',
    nullable: true,
    description: 'Share of the supply that is borrowed. Percent.',
    resolve: ({ utilizationPct }) => utilizationPct ?? null,
  }),
}));

builder.interfaceFields(StrategyRef, (t) => ({
  ltvLimits: t.expose('ltvPct', {
    type: LtvLimitsRef,
    description:
      'Loan-to-value limits of the collateral; of a vault those of its stock leg, with 88 % of the liquidation LTV as the highest.',
  }),
  oracle: t.field({
    type: OracleRef,
    description: 'Price oracle of the market with the latest reading.',
    resolve: (strategy, _args, ctx) => oracleOf(marketOf(strategy, _args, ctx)),
  }),
  oraclePriceAsOf: t.field({
    type: 'DateTime',
    nullable: true,
    description: `${ORACLE_PRICE_AS_OF}; \`null\` = no feed is behind it, or this is not known: see \`gaps\`.`,
    resolve: ({ oraclePriceAsOfMs }) => oraclePriceAsOfMs ?? null,
  }),
  collateralPrice: t.field({
    type: TokenPriceRef,
    nullable: true,
    description: 'USD price of the collateral as the numbers of the market use it.',
    resolve: (strategy, _args, ctx) => marketOf(strategy, _args, ctx).collateralPrice ?? null,
  }),
  loanPrice: t.field({
    type: TokenPriceRef,
    nullable: true,
    description: 'USD price of the loan token as the numbers of the market use it.',
    resolve: (strategy, _args, ctx) => marketOf(strategy, _args, ctx).loanPrice ?? null,
  }),
  exitLiquidity: t.field({
    type: ExitLiquidityRef,
    nullable: true,
    description: 'Measured cost of selling the collateral.',
    resolve: (strategy, _args, ctx) => marketOf(strategy, _args, ctx).facts.exitLiquidity ?? null,
  }),
  exitLiquidityTier: t.field({
    type: ExitLiquidityTierRef,
    nullable: true,
    description: 'Verdict on the exit liquidity, with the limits that it used.',
    resolve: ({ spiralHints }) => spiralHints?.exitLiquidityTier ?? null,
  }),
  noSwapRoute: t.exposeBoolean('noSwapRoute', {
    description:
      'Whether the collateral has no swap route. While nothing has measured it no route is assumed, and `gaps` says so.',
  }),
  warnings: t.field({
    type: [WarningRef],
    complexity: { field: 1, multiplier: 2 },
    description: `Doubts about values that are shown; at most ${2 * MAX_WARNINGS}, and empty when there is none.`,
    resolve: ({ spiralHints }) => [...(spiralHints?.warnings ?? [])],
  }),
  fees: t.expose('fees', {
    type: FeesRef,
    description: 'Fees of the contract that holds positions; of a vault on its yield leg.',
  }),
  deployment: t.expose('deployment', {
    type: MarketDeploymentRef,
    nullable: true,
    description:
      'Terms of the deployed contract, on which limits and fees rest; of a vault for positions of its yield leg.',
  }),
}));
