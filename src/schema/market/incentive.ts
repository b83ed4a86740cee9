import type { IncentiveCampaign, RestrictedCampaign, Restriction } from '../../domain/facts.ts';
import type { RunningIncentive } from '../../domain/market/types.ts';
import { firstEndMs } from '../../domain/strategy/parts.ts';
import { MAX_CAMPAIGNS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';

const CampaignRef = builder.objectRef<IncentiveCampaign>('IncentiveCampaign').implement({
  description: 'One running incentive campaign.',
  fields: (t) => ({
    campaignId: t.exposeString('id', { description: 'Id of the campaign at the incentive provider.' }),
    rewardSymbol: t.exposeString('symbol', { description: 'Symbol of the reward token.' }),
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      description: 'Percent per year at full precision, not compounded.',
    }),
    startsAt: t.field({
      type: 'DateTime',
      description: 'Begin of the campaign.',
      resolve: ({ startsAtMs }) => startsAtMs,
    }),
    endsAt: t.field({ type: 'DateTime', description: 'End of the campaign.', resolve: ({ endsAtMs }) => endsAtMs }),
    url: t.expose('url', { type: 'URL', nullable: true, description: 'Page of the campaign; `null` = it has none.' }),
  }),
});

const RestrictionRef = builder.enumType('IncentiveRestriction', {
  description: 'Reason for which a campaign is in no APY.',
  values: enumValues<Restriction>({
    whitelist: 'Only wallets on a list of the campaign earn.',
    no_market_price: 'The reward token cannot be sold yet: it has no market price.',
    test: 'A test of the incentive provider.',
  }),
});

const RestrictedRef = builder.objectRef<RestrictedCampaign>('RestrictedIncentive').implement({
  description: 'A running campaign that not everybody can earn, or whose reward cannot be sold. It is in no APY.',
  fields: (t) => ({
    campaignId: t.exposeString('id', { description: 'Id of the campaign at the incentive provider.' }),
    rewardSymbol: t.exposeString('symbol', { description: 'Symbol of the reward token.' }),
    reason: t.expose('reason', { type: RestrictionRef, description: 'Reason for which it is in no APY.' }),
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Percent per year by its provider, for those who earn it, not compounded; `null` = not given.',
    }),
    endsAt: t.field({ type: 'DateTime', description: 'End of the campaign.', resolve: ({ endsAtMs }) => endsAtMs }),
    url: t.expose('url', { type: 'URL', nullable: true, description: 'Page of the campaign; `null` = it has none.' }),
  }),
});

export const IncentiveRef = builder.objectRef<RunningIncentive>('Incentive').implement({
  description: 'Incentives that run on one side of a market.',
  fields: (t) => ({
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      description: 'Sum of the campaigns that count, percent per year at full precision, not compounded.',
    }),
    endsAt: t.field({
      type: 'DateTime',
      description: 'End of the counted campaign that ends first; if there is none, of the first in `restricted`.',
      resolve: firstEndMs,
    }),
    isLowerBound: t.exposeBoolean('isLowerBound', {
      description: 'Whether a running campaign could not be read, so that `aprPct` is at least this.',
    }),
    restricted: t.expose('restricted', {
      type: [RestrictedRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Running campaigns that are in no APY, with the reason; at most ${MAX_CAMPAIGNS}.`,
    }),
    campaigns: t.expose('campaigns', {
      type: [CampaignRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Running campaigns with an APR above zero, the largest first; at most ${MAX_CAMPAIGNS}.`,
    }),
  }),
});
