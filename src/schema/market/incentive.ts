import type { IncentiveCampaign } from '../../domain/facts.ts';
import type { RunningIncentive } from '../../domain/market/types.ts';
import { MAX_CAMPAIGNS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';

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
    url: t.exposeString('url', { nullable: true, description: 'Page of the campaign; `null` = it has none.' }),
  }),
});

export const IncentiveRef = builder.objectRef<RunningIncentive>('Incentive').implement({
  description: 'Incentives that run on one side of a market.',
  fields: (t) => ({
    aprPct: t.expose('aprPct', {
      type: 'Decimal',
      description: 'Sum of the campaigns, percent per year at full precision, not compounded.',
    }),
    endsAt: t.field({
      type: 'DateTime',
      description: 'End of the running campaign that ends first.',
      resolve: ({ campaigns }) => Math.min(...campaigns.map(({ endsAtMs }) => endsAtMs)),
    }),
    campaigns: t.expose('campaigns', {
      type: [CampaignRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Running campaigns with an APR above zero, the largest first; at most ${MAX_CAMPAIGNS}.`,
    }),
  }),
});
