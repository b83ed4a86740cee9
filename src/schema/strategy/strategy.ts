import type { Strategy } from '../../domain/strategy/types.ts';
import { askedPageSize, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../resolvers/common/page.ts';
import { requireChain } from '../../resolvers/market/chains.ts';
import { findMarket } from '../../resolvers/market/markets.ts';
import { findStrategy, listStrategies } from '../../resolvers/strategy/strategies.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { MarketDeploymentRef } from '../common/deployment.ts';
import { GapRef, ORACLE_PRICE_AS_OF } from '../common/stamp.ts';
import { ApySourceRef } from '../common/token.ts';
import { FeesRef } from '../market/fees.ts';
import { MarketRef } from '../market/market.ts';
import { OracleTypeRef } from '../market/market-facts.ts';
import { StrategyRef } from '../refs.ts';
import { StrategyFilterRef, StrategyKindRef, StrategyOrderRef } from './strategy-inputs.ts';
import {
  AveragesRef,
  CollateralRef,
  EquityTermsRef,
  ExitLiquidityRef,
  HintsRef,
  IncentiveRef,
  InputFreshnessRef,
  LadderEntryRef,
  LinksRef,
  LoanRef,
  LtvRef,
  PointsRef,
  StrategyFreshnessRef,
} from './strategy-parts.ts';
import { VisibilityRef } from './visibility.ts';

const StrategyOracleRef = builder.objectRef<Strategy['oracle']>('StrategyOracle').implement({
  description: 'The price oracle of a strategy.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'The oracle contract.' }),
    type: t.expose('type', {
      type: OracleTypeRef,
      nullable: true,
      description: 'What it follows; `null` = not established.',
    }),
  }),
});

StrategyRef.implement({
  description:
    'One leveraged strategy: raw facts, rendered as the v1 contract shows them. A measured value that is not known is `null` with its reason in `gaps`, never 0.',
  fields: (t) => ({
    id: t.expose('id', { type: 'StrategyId', description: 'Market id, or `equity-` + the id of the stock market.' }),
    kind: t.expose('kind', { type: StrategyKindRef, description: 'Loop or equity vault.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain it lives on.' }),
    chain: t.field({
      type: ChainRef,
      description: 'The chain it lives on.',
      resolve: (strategy, _args, ctx) => requireChain(ctx, strategy.chainId),
    }),
    marketId: t.expose('marketId', {
      type: 'MarketId',
      description: 'Its market; of an equity vault the stock market.',
    }),
    market: t.field({
      type: MarketRef,
      nullable: true,
      description: 'That market at full precision.',
      resolve: ({ marketId, chainId }, _args, ctx) => findMarket({ id: marketId, chainId }, ctx),
    }),
    correlated: t.exposeBoolean('correlated', {
      description: 'Whether collateral and loan follow the same price; if not, leverage is a bet on the price.',
    }),
    curator: t.exposeString('curator', {
      nullable: true,
      description:
        'Partner that curates the market; tells two vaults on one ticker apart. `null` = the product itself.',
    }),
    collateral: t.expose('collateral', { type: CollateralRef, description: 'What is posted.' }),
    loan: t.expose('loan', { type: LoanRef, description: 'What is borrowed.' }),
    collateralApyPct: t.expose('collateralApyPct', {
      type: 'Decimal',
      description:
        'APY of the collateral without incentives, percent with 2 places; "0.00" by contract when its source is `none`. Rates of different kinds stand side by side: implied until maturity (`yieldmarket`), the mean of 7 days (`stableindex`, `incentivemarket`), the last day (`aggregator`), what is paid now (`onchain`).',
    }),
    collateralApySource: t.expose('collateralApySource', {
      type: ApySourceRef,
      description: 'Where that APY comes from.',
    }),
    yieldSustainabilityPct: t.expose('yieldSustainabilityPct', {
      type: AveragesRef,
      nullable: true,
      description: 'Trailing means of the collateral APY; `null` = see `gaps`.',
    }),
    pointsIncentive: t.expose('pointsIncentive', {
      type: PointsRef,
      nullable: true,
      description: 'Off-chain points on the collateral; `null` = see `gaps`.',
    }),
    borrowApyPct: t.expose('borrowApyPct', {
      type: 'Decimal',
      description: 'Borrow APY that is paid now, percent with 2 places.',
    }),
    quarterlyBorrowApyPct: t.expose('quarterlyBorrowApyPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Mean borrow APY of 90 days, percent with 2 places; `null` = see `gaps`.',
    }),
    borrowIncentive: t.expose('borrowIncentive', {
      type: IncentiveRef,
      nullable: true,
      description: 'Incentive paid to borrowers; `null` = none (`NONE` in `gaps`) or not known (another reason).',
    }),
    collateralIncentive: t.expose('collateralIncentive', {
      type: IncentiveRef,
      nullable: true,
      description: 'Incentive paid on collateral; `null` = none (`NONE` in `gaps`) or not known (another reason).',
    }),
    netBorrowApyPct: t.expose('netBorrowApyPct', {
      type: 'Decimal',
      description:
        'Borrow APY less the borrow incentive, percent with 2 places. The first is compounded, the incentive (an APR) is not. While incentives are not known none is counted, and `gaps` says so.',
    }),
    supplyUsd: t.expose('supplyUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD supplied to the market, 2 places; `null` = see `gaps`.',
    }),
    liquidityUsd: t.expose('liquidityUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD that can be borrowed at once, 2 places; `null` = see `gaps`.',
    }),
    publicAllocatorLiquidityUsd: t.expose('publicAllocatorLiquidityUsd', {
      type: 'Decimal',
      nullable: true,
      description: '`liquidityUsd` plus what the public allocator could bring, USD with 2 places; `null` = see `gaps`.',
    }),
    maxLeverage: t.expose('maxLeverage', { type: 'Decimal', description: 'Leverage at the maximum LTV, 1 place.' }),
    utilizationPct: t.expose('utilizationPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Share of the supply that is borrowed, percent with 2 places; `null` = see `gaps`.',
    }),
    leverageLadder: t.expose('leverageLadder', {
      type: [LadderEntryRef],
      complexity: { field: 1, multiplier: 10 },
      description: 'Whole steps 1, 2, ... and then the exact maximum.',
    }),
    defaultLeverage: t.expose('defaultLeverage', { type: LadderEntryRef, description: 'The entry at the safe LTV.' }),
    historicalLeverageApyPct: t.expose('historicalLeverageApyPct', {
      type: AveragesRef,
      nullable: true,
      description: 'Trailing means, levered at the safe LTV; `null` = see `gaps`.',
    }),
    ltvPct: t.expose('ltvPct', { type: LtvRef, description: 'Loan-to-value limits.' }),
    oracle: t.expose('oracle', { type: StrategyOracleRef, description: 'The price oracle.' }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}; of an equity vault those of the stock. \`null\` = it needs none, or this is not known: see \`gaps\`.`,
      resolve: ({ oraclePriceAsOfMs }) => oraclePriceAsOfMs ?? null,
    }),
    exitLiquidity: t.expose('exitLiquidity', {
      type: ExitLiquidityRef,
      description: 'What selling the collateral would cost.',
    }),
    noSwapRoute: t.exposeBoolean('noSwapRoute', {
      description:
        'Whether the collateral has no swap route. While nothing has measured it no route is assumed, and `gaps` says so.',
    }),
    spiralHints: t.expose('spiralHints', {
      type: HintsRef,
      nullable: true,
      description: 'Opinions; `null` = there are none on this strategy.',
    }),
    freshness: t.expose('freshness', { type: StrategyFreshnessRef, description: 'Age of the values, by group.' }),
    inputFreshness: t.expose('inputFreshness', {
      type: InputFreshnessRef,
      description: 'Age of the prices and incentives that its numbers are made from.',
    }),
    fees: t.expose('fees', {
      type: FeesRef,
      description: 'What the contract that holds positions takes; of an equity vault on its yield leg.',
    }),
    links: t.expose('links', { type: LinksRef, nullable: true, description: 'Where to read on; `null` = nowhere.' }),
    equityVault: t.field({
      type: EquityTermsRef,
      nullable: true,
      description: 'Terms of the equity vault; `null` on loops.',
      resolve: ({ equityVault, chainId }) => (equityVault ? { ...equityVault, chainId } : null),
    }),
    deployment: t.expose('deployment', {
      type: MarketDeploymentRef,
      nullable: true,
      description:
        'What the deployed contract says that holds for its positions, and what its limits and fees rest on; of an equity vault for those of its yield leg.',
    }),
    visibility: t.expose('visibility', {
      type: VisibilityRef,
      description: 'Whether it is listed, and the rules that decided.',
    }),
    gaps: t.expose('gaps', {
      type: [GapRef],
      complexity: { field: 1, multiplier: 5 },
      description:
        'Every field that is `null` and could carry a value, and every one that carries a conservative value because an input is not known; and why.',
    }),
  }),
});

const StrategyConnectionRef = builder.connectionObject(
  {
    type: StrategyRef,
    name: 'StrategyConnection',
    description: 'A page of strategies.',
  },
  { name: 'StrategyEdge', description: 'A strategy and its place in the list.' },
);

builder.queryFields((t) => ({
  strategies: t.field({
    type: StrategyConnectionRef,
    complexity: (args) => ({ field: 1, multiplier: askedPageSize(args) }),
    description:
      'Listed strategies of all chains. A chain that is not measured yet is answered with the error `not_ready`, never with an empty list.',
    args: {
      filter: t.arg({ type: StrategyFilterRef, description: 'All given conditions must hold.' }),
      orderBy: t.arg({
        type: StrategyOrderRef,
        description: 'By leveraged APY, largest first, when left out. Unknown values come last.',
      }),
      first: t.arg.int({
        required: true,
        defaultValue: DEFAULT_PAGE_SIZE,
        description: `Entries per page, 1 to ${MAX_PAGE_SIZE}.`,
      }),
      after: t.arg.string({ description: 'Cursor of the last entry already seen, of the same order.' }),
    },
    resolve: (_root, args, ctx) => listStrategies(args, ctx),
  }),
  strategy: t.field({
    type: StrategyRef,
    nullable: true,
    description: 'One strategy, listed or not. An unknown id is answered with the error `not_found`.',
    args: {
      id: t.arg({ type: 'StrategyId', required: true, description: 'Market id, or `equity-` + market id.' }),
      chainId: t.arg({ type: 'ChainId', description: 'The chain to look on; all when left out.' }),
    },
    resolve: (_root, args, ctx) => findStrategy(args, ctx),
  }),
}));
