import type {
  EquityTerms,
  ExitLiquidity,
  Incentive,
  LadderEntry,
  SpiralHints,
  Strategy,
  StrategyCollateral,
  StrategyLoan,
  TrailingAverages,
} from '../../domain/strategy/types.ts';
import { maturityDaysLeftIn } from '../../resolvers/common/age.ts';
import { yieldStrategyOf } from '../../resolvers/strategy/strategies.ts';
import { builder } from '../builder.ts';
import { FreshnessRef } from '../common/stamp.ts';
import { CategoryRef, UnderlyingRef } from '../common/token.ts';
import { WarningRef } from '../common/warning.ts';
import { ExitSlippageRef, exitSlippages } from '../market/market-facts.ts';
import { StrategyRef } from '../refs.ts';

export const CollateralRef = builder.objectRef<StrategyCollateral>('StrategyCollateral').implement({
  description: 'Facts of the collateral token of a strategy.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'Token contract.' }),
    symbol: t.exposeString('symbol', { description: 'Symbol; that of a principal token without its date.' }),
    name: t.exposeString('name', { description: 'Full name.' }),
    decimals: t.exposeInt('decimals', { description: 'Base units per token as a power of ten.' }),
    category: t.expose('category', { type: CategoryRef, description: 'What kind of asset it is.' }),
    categoryName: t.string({
      description: 'The kind in the spelling of the v1 contract, e.g. `stable-PT`.',
      resolve: ({ category }) => category,
    }),
    project: t.exposeString('project', { nullable: true, description: 'Who issues it; `null` = not curated.' }),
    yieldSource: t.exposeString('yieldSource', {
      nullable: true,
      description: 'Where its yield comes from, in a few words; `null` = not curated, or it earns nothing.',
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'What it is and how it earns, in one or two plain sentences; `null` = not curated.',
    }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD per token; `null` = see `gaps`.',
    }),
    priceSource: t.exposeString('priceSource', {
      nullable: true,
      description: 'Who priced it; `oracle` = oracle price x loan price; `null` = not known.',
    }),
    isPt: t.exposeBoolean('isPt', { description: 'Whether it is a principal token with a maturity.' }),
    maturity: t.expose('maturity', {
      type: 'SafeInt',
      nullable: true,
      description: 'Maturity in unix seconds; `null` = it does not mature.',
    }),
    maturityDate: t.expose('maturityDate', {
      type: 'LocalDate',
      nullable: true,
      description: 'Maturity as `YYYY-MM-DD` in UTC; `null` = it does not mature.',
    }),
    maturityDaysLeft: t.int({
      nullable: true,
      description: 'Whole days until maturity, 0 once matured; `null` = it does not mature.',
      resolve: (collateral, _args, ctx) => maturityDaysLeftIn(collateral.maturity, ctx),
    }),
    underlying: t.expose('underlying', {
      type: UnderlyingRef,
      nullable: true,
      description: 'What it redeems to; `null` for tokens that are no principal tokens.',
    }),
  }),
});

export const LoanRef = builder.objectRef<StrategyLoan>('StrategyLoan').implement({
  description: 'Facts of a token that is borrowed or deposited.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'Token contract.' }),
    symbol: t.exposeString('symbol', { description: 'Symbol.' }),
    decimals: t.exposeInt('decimals', { description: 'Base units per token as a power of ten.' }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD per token; `null` = not known.',
    }),
    priceSource: t.exposeString('priceSource', {
      nullable: true,
      description: 'Who priced it; `oracle` = oracle price x loan price; `null` = not known.',
    }),
  }),
});

export const AveragesRef = builder.objectRef<TrailingAverages>('TrailingAverages').implement({
  description: 'Trailing means in percent with 2 places. A window is `null` when the history does not cover it.',
  fields: (t) => ({
    avg30d: t.expose('avg30d', {
      type: 'Decimal',
      nullable: true,
      description: 'Over 30 days; `null` = history too short.',
    }),
    avg60d: t.expose('avg60d', {
      type: 'Decimal',
      nullable: true,
      description: 'Over 60 days; `null` = history too short.',
    }),
    avg90d: t.expose('avg90d', {
      type: 'Decimal',
      nullable: true,
      description: 'Over 90 days; `null` = history too short.',
    }),
  }),
});

const RewardRef = builder.objectRef<Incentive['breakdown'][number]>('IncentiveReward').implement({
  description: 'The part of an incentive that one reward token pays.',
  fields: (t) => ({
    symbol: t.exposeString('symbol', { description: 'Symbol of the reward token.' }),
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      description: 'Percent per year with 2 places, not compounded.',
    }),
  }),
});

export const IncentiveRef = builder.objectRef<Incentive>('Incentive').implement({
  description: 'Running incentives on one side of a market.',
  fields: (t) => ({
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      description: 'Sum, percent per year with 2 places, not compounded.',
    }),
    breakdown: t.expose('breakdown', {
      type: [RewardRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'By reward token.',
    }),
    campaignUrl: t.exposeString('campaignUrl', {
      nullable: true,
      description: 'Page of the campaign; `null` when it has none.',
    }),
    endsAt: t.field({
      type: 'DateTime',
      description: 'When the first of the running campaigns ends.',
      resolve: ({ endsAtMs }) => endsAtMs,
    }),
  }),
});

export const PointsRef = builder.objectRef<NonNullable<Strategy['pointsIncentive']>>('PointsIncentive').implement({
  description:
    'Off-chain points program on the collateral; not a yield. Effective = perDayPerCollateralToken x leverage x tokens.',
  fields: (t) => ({
    program: t.exposeString('program', { description: 'Name of the program.' }),
    perDayPerCollateralToken: t.expose('perDayPerCollateralToken', {
      type: 'Decimal',
      description: 'Points per day and collateral token, on the leveraged balance.',
    }),
  }),
});

export const LadderEntryRef = builder.objectRef<LadderEntry>('LadderEntry').implement({
  description: 'One step of the leverage ladder.',
  fields: (t) => ({
    leverage: t.expose('leverage', { type: 'Decimal', description: 'Leverage with 1 place.' }),
    ltvPct: t.expose('ltvPct', { type: 'Decimal', description: 'Loan-to-value in percent with 1 place.' }),
    leverageApyPct: t.expose('leverageApyPct', {
      type: 'Decimal',
      description:
        'Percent per year on the own money, signed, 2 places: collateral APY x L - net borrow APY x (L - 1), incentives (APRs) included as they are.',
    }),
  }),
});

export const LtvRef = builder.objectRef<Strategy['ltvPct']>('StrategyLtv').implement({
  description: 'Loan-to-value limits of a strategy in percent with 2 places.',
  fields: (t) => ({
    liquidation: t.expose('liquidation', { type: 'Decimal', description: 'A position above it can be liquidated.' }),
    max: t.expose('max', { type: 'Decimal', description: 'Highest LTV that the contracts accept.' }),
    safe: t.expose('safe', { type: 'Decimal', description: 'Highest LTV that builders accept, and the default.' }),
  }),
});

export const ExitLiquidityRef = builder.objectRef<ExitLiquidity>('ExitLiquidity').implement({
  description: 'What selling the collateral would cost. Everything but `measured` is `null` when it was not measured.',
  fields: (t) => ({
    measured: t.exposeBoolean('measured', { description: 'Whether it was measured.' }),
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was measured.',
      resolve: (exit) => (exit.measured ? exit.asOfMs : null),
    }),
    method: t.string({
      nullable: true,
      description: 'How it was measured.',
      resolve: (exit) => (exit.measured ? exit.method : null),
    }),
    direction: t.string({
      nullable: true,
      description: 'What is sold for what.',
      resolve: (exit) => (exit.measured ? exit.direction : null),
    }),
    slippagePct: t.field({
      type: [ExitSlippageRef],
      nullable: true,
      complexity: { field: 1, multiplier: 4 },
      description: 'Percent lost by size of the sale, smallest first.',
      resolve: (exit) => (exit.measured ? exitSlippages(exit.slippagePct) : null),
    }),
  }),
});

export const ExitTierRef = builder.enumType('ExitLiquidityTierValue', {
  description: 'How large a position can leave cleanly. Spelled as in the v1 contract.',
  values: {
    deep: { value: 'deep', description: '5,000,000 USD leave below the clean limit.' },
    good: { value: 'good', description: '1,000,000 USD do.' },
    limited: { value: 'limited', description: '500,000 USD do.' },
    thin: { value: 'thin', description: 'Only 100,000 USD do, or less, or there is no route.' },
  } as const,
});

type TierHint = NonNullable<SpiralHints['exitLiquidityTier']>;

const TierThresholdsRef = builder.objectRef<TierHint['thresholds']>('ExitTierThresholds').implement({
  description: 'The limits that the verdict used.',
  fields: (t) => ({
    listingMaxPct: t.expose('listingMaxPct', {
      type: 'Decimal',
      description: 'Percent lost at 100,000 USD above which the tier is thin.',
    }),
    depthCleanMaxPct: t.expose('depthCleanMaxPct', {
      type: 'Decimal',
      description: 'Percent lost up to which an exit is clean.',
    }),
  }),
});

const TierHintRef = builder.objectRef<TierHint>('ExitLiquidityTier').implement({
  description: 'Verdict on the exit liquidity.',
  fields: (t) => ({
    value: t.expose('value', { type: ExitTierRef, description: 'The verdict.' }),
    thresholds: t.expose('thresholds', { type: TierThresholdsRef, description: 'The limits that it used.' }),
  }),
});

const ProfileHintRef = builder.objectRef<NonNullable<SpiralHints['profile']>>('StrategyProfile').implement({
  description: 'How to read a strategy that is no carry trade.',
  fields: (t) => ({
    value: t.exposeString('value', { description: '`leveraged_perp`: leverage is a bet on the price.' }),
    leverageApyMeaning: t.exposeString('leverageApyMeaning', { description: 'What the leveraged APY means here.' }),
  }),
});

export const HintsRef = builder.objectRef<SpiralHints>('SpiralHints').implement({
  description: 'The only opinions in the answer, with their own thresholds.',
  fields: (t) => ({
    exitLiquidityTier: t.expose('exitLiquidityTier', {
      type: TierHintRef,
      nullable: true,
      description: 'Verdict on the exit liquidity; `null` = it was not measured.',
    }),
    profile: t.expose('profile', {
      type: ProfileHintRef,
      nullable: true,
      description: 'Only on uncorrelated markets.',
    }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      nullable: true,
      complexity: { field: 1, multiplier: 3 },
      description: 'What to know of values that are shown; `null` = nothing.',
    }),
  }),
});

export const StrategyFreshnessRef = builder.objectRef<Strategy['freshness']>('StrategyFreshness').implement({
  description: 'Age of the values of a strategy, by group.',
  fields: (t) => ({
    borrow: t.expose('borrow', {
      type: FreshnessRef,
      description: 'Borrow rate, supply, liquidity and what is made from them.',
    }),
    collateralApy: t.expose('collateralApy', { type: FreshnessRef, description: 'The APY of the collateral.' }),
    exitLiquidity: t.expose('exitLiquidity', {
      type: FreshnessRef,
      description: 'The exit quotes; `asOf` is 1970-01-01 while nothing has measured them.',
    }),
    oracle: t.expose('oracle', { type: FreshnessRef, description: 'The oracle value.' }),
  }),
});

export const InputFreshnessRef = builder.objectRef<Strategy['inputFreshness']>('StrategyInputFreshness').implement({
  description: 'Age of inputs that have no group of their own in `freshness`.',
  fields: (t) => ({
    prices: t.expose('prices', {
      type: FreshnessRef,
      nullable: true,
      description: 'The older of the prices of collateral and loan; `null` = neither is known.',
    }),
    incentives: t.expose('incentives', {
      type: FreshnessRef,
      nullable: true,
      description: 'The incentives; `null` = never measured.',
    }),
  }),
});

export const LinksRef = builder.objectRef<NonNullable<Strategy['links']>>('StrategyLinks').implement({
  description: 'Where to read on.',
  fields: (t) => ({
    app: t.exposeString('app', { nullable: true, description: 'The strategy in the app.' }),
    market: t.exposeString('market', { nullable: true, description: 'The lending market.' }),
    yieldSource: t.exposeString('yieldSource', { nullable: true, description: 'Where the yield comes from.' }),
  }),
});

export const EquityTermsRef = builder.objectRef<EquityTerms & { readonly chainId: number }>('EquityTerms').implement({
  description:
    'What only an equity vault has: a stock leg posted as collateral, and a loop on what is borrowed against it.',
  fields: (t) => ({
    stockMarketId: t.expose('stockMarketId', { type: 'MarketId', description: 'The market of the stock leg.' }),
    yieldStrategyId: t.expose('yieldStrategyId', { type: 'StrategyId', description: 'The strategy of the yield leg.' }),
    yieldStrategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'The strategy of the yield leg; `null` while it cannot be composed.',
      resolve: (terms, _args, ctx) => yieldStrategyOf(terms, ctx),
    }),
    depositToken: t.expose('depositToken', { type: LoanRef, description: 'What is deposited.' }),
    targetLtvPct: t.expose('targetLtvPct', { type: 'Decimal', description: 'Default LTV of the stock leg, percent.' }),
    maxStockLtvPct: t.expose('maxStockLtvPct', {
      type: 'Decimal',
      description: 'Highest LTV of the stock leg: 88 % of the liquidation LTV, percent with 2 places.',
    }),
    yieldLegApyPct: t.expose('yieldLegApyPct', {
      type: 'Decimal',
      description: 'Leveraged APY of the yield leg at its safe LTV, percent with 2 places.',
    }),
  }),
});
