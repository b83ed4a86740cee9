import type { WindowMeans } from '../../domain/apy/series.ts';
import {
  EXIT_SIZES_USD,
  type ExitSizeUsd,
  type Fact,
  type IncentiveCampaign,
  type LendingState,
  type SharedLiquidity,
  type UsdPrice,
} from '../../domain/facts.ts';
import type { MarketHistory, RunningIncentive } from '../../domain/market/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';

export const LendingStateRef = builder.objectRef<Fact<LendingState>>('LendingState').implement({
  description: 'State of the market on chain at one block, as stored there: interest since `lastUpdate` is not in it.',
  fields: (t) => ({
    totalSupplyAssets: t.field({
      type: 'BigInteger',
      description: 'Loan base units.',
      resolve: ({ value }) => value.totalSupplyAssets,
    }),
    totalSupplyShares: t.field({
      type: 'BigInteger',
      description: 'Supply shares.',
      resolve: ({ value }) => value.totalSupplyShares,
    }),
    totalBorrowAssets: t.field({
      type: 'BigInteger',
      description: 'Loan base units.',
      resolve: ({ value }) => value.totalBorrowAssets,
    }),
    totalBorrowShares: t.field({
      type: 'BigInteger',
      description: 'Borrow shares.',
      resolve: ({ value }) => value.totalBorrowShares,
    }),
    lastUpdate: t.field({
      type: 'DateTime',
      description: 'Time of the last accrual on chain.',
      resolve: ({ value }) => Number(value.lastUpdate) * 1000,
    }),
    fee: t.field({
      type: 'BigInteger',
      description: 'Protocol fee on interest in WAD.',
      resolve: ({ value }) => value.fee,
    }),
    rateAtTarget: t.field({
      type: 'BigInteger',
      description: 'Rate at target utilization of the interest-rate model, per second in WAD.',
      resolve: ({ value }) => value.rateAtTarget,
    }),
    borrowRate: t.field({
      type: 'BigInteger',
      description:
        '`borrowRateView` of the interest-rate model at this block, per second in WAD: its mean since the last accrual, with which debt accrues. The rate paid now is `borrowApyPct`.',
      resolve: ({ value }) => value.borrowRate,
    }),
    blockNumber: t.field({
      type: 'BigInteger',
      description: 'Block of the reading.',
      resolve: ({ value }) => value.blockNumber,
    }),
    asOf: t.field({ type: 'DateTime', description: 'Time of that block.', resolve: ({ asOfMs }) => asOfMs }),
    source: t.exposeString('source', { description: 'Public name of the source.' }),
  }),
});

export interface OracleReading {
  readonly address: string;
  readonly type: 'nav' | 'market' | undefined;
  readonly price: bigint;
  readonly blockNumber: bigint;
  readonly asOfMs: number;
}

export const OracleTypeRef = builder.enumType('OracleType', {
  description: 'What an oracle follows. Spelled as in the v1 contract.',
  values: {
    nav: { value: 'nav', description: 'The redemption rate.' },
    market: { value: 'market', description: 'The traded price.' },
  } as const,
});

export const OracleReadingRef = builder.objectRef<OracleReading>('OracleReading').implement({
  description: 'The price oracle of a market and its latest value.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'The oracle contract.' }),
    type: t.expose('type', {
      type: OracleTypeRef,
      nullable: true,
      description: 'What it follows; `null` = the curators have not established it.',
    }),
    price: t.expose('price', {
      type: 'BigInteger',
      description: 'Loan base units per collateral base unit, scaled by 1e36.',
    }),
    blockNumber: t.expose('blockNumber', { type: 'BigInteger', description: 'Block of the reading.' }),
    asOf: t.field({ type: 'DateTime', description: 'Time of the reading.', resolve: ({ asOfMs }) => asOfMs }),
  }),
});

export const MeasuredApyRef = builder
  .objectRef<{ apyPct: Decimal; asOfMs: number; source: string }>('MeasuredApy')
  .implement({
    description: 'A yield as its source gave it.',
    fields: (t) => ({
      apyPct: t.expose('apyPct', {
        type: 'Decimal',
        description: 'Percent per year, not compounded, at full precision.',
      }),
      asOf: t.field({ type: 'DateTime', description: 'When it was measured.', resolve: ({ asOfMs }) => asOfMs }),
      source: t.exposeString('source', { description: 'Public name of the source.' }),
    }),
  });

interface MeasuredPrice {
  readonly usd: Decimal;
  readonly asOfMs: number;
  readonly source: string;
}

/** A price fact as it is shown; `null` when there is none. */
export function measuredPrice(fact: Fact<UsdPrice> | undefined): MeasuredPrice | null {
  return fact ? { usd: fact.value.usd, asOfMs: fact.asOfMs, source: fact.source } : null;
}

export const MeasuredPriceRef = builder.objectRef<MeasuredPrice>('MeasuredPrice').implement({
  description: 'A price as the composition used it.',
  fields: (t) => ({
    usd: t.expose('usd', { type: 'Decimal', description: 'USD per whole token at full precision.' }),
    asOf: t.field({ type: 'DateTime', description: 'When it was measured.', resolve: ({ asOfMs }) => asOfMs }),
    source: t.exposeString('source', { description: 'Public name of the source.' }),
  }),
});

const WindowMeansRef = builder.objectRef<WindowMeans>('WindowMeans').implement({
  description: 'Trailing means in percent at full precision; a window is `null` when the history does not cover it.',
  fields: (t) => ({
    avg30d: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Over 30 days.',
      resolve: (means) => means.avg30d ?? null,
    }),
    avg60d: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Over 60 days.',
      resolve: (means) => means.avg60d ?? null,
    }),
    avg90d: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Over 90 days.',
      resolve: (means) => means.avg90d ?? null,
    }),
  }),
});

export const MarketHistoryRef = builder.objectRef<MarketHistory>('MarketTrailing').implement({
  description: 'Trailing means of a market, percent at full precision.',
  fields: (t) => ({
    collateralApyPct: t.expose('collateralApyPct', {
      type: WindowMeansRef,
      description: 'Of the APY of the collateral, without incentives, percent.',
    }),
    effectiveCollateralApyPct: t.field({
      type: WindowMeansRef,
      nullable: true,
      description: 'The same with the incentives then active, percent; `null` without a borrow history.',
      resolve: ({ carry }) => carry?.collateralApyPct ?? null,
    }),
    netBorrowApyPct: t.field({
      type: WindowMeansRef,
      nullable: true,
      description: 'Of the borrow APY less the incentives then active, percent; `null` without a borrow history.',
      resolve: ({ carry }) => carry?.netBorrowApyPct ?? null,
    }),
    leverageApyPct: t.field({
      type: WindowMeansRef,
      nullable: true,
      description: 'Both, levered at the safe LTV, percent; `null` without a borrow history.',
      resolve: ({ carry }) => carry?.leverageApyPct ?? null,
    }),
    quarterlyBorrowApyPct: t.expose('quarterlyBorrowApyPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Mean borrow APY of 90 days, percent; `null` when the history does not cover them.',
    }),
  }),
});

const CampaignRef = builder.objectRef<IncentiveCampaign>('IncentiveCampaign').implement({
  description: 'One running incentive campaign.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Id at the incentive provider.' }),
    symbol: t.exposeString('symbol', { description: 'Symbol of the reward token.' }),
    aprPct: t.expose('aprPct', { type: 'Decimal', description: 'Percent per year at full precision.' }),
    startsAt: t.field({ type: 'DateTime', description: 'Begin.', resolve: (campaign) => campaign.startsAtMs }),
    endsAt: t.field({ type: 'DateTime', description: 'End.', resolve: (campaign) => campaign.endsAtMs }),
    url: t.exposeString('url', { nullable: true, description: 'Page of the campaign; `null` when it has none.' }),
  }),
});

export const RunningIncentiveRef = builder.objectRef<RunningIncentive>('RunningIncentive').implement({
  description: 'The running campaigns of one side of a market, at full precision.',
  fields: (t) => ({
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      description: 'Sum of the campaigns, percent per year, not compounded.',
    }),
    campaigns: t.expose('campaigns', {
      type: [CampaignRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'The campaigns.',
    }),
  }),
});

export interface ExitSlippage {
  readonly sizeUsd: ExitSizeUsd;
  readonly slippagePct: Decimal | string | null;
}

/** One row per probed size, smallest first. */
export function exitSlippages(bySize: Readonly<Record<ExitSizeUsd, Decimal | string | null>>): ExitSlippage[] {
  return EXIT_SIZES_USD.map((sizeUsd) => ({ sizeUsd, slippagePct: bySize[sizeUsd] }));
}

export const ExitSlippageRef = builder.objectRef<ExitSlippage>('ExitSlippage').implement({
  description: 'What is lost when collateral of one size is sold for the stablecoin of the chain.',
  fields: (t) => ({
    sizeUsd: t.exposeString('sizeUsd', { description: 'Size of the sale in whole USD, e.g. `"100000"`.' }),
    slippagePct: t.expose('slippagePct', {
      type: 'Decimal',
      nullable: true,
      description: 'Percent lost; `null` = measured, there is no route at this size.',
    }),
  }),
});

export const SharedSourceRef = builder
  .objectRef<SharedLiquidity['sources'][number]>('SharedLiquiditySource')
  .implement({
    description: 'Liquidity that the public allocator could move here from one other market of one vault.',
    fields: (t) => ({
      vault: t.expose('vault', { type: 'Address', description: 'The vault whose liquidity would move.' }),
      vaultName: t.exposeString('vaultName', {
        nullable: true,
        description: 'Name of the vault; `null` when not told.',
      }),
      withdrawMarketId: t.expose('withdrawMarketId', { type: 'MarketId', description: 'The market it would leave.' }),
      assets: t.expose('assets', { type: 'BigInteger', description: 'Loan base units.' }),
      feeWei: t.expose('feeWei', { type: 'BigInteger', description: 'Fee of the vault in wei of the native token.' }),
    }),
  });
