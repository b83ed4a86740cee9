import { priceAsOfMs } from '../../domain/market/price-age.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { MAX_WARNINGS } from '../../domain/plausibility/types.ts';
import { existingPageSize } from '../../resolvers/common/list-sizes.ts';
import { requireChain } from '../../resolvers/market/chains.ts';
import { oracleOf } from '../../resolvers/market/market-facts.ts';
import { marketGaps } from '../../resolvers/market/market-gaps.ts';
import { findMarket, freshMarket, freshMarkets, isVisible, strategiesOf } from '../../resolvers/market/markets.ts';
import { MAX_LIQUIDITY_SOURCES, MAX_STRATEGIES } from '../../shared/contract/list-bounds.ts';
import { Decimal } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { MarketDeploymentRef } from '../common/deployment.ts';
import { FactFreshnessRef } from '../common/fact-freshness.ts';
import { maxAgeArg } from '../common/fresh-args.ts';
import { gapsOf } from '../common/gaps.ts';
import { defineNode } from '../common/node.ts';
import { CHAIN_OF_ID, CHAINS, measuredFields, missingFactsField, pageArgs } from '../common/page.ts';
import { ORACLE_PRICE_AS_OF } from '../common/stamp.ts';
import { ApySourceRef } from '../common/token.ts';
import { WarningRef } from '../common/warning.ts';
import { StrategyRef, TokenRef } from '../refs.ts';
import { ExitLiquidityRef } from './exit-liquidity.ts';
import { FeesRef } from './fees.ts';
import { IncentiveRef } from './incentive.ts';
import {
  LendingStateRef,
  LtvLimitsRef,
  MarketMeansRef,
  MeasuredApyRef,
  OracleRef,
  SharedSourceRef,
} from './market-facts.ts';
import { TokenPriceRef } from './price.ts';

/** One WAD is 100 %. */
const PCT_OF_WAD = -16;

const MarketKindRef = builder.enumType('MarketKind', {
  description: 'Use of a market.',
  values: {
    LOOP: { value: 'loop', description: 'A loop strategy of its own.' },
    STOCK: { value: 'stock', description: 'The stock leg of equity vaults.' },
  } as const,
});

export const MarketRef = builder.objectRef<ComposedMarket>('Market');
defineNode(MarketRef, {
  key: ['chainId', 'marketId'],
  keyOf: ({ market }) => [market.chainId, market.id],
  load: ([chainId, marketId], ctx) => findMarket({ chainId, marketId }, ctx),
});

MarketRef.implement({
  description:
    'One Morpho Blue market with all its numbers at full precision, composed from one version of the facts. A measured value that is not known is `null` with its reason in `gaps`, never 0.',
  fields: (t) => ({
    marketId: t.field({
      type: 'MarketId',
      description: 'Hash of the five market parameters: the id at the protocol.',
      resolve: ({ market }) => market.id,
    }),
    chainId: t.field({
      type: 'ChainId',
      description: 'Id of the chain.',
      resolve: ({ market }) => market.chainId,
    }),
    chain: t.field({
      type: ChainRef,
      description: 'Chain of the market.',
      resolve: ({ market }, _args, ctx) => requireChain(ctx, market.chainId),
    }),
    kind: t.field({ type: MarketKindRef, description: 'Use of the market.', resolve: ({ market }) => market.kind }),
    name: t.string({
      description: 'Name for people: the symbols `collateral/loan`.',
      resolve: ({ market }) => `${market.collateral.displaySymbol}/${market.loan.displaySymbol}`,
    }),
    collateral: t.field({
      type: TokenRef,
      description: 'Token that is posted.',
      resolve: ({ market }) => market.collateral,
    }),
    loan: t.field({ type: TokenRef, description: 'Token that is borrowed.', resolve: ({ market }) => market.loan }),
    irm: t.field({
      type: 'Address',
      description: 'Interest-rate model of the market.',
      resolve: ({ market }) => market.irm,
    }),
    lltvWad: t.field({
      type: 'BigInteger',
      description: 'Liquidation loan-to-value in WAD, as the market was created with.',
      resolve: ({ market }) => market.lltv,
    }),
    correlated: t.boolean({
      description: 'Whether collateral and loan follow the same price; if not, leverage is a bet on the price.',
      resolve: ({ market }) => market.correlated,
    }),
    curator: t.string({
      nullable: true,
      description: 'Partner that curates the market; `null` = the product itself.',
      resolve: ({ market }) => market.curator ?? null,
    }),
    listed: t.boolean({
      description: 'Whether a strategy on the market is listed; the strategy has the reasons.',
      resolve: (market, _args, ctx) => isVisible(market, ctx),
    }),
    strategies: t.field({
      type: [StrategyRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Strategies of the market, listed or not: its loop, or the equity vaults on its stock; at most ${MAX_STRATEGIES}.`,
      resolve: (market, _args, ctx) => strategiesOf(market, ctx),
    }),
    freshness: t.expose('stamps', { type: FactFreshnessRef, description: 'Age of the facts, by group.' }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Doubts about values that are shown; at most ${MAX_WARNINGS}, and empty when there is none.`,
    }),
    gaps: t.field(gapsOf((market) => marketGaps(market))),
  }),
});

builder.objectFields(MarketRef, (t) => ({
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
    description: 'Borrowable at once; loan base units.',
  }),
  utilizationWad: t.expose('utilization', {
    type: 'BigInteger',
    description: 'Owed / supplied in WAD, as the interest-rate model takes it.',
  }),
  utilizationPct: t.field({
    type: 'Decimal',
    description: 'Share of the supply that is borrowed. Percent at full precision.',
    resolve: ({ utilization }) => new Decimal(utilization.toString()).shiftedBy(PCT_OF_WAD),
  }),
  supplyUsd: t.expose('supplyUsd', {
    type: 'Decimal',
    nullable: true,
    description: 'USD supplied.',
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
  sharedLiquidity: t.field({
    type: [SharedSourceRef],
    nullable: true,
    complexity: { field: 1, multiplier: 5 },
    description: `Liquidity that the public allocator could bring, by source; one entry per vault and market that it may take from, at most ${MAX_LIQUIDITY_SOURCES}, the largest ones. \`null\` = not known, or the chain has no allocator: see \`gaps\`.`,
    resolve: ({ facts }) => facts.sharedLiquidity?.value.sources ?? null,
  }),
}));

builder.objectFields(MarketRef, (t) => ({
  borrowApyPct: t.expose('borrowApyPct', {
    type: 'Decimal',
    description:
      'Borrow APY paid at the block of `state`, percent, compounded continuously; not the mean since the last accrual.',
  }),
  borrowIncentive: t.expose('borrowIncentive', {
    type: IncentiveRef,
    nullable: true,
    description: 'Incentives paid to borrowers.',
  }),
  collateralIncentive: t.expose('collateralIncentive', {
    type: IncentiveRef,
    nullable: true,
    description: 'Incentives paid on collateral.',
  }),
  netBorrowApyPct: t.expose('netBorrowApyPct', {
    type: 'Decimal',
    description:
      'Borrow APY less the borrow incentives, percent. The APY is compounded, the incentives (APRs) are not. While incentives are not known none is counted, and `gaps` says so. Signed.',
  }),
  quarterlyBorrowApyPct: t.field({
    type: 'Decimal',
    nullable: true,
    description: 'Mean borrow APY of 90 days. Percent.',
    resolve: ({ history }) => history.quarterlyBorrowApyPct ?? null,
  }),
  collateralApyPct: t.expose('collateralApyPct', {
    type: 'Decimal',
    description:
      'APY of the collateral without incentives, percent; 0 by contract when it has no source. Rates of different kinds are listed together: implied until maturity (from a yield market), the mean of 7 days (from the stable index or an incentive market), the last day (from an aggregator), paid now (on chain). Signed.',
  }),
  effectiveCollateralApyPct: t.expose('effectiveCollateralApyPct', {
    type: 'Decimal',
    description:
      'APY of the collateral plus its incentives, percent: the rate that leverage multiplies. The APY is compounded, the incentives (APRs) are not. While incentives are not known none is counted, and `gaps` says so.',
  }),
  collateralApySource: t.expose('collateralApySource', {
    type: ApySourceRef,
    description: 'Source of the APY of the collateral; `NONE` also for a principal token past its maturity.',
  }),
  measuredCollateralApy: t.field({
    type: MeasuredApyRef,
    nullable: true,
    description: 'APY of the collateral from its source; `null` = no source applies, or see `gaps`.',
    resolve: ({ facts: { collateralApy: fact }, stamps }) =>
      fact ? { apyPct: fact.value.apyPct, source: fact.source, stamp: stamps.collateralApy } : null,
  }),
  means: t.expose('history', { type: MarketMeansRef, description: 'Trailing means of the rates.' }),
}));

builder.objectFields(MarketRef, (t) => ({
  oracle: t.field({ type: OracleRef, description: 'Price oracle with the latest reading.', resolve: oracleOf }),
  oraclePriceAsOf: t.field({
    type: 'DateTime',
    nullable: true,
    description: `${ORACLE_PRICE_AS_OF}; \`null\` = no feed is behind it, or this is not known: see \`gaps\`.`,
    resolve: ({ facts: { oracle } }) => priceAsOfMs(oracle.value.feeds) ?? null,
  }),
  collateralPrice: t.field({
    type: TokenPriceRef,
    nullable: true,
    description: 'USD price of the collateral as the numbers of the market use it.',
    resolve: ({ collateralPrice }) => collateralPrice ?? null,
  }),
  loanPrice: t.field({
    type: TokenPriceRef,
    nullable: true,
    description: 'USD price of the loan token as the numbers of the market use it.',
    resolve: ({ loanPrice }) => loanPrice ?? null,
  }),
  ltvLimits: t.field({
    type: LtvLimitsRef,
    description: 'Loan-to-value limits at full precision.',
    resolve: ({ liquidationLtvPct: liquidation, maxLtvPct: max, safeLtvPct: safe }) => ({ liquidation, max, safe }),
  }),
  exitLiquidity: t.field({
    type: ExitLiquidityRef,
    nullable: true,
    description: 'Measured cost of selling the collateral.',
    resolve: ({ facts }) => facts.exitLiquidity ?? null,
  }),
  fees: t.field({
    type: FeesRef,
    description: 'Fees that the contract that holds positions takes on the market.',
    resolve: ({ fees }) => fees.formatted,
  }),
  deployment: t.expose('deployment', {
    type: MarketDeploymentRef,
    nullable: true,
    description:
      'Terms of the deployed contract for positions on the market, on which limits and fees rest. `null` = the market is the stock leg of an equity vault, which the contract has no part in.',
  }),
}));

const MarketConnectionRef = builder.connectionObject(
  {
    type: MarketRef,
    name: 'MarketConnection',
    description: 'A page of markets.',
    fields: (t) => ({
      asOf: t.field(measuredFields.asOf),
      missingChains: t.field(measuredFields.missingChains),
      missingFacts: t.field(missingFactsField),
    }),
  },
  { name: 'MarketEdge', description: 'A market and its place in the list.' },
);

builder.queryFields((t) => ({
  markets: t.field({
    type: MarketConnectionRef,
    nullable: true,
    complexity: (args, ctx) => ({ field: 1, multiplier: existingPageSize(args, 'markets', ctx) }),
    description:
      'Composed markets at full precision, in catalog order. A chain that is not measured yet is among `missingChains`; the error `not_ready` when that is so of every asked chain.',
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      listed: t.arg.boolean({
        description: 'Only listed (`true`) or only unlisted (`false`) ones; both when left out.',
      }),
      ...pageArgs(t.arg),
      ...maxAgeArg(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshMarkets(args, ctx, info),
  }),
  market: t.field({
    type: MarketRef,
    nullable: true,
    description: 'One composed market. An id that is not in the catalog is answered with the error `not_found`.',
    args: {
      id: t.arg({ type: 'MarketId', required: true, description: 'Domain id or global id of the market.' }),
      chainId: t.arg({ type: 'ChainId', description: CHAIN_OF_ID }),
      ...maxAgeArg(t.arg),
    },
    resolve: (_root, { id, ...args }, ctx, info) => freshMarket({ marketId: id, ...args }, ctx, info),
  }),
}));
