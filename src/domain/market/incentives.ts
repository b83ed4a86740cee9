import { ZERO } from '../../shared/decimal.ts';
import type { MarketId } from '../../shared/ids.ts';
import { campaignKey } from '../apy/continue-campaigns.ts';
import {
  CAMPAIGN_SIDES,
  type CampaignRecord,
  type CampaignSide,
  type ChainFacts,
  type IncentiveHistory,
  type MarketIncentives,
  type RestrictedCampaign,
} from '../facts.ts';
import { gapOfGroup } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { RunningIncentive } from './types.ts';

/**
 * Sum the campaigns of a side that run at `nowMs` (start included, end excluded), that everybody can earn, and that have an APR
 * above zero. `null` = none runs; `undefined` when the campaigns were never measured, or none of the side could be read.
 */
export function runningIncentive(
  measured: MarketIncentives | undefined,
  side: CampaignSide,
  nowMs: number,
): RunningIncentive | null | undefined {
  if (!measured) return undefined;
  const isRunning = (campaign: { readonly startsAtMs: number; readonly endsAtMs: number }) =>
    campaign.startsAtMs <= nowMs && nowMs < campaign.endsAtMs;
  const campaigns = measured[side]
    .filter((campaign) => isRunning(campaign) && campaign.aprPct.gt(ZERO))
    .sort((a, b) => b.aprPct.comparedTo(a.aprPct) ?? 0);
  const restricted = (measured.restricted ?? NONE).filter((campaign) => campaign.side === side && isRunning(campaign));
  const isLowerBound = measured.unread?.some((campaign) => campaign.side === side) ?? false;
  if (campaigns.length + restricted.length === 0) return isLowerBound ? undefined : null;
  return { aprPct: campaigns.reduce((sum, { aprPct }) => sum.plus(aprPct), ZERO), campaigns, restricted, isLowerBound };
}

const NONE: readonly RestrictedCampaign[] = [];
const NO_CAMPAIGNS: IncentiveHistory = { campaigns: [] };

/**
 * Return the recorded campaigns of a market, and the observations of running campaigns without a record. `undefined` when
 * neither is known, or when the records could not be read.
 */
export function recordedIncentives({ groups }: ChainFacts, marketId: MarketId): IncentiveHistory | undefined {
  const recorded = groups.incentiveHistory.items.get(marketId)?.value;
  const live = groups.incentives.items.get(marketId);
  if (!live) return recorded;
  // A failed read of the records is not the same as an empty record.
  if (!recorded && groups.incentiveHistory.failures.has(marketId)) return undefined;
  const { campaigns } = recorded ?? NO_CAMPAIGNS;
  const keys = new Set(campaigns.map(campaignKey));
  const unrecorded = CAMPAIGN_SIDES.flatMap((side) => live.value[side].map((campaign) => ({ ...campaign, side })))
    .filter((campaign) => !keys.has(campaignKey(campaign)))
    .map(({ id, side, symbol, startsAtMs, endsAtMs, aprPct }): CampaignRecord => {
      const steps = [{ atMs: live.asOfMs, ratePct: aprPct }];
      return { id, side, symbol, startsAtMs, endsAtMs, steps };
    });
  return unrecorded.length === 0 ? (recorded ?? NO_CAMPAIGNS) : { campaigns: [...campaigns, ...unrecorded] };
}

/** Explain why the incentive history of a market is not known. */
export function incentivesGap(field: string, { groups }: ChainFacts, marketId: MarketId): Gap {
  return gapOfGroup(
    field,
    groups.incentives.items.has(marketId) ? groups.incentiveHistory : groups.incentives,
    marketId,
  );
}
