import type { Fact, LendingState, SharedLiquidity } from '../../domain/facts.ts';
import type { MarketHistory } from '../../domain/market/types.ts';
import type { LtvLimitsView, OracleReading } from '../../resolvers/market/market-facts.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';
import { FreshnessRef, ReadAtRef, type StampView } from '../common/stamp.ts';

export const LendingStateRef = builder.objectRef<Fact<LendingState>>('LendingState').implement({
  description: 'State of a market as stored on chain at one block: interest since `lastAccrualAt` is not in it.',
  fields: (t) => ({
    totalSupplyAssets: t.field({
      type: 'BigInteger',
      description: 'Supplied, loan base units.',
      resolve: ({ value }) => value.totalSupplyAssets,
    }),
    totalSupplyShares: t.field({
      type: 'BigInteger',
      description: 'Supply shares.',
      resolve: ({ value }) => value.totalSupplyShares,
    }),
    totalBorrowAssets: t.field({
      type: 'BigInteger',
      description: 'Owed, loan base units.',
      resolve: ({ value }) => value.totalBorrowAssets,
    }),
    totalBorrowShares: t.field({
      type: 'BigInteger',
      description: 'Borrow shares.',
      resolve: ({ value }) => value.totalBorrowShares,
    }),
    lastAccrualAt: t.field({
      type: 'DateTime',
      description: 'Time of the last accrual of interest on chain.',
      resolve: ({ value }) => Number(value.lastUpdate) * 1000,
    }),
    feeWad: t.field({
      type: 'BigInteger',
      description: 'Protocol fee on interest in WAD.',
      resolve: ({ value }) => value.fee,
    }),
    rateAtTargetWad: t.field({
      type: 'BigInteger',
      description: 'Rate at target utilization of the interest-rate model, per second in WAD.',
      resolve: ({ value }) => value.rateAtTarget,
    }),
    borrowRateWad: t.field({
      type: 'BigInteger',
      description:
        '`borrowRateView` of the interest-rate model at the block, per second in WAD: the mean since the last accrual, with which debt accrues. The rate paid now is `borrowApyPct` of the market.',
      resolve: ({ value }) => value.borrowRate,
    }),
    readAt: t.field({
      type: ReadAtRef,
      description: 'Block of the reading.',
      resolve: ({ value, asOfMs }) => ({ blockNumber: value.blockNumber, blockTimeMs: asOfMs }),
    }),
    source: t.exposeString('source', { description: 'Public name of the source.' }),
  }),
});

const OracleTypeRef = builder.enumType('OracleType', {
  description: 'Price that an oracle follows.',
  values: {
    NAV: { value: 'nav', description: 'Redemption rate of the collateral.' },
    MARKET: { value: 'market', description: 'Traded price of the collateral.' },
  } as const,
});

export const OracleRef = builder.objectRef<OracleReading>('Oracle').implement({
  description: 'The price oracle of a market and the latest reading of it.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'Oracle contract.' }),
    type: t.expose('type', {
      type: OracleTypeRef,
      nullable: true,
      description:
        'Price that the oracle follows, by the vaults and feeds that its contract names and by what the feeds say of themselves; `null` = they do not say, or both are in the price.',
    }),
    priceE36: t.expose('price', {
      type: 'BigInteger',
      description: 'Loan base units per collateral base unit, scaled by 1e36, as the contract answers.',
    }),
    readAt: t.expose('readAt', { type: ReadAtRef, description: 'Block of the reading.' }),
  }),
});

export const MeasuredApyRef = builder
  .objectRef<{ apyPct: Decimal; source: string; stamp: StampView }>('MeasuredApy')
  .implement({
    description: 'A yield from its source.',
    fields: (t) => ({
      apyPct: t.expose('apyPct', { type: 'Decimal', description: 'Percent per year at full precision. Signed.' }),
      source: t.exposeString('source', { description: 'Public name of the source.' }),
      freshness: t.expose('stamp', { type: FreshnessRef, description: 'Age of the measurement.' }),
    }),
  });

interface MeansView {
  readonly avg30d?: Decimal | string | undefined;
  readonly avg60d?: Decimal | string | undefined;
  readonly avg90d?: Decimal | string | undefined;
}

export const RateMeansRef = builder.objectRef<MeansView>('RateMeans').implement({
  description:
    'Trailing means of a rate, percent per year. A window that the history does not cover is `null`, with an entry in `gaps` of the object around.',
  fields: (t) => ({
    avg30dPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Mean over 30 days. Percent. Signed.',
      resolve: ({ avg30d }) => avg30d ?? null,
    }),
    avg60dPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Mean over 60 days. Percent. Signed.',
      resolve: ({ avg60d }) => avg60d ?? null,
    }),
    avg90dPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Mean over 90 days. Percent. Signed.',
      resolve: ({ avg90d }) => avg90d ?? null,
    }),
  }),
});

export const MarketMeansRef = builder.objectRef<MarketHistory>('MarketMeans').implement({
  description: 'Trailing means of the rates of a market at full precision.',
  fields: (t) => ({
    collateralApy: t.expose('collateralApyPct', {
      type: RateMeansRef,
      description: 'Means of the APY of the collateral, without incentives.',
    }),
    effectiveCollateralApy: t.field({
      type: RateMeansRef,
      nullable: true,
      description: 'Means of the APY of the collateral with the incentives then active; `null` = no borrow history.',
      resolve: ({ carry }) => carry?.collateralApyPct ?? null,
    }),
    netBorrowApy: t.field({
      type: RateMeansRef,
      nullable: true,
      description: 'Means of the borrow APY less the incentives then active; `null` = no borrow history.',
      resolve: ({ carry }) => carry?.netBorrowApyPct ?? null,
    }),
    leverageApy: t.field({
      type: RateMeansRef,
      nullable: true,
      description: 'Means of the leveraged APY at the safe LTV of today; `null` = no borrow history.',
      resolve: ({ carry }) => carry?.leverageApyPct ?? null,
    }),
  }),
});

export const LtvLimitsRef = builder.objectRef<LtvLimitsView>('LtvLimits').implement({
  description: 'Loan-to-value limits. Percent.',
  fields: (t) => ({
    liquidationPct: t.expose('liquidation', {
      type: 'Decimal',
      description: 'LTV above which a position can be liquidated. Percent.',
    }),
    maxPct: t.expose('max', { type: 'Decimal', description: 'Highest LTV that the contracts accept. Percent.' }),
    safePct: t.expose('safe', {
      type: 'Decimal',
      description: 'Highest LTV that builders accept, and the default. Percent.',
    }),
  }),
});

export const SharedSourceRef = builder
  .objectRef<SharedLiquidity['sources'][number]>('SharedLiquiditySource')
  .implement({
    description: 'Liquidity that the public allocator could move here from one other market of one vault.',
    fields: (t) => ({
      vaultAddress: t.expose('vault', { type: 'Address', description: 'Vault whose liquidity would move.' }),
      vaultName: t.exposeString('vaultName', {
        nullable: true,
        description: 'Name of the vault; `null` = its source has none.',
      }),
      withdrawMarketId: t.expose('withdrawMarketId', {
        type: 'MarketId',
        description: 'Id of the market that the liquidity would leave.',
      }),
      assets: t.expose('assets', { type: 'BigInteger', description: 'Movable liquidity, loan base units.' }),
      feeWei: t.expose('feeWei', { type: 'BigInteger', description: 'Fee of the vault in wei of the native token.' }),
    }),
  });
