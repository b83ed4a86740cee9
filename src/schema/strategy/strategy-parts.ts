import type { LadderEntry, SpiralHints, Strategy } from '../../domain/strategy/types.ts';
import { builder } from '../builder.ts';
import { ExitTierRef } from '../market/exit-liquidity.ts';

export const PointsRef = builder.objectRef<NonNullable<Strategy['pointsIncentive']>>('PointsIncentive').implement({
  description:
    'Off-chain points program on the collateral; not a yield. A position earns `perDayPerCollateralToken` x leverage x tokens a day.',
  fields: (t) => ({
    program: t.exposeString('program', { description: 'Name of the program.' }),
    perDayPerCollateralToken: t.expose('perDayPerCollateralToken', {
      type: 'Decimal',
      description: 'Points per day and collateral token, on the leveraged balance.',
    }),
    sourceUrl: t.expose('sourceUrl', { type: 'URL', description: 'Page that describes the program.' }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'Day on which the curators have read that page.',
      resolve: ({ checkedAtMs }) => checkedAtMs,
    }),
  }),
});

export const LeverageRungRef = builder.objectRef<LadderEntry>('LeverageRung').implement({
  description: 'One step of a leverage ladder.',
  fields: (t) => ({
    leverage: t.expose('leverage', {
      type: 'Decimal',
      description:
        'Leverage, a multiple of the equity, 1 place. Of a vault the stock and the yield leg together: 1 + LTV of the stock leg.',
    }),
    ltvPct: t.expose('ltvPct', {
      type: 'Decimal',
      description: 'Loan-to-value, of a vault that of its stock leg. Percent with 1 place.',
    }),
    leverageApyPct: t.expose('leverageApyPct', {
      type: 'Decimal',
      description:
        'APY on the own money. Percent, signed, 2 places: `totalCollateralApyPct` x L - `netBorrowApyPct` x (L - 1) with L = `leverage`; of a vault LTV x (`totalCollateralApyPct` - `netBorrowApyPct`). Computed before rounding: the shown rates give it within 0.01 x L.',
    }),
  }),
});

type Tier = NonNullable<SpiralHints['exitLiquidityTier']>;

export const ExitLiquidityTierRef = builder.objectRef<Tier>('ExitLiquidityTier').implement({
  description: 'Verdict on the exit liquidity: an opinion, with the limits that it used.',
  fields: (t) => ({
    tier: t.expose('value', { type: ExitTierRef, description: 'Verdict.' }),
    listingMaxPct: t.field({
      type: 'Decimal',
      description: 'Percent lost at 100,000 USD above which the tier is the thinnest.',
      resolve: ({ thresholds }) => thresholds.listingMaxPct,
    }),
    cleanMaxPct: t.field({
      type: 'Decimal',
      description: 'Percent lost below which an exit is clean.',
      resolve: ({ thresholds }) => thresholds.depthCleanMaxPct,
    }),
  }),
});

const ProfileKindRef = builder.enumType('StrategyProfileKind', {
  description: 'Reason for which a strategy is no carry trade.',
  values: {
    LEVERAGED_PERP: {
      value: 'leveraged_perp',
      description: 'Collateral and loan follow different prices: leverage is a bet on the price.',
    },
  } as const,
});

export const ProfileRef = builder.objectRef<NonNullable<SpiralHints['profile']>>('StrategyProfile').implement({
  description: 'Reading of a strategy that is no carry trade.',
  fields: (t) => ({
    kind: t.expose('value', { type: ProfileKindRef, description: 'Reason for which the strategy is no carry trade.' }),
    leverageApyMeaning: t.exposeString('leverageApyMeaning', {
      description: 'Meaning of the leveraged APY of the strategy, for people.',
    }),
  }),
});

export const LinksRef = builder.objectRef<NonNullable<Strategy['links']>>('StrategyLinks').implement({
  description: 'Pages to read on about a strategy; its `gaps` explain a field that is `null`.',
  fields: (t) => ({
    appUrl: t.expose('app', {
      type: 'URL',
      nullable: true,
      description: 'Page of the strategy in the app.',
    }),
    marketUrl: t.expose('market', {
      type: 'URL',
      nullable: true,
      description: 'Page of the market at the lending protocol.',
    }),
    yieldSourceUrl: t.expose('yieldSource', {
      type: 'URL',
      nullable: true,
      description: 'Page about the yield of the collateral.',
    }),
  }),
});
