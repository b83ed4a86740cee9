import { formatFees } from '../../domain/market/fees.ts';
import { priceAsOfMs } from '../../domain/market/price-age.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { askedPageSize, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../resolvers/common/page.ts';
import { requireChain } from '../../resolvers/market/chains.ts';
import { findMarket, isVisible, listMarkets, strategiesOf } from '../../resolvers/market/markets.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { MarketDeploymentRef } from '../common/deployment.ts';
import { FreshnessRef, GapRef, ORACLE_PRICE_AS_OF } from '../common/stamp.ts';
import { ApySourceRef } from '../common/token.ts';
import { WarningRef } from '../common/warning.ts';
import { StrategyRef, TokenRef } from '../refs.ts';
import { FeesRef } from './fees.ts';
import {
  ExitSlippageRef,
  exitSlippages,
  LendingStateRef,
  MarketHistoryRef,
  MeasuredApyRef,
  MeasuredPriceRef,
  measuredPrice,
  OracleReadingRef,
  RunningIncentiveRef,
  SharedSourceRef,
} from './market-facts.ts';

export const MarketKindRef = builder.enumType('MarketKind', {
  description: 'What a market is used for.',
  values: {
    loop: { value: 'loop', description: 'A leverage strategy of its own.' },
    stock: { value: 'stock', description: 'The stock leg of equity vaults.' },
  } as const,
});

const MarketFreshnessRef = builder.objectRef<ComposedMarket['stamps']>('MarketFreshness').implement({
  description: 'Age of the values of a market, by group.',
  fields: (t) => ({
    borrow: t.expose('borrow', { type: FreshnessRef, description: 'Rates, supply, debt and liquidity.' }),
    oracle: t.expose('oracle', { type: FreshnessRef, description: 'The oracle value.' }),
    collateralApy: t.expose('collateralApy', { type: FreshnessRef, description: 'The APY of the collateral.' }),
    exitLiquidity: t.expose('exitLiquidity', { type: FreshnessRef, description: 'The exit quotes.' }),
  }),
});

export const MarketRef = builder.objectRef<ComposedMarket>('Market');

MarketRef.implement({
  description: 'One Morpho Blue market with all its numbers at full precision, composed from one version of the facts.',
  fields: (t) => ({
    id: t.field({
      type: 'MarketId',
      description: 'Hash of the five market parameters.',
      resolve: ({ market }) => market.id,
    }),
    chainId: t.field({
      type: 'ChainId',
      description: 'The chain it lives on.',
      resolve: ({ market }) => market.chainId,
    }),
    chain: t.field({
      type: ChainRef,
      description: 'The chain it lives on.',
      resolve: ({ market }, _args, ctx) => requireChain(ctx, market.chainId),
    }),
    kind: t.field({ type: MarketKindRef, description: 'What it is used for.', resolve: ({ market }) => market.kind }),
    collateral: t.field({ type: TokenRef, description: 'What is posted.', resolve: ({ market }) => market.collateral }),
    loan: t.field({ type: TokenRef, description: 'What is borrowed.', resolve: ({ market }) => market.loan }),
    irm: t.field({ type: 'Address', description: 'The interest-rate model.', resolve: ({ market }) => market.irm }),
    lltv: t.field({
      type: 'BigInteger',
      description: 'Liquidation loan-to-value in WAD.',
      resolve: ({ market }) => market.lltv,
    }),
    correlated: t.field({
      type: 'Boolean',
      description: 'Whether collateral and loan follow the same price; if not, leverage is a bet on the price.',
      resolve: ({ market }) => market.correlated,
    }),
    curator: t.string({
      nullable: true,
      description: 'Partner that curates the market; `null` = the product itself.',
      resolve: ({ market }) => market.curator ?? null,
    }),
    oracle: t.field({
      type: OracleReadingRef,
      description: 'Its price oracle with the latest value.',
      resolve: ({ market, facts: { oracle } }) => ({
        address: market.oracle,
        type: market.oracleType,
        asOfMs: oracle.asOfMs,
        ...oracle.value,
      }),
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}; \`null\` = it needs none, or this is not known: see \`gaps\`.`,
      resolve: ({ facts: { oracle } }) => priceAsOfMs(oracle.value.feeds) ?? null,
    }),
    state: t.field({
      type: LendingStateRef,
      description: 'State as stored on chain.',
      resolve: ({ facts }) => facts.lendingState,
    }),
    totalSupplyAssets: t.expose('totalSupplyAssets', {
      type: 'BigInteger',
      description: 'Supplied, with interest accrued to the block of `state`; loan base units.',
    }),
    totalBorrowAssets: t.expose('totalBorrowAssets', {
      type: 'BigInteger',
      description: 'Owed, with interest accrued to the block of `state`; loan base units.',
    }),
    totalSupplyShares: t.expose('totalSupplyShares', {
      type: 'BigInteger',
      description: 'Supply shares after the accrual.',
    }),
    totalBorrowShares: t.expose('totalBorrowShares', {
      type: 'BigInteger',
      description: 'Borrow shares after the accrual.',
    }),
    liquidityAssets: t.expose('liquidityAssets', {
      type: 'BigInteger',
      description: 'What can be borrowed at once; loan base units.',
    }),
    utilization: t.expose('utilization', { type: 'BigInteger', description: 'Owed / supplied in WAD.' }),
    borrowApyPct: t.expose('borrowApyPct', {
      type: 'Decimal',
      description:
        'Percent per year, compounded continuously: what is paid at the block of `state`, not the mean since the last accrual.',
    }),
    borrowIncentive: t.expose('borrowIncentive', {
      type: RunningIncentiveRef,
      nullable: true,
      description: 'Running borrow incentives; `null` = none or not known, see `gaps`.',
    }),
    collateralIncentive: t.expose('collateralIncentive', {
      type: RunningIncentiveRef,
      nullable: true,
      description: 'Running collateral incentives; `null` = none or not known, see `gaps`.',
    }),
    netBorrowApyPct: t.expose('netBorrowApyPct', {
      type: 'Decimal',
      description:
        'Borrow APY less borrow incentives, percent per year. The first is compounded, the incentives (APRs) are not. Without them while they are not known, see `gaps`.',
    }),
    collateralApyPct: t.expose('collateralApyPct', {
      type: 'Decimal',
      description:
        'APY, percent per year, without collateral incentives. Rates of different kinds stand side by side: implied until maturity (`yieldmarket`), the mean of 7 days (`stableindex`, `incentivemarket`), the last day (`aggregator`), what is paid now (`onchain`).',
    }),
    effectiveCollateralApyPct: t.expose('effectiveCollateralApyPct', {
      type: 'Decimal',
      description:
        'Percent per year, with collateral incentives: what leverage multiplies. The APY is compounded, the incentives (APRs) are not. Without them while they are not known, see `gaps`.',
    }),
    collateralApySource: t.expose('collateralApySource', {
      type: ApySourceRef,
      description: 'Where the APY of the collateral comes from; `none` also for a principal token past its maturity.',
    }),
    measuredCollateralApy: t.field({
      type: MeasuredApyRef,
      nullable: true,
      description: 'The collateral APY as its source gave it; `null` when no source applies.',
      resolve: ({ facts: { collateralApy: fact } }) =>
        fact ? { apyPct: fact.value.apyPct, asOfMs: fact.asOfMs, source: fact.source } : null,
    }),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'Percent at which a position is liquidated.',
    }),
    maxLtvPct: t.expose('maxLtvPct', {
      type: 'Decimal',
      description: 'Percent: highest LTV that the contracts accept.',
    }),
    safeLtvPct: t.expose('safeLtvPct', {
      type: 'Decimal',
      description: 'Percent: highest LTV that builders accept, and the default.',
    }),
    fees: t.field({
      type: FeesRef,
      description: 'What the contract that holds positions takes on this market.',
      resolve: ({ fees }) => formatFees(fees),
    }),
    deployment: t.expose('deployment', {
      type: MarketDeploymentRef,
      nullable: true,
      description:
        'What the deployed contract says that holds for positions on it: what its limits and fees rest on. `null` on the stock legs of equity vaults, which it has no part in.',
    }),
    supplyUsd: t.expose('supplyUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD supplied; `null` = see `gaps`.',
    }),
    liquidityUsd: t.expose('liquidityUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD that can be borrowed at once; `null` = see `gaps`.',
    }),
    publicAllocatorLiquidityUsd: t.expose('publicAllocatorLiquidityUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The same plus what the public allocator could bring, USD; `null` = see `gaps`.',
    }),
    collateralPrice: t.field({
      type: MeasuredPriceRef,
      nullable: true,
      description:
        'USD price of the collateral, as believed; source `oracle` = oracle price x loan price. `null` = see `gaps`.',
      resolve: (market) => measuredPrice(market.collateralPrice),
    }),
    loanPrice: t.field({
      type: MeasuredPriceRef,
      nullable: true,
      description: 'USD price of the loan token, as believed. `null` = see `gaps`.',
      resolve: (market) => measuredPrice(market.loanPrice),
    }),
    exitSlippage: t.field({
      type: [ExitSlippageRef],
      nullable: true,
      complexity: { field: 1, multiplier: 4 },
      description: 'Loss per size of a sale of the collateral at full precision; `null` = not measured.',
      resolve: ({ facts }) => (facts.exitLiquidity ? exitSlippages(facts.exitLiquidity.value.slippagePct) : null),
    }),
    sharedLiquidity: t.field({
      type: [SharedSourceRef],
      nullable: true,
      description:
        'What the public allocator could bring, by source; `null` = not known, or the chain has no allocator.',
      resolve: ({ facts }) => facts.sharedLiquidity?.value.sources ?? null,
    }),
    trailing: t.expose('history', { type: MarketHistoryRef, description: 'Trailing means at full precision.' }),
    freshness: t.expose('stamps', { type: MarketFreshnessRef, description: 'Age of the values, by group.' }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'What to know of the values that are shown; empty when there is nothing.',
    }),
    visible: t.boolean({
      description: 'Whether a strategy on this market is listed; `strategies { visibility }` says why or why not.',
      resolve: (market, _args, ctx) => isVisible(market, ctx),
    }),
    strategies: t.field({
      type: [StrategyRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'The strategies that stand on this market, listed or not.',
      resolve: (market, _args, ctx) => strategiesOf(market, ctx),
    }),
    gaps: t.expose('gaps', {
      type: [GapRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Every field that is `null`, and why.',
    }),
  }),
});

const MarketConnectionRef = builder.connectionObject(
  {
    type: MarketRef,
    name: 'MarketConnection',
    description: 'A page of markets.',
  },
  { name: 'MarketEdge', description: 'A market and its place in the list.' },
);

builder.queryFields((t) => ({
  markets: t.field({
    type: MarketConnectionRef,
    complexity: (args) => ({ field: 1, multiplier: askedPageSize(args) }),
    description: 'Composed markets at full precision, in catalog order.',
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: 'Only of these chains; all when left out.' }),
      visible: t.arg.boolean({
        description: 'Only listed (`true`) or only unlisted (`false`) ones; both when left out.',
      }),
      first: t.arg.int({
        required: true,
        defaultValue: DEFAULT_PAGE_SIZE,
        description: `Entries per page, 1 to ${MAX_PAGE_SIZE}.`,
      }),
      after: t.arg.string({ description: 'Cursor of the last entry already seen, of the same order.' }),
    },
    resolve: (_root, args, ctx) => listMarkets(args, ctx),
  }),
  market: t.field({
    type: MarketRef,
    nullable: true,
    description: 'One composed market. An id that is not listed is answered with the error `not_found`.',
    args: {
      id: t.arg({ type: 'MarketId', required: true, description: 'Market id.' }),
      chainId: t.arg({ type: 'ChainId', description: 'The chain to look on; all when left out.' }),
    },
    resolve: (_root, args, ctx) => findMarket(args, ctx),
  }),
}));
