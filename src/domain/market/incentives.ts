import { ZERO } from '../../shared/decimal.ts';
import type { IncentiveCampaign } from '../facts.ts';
import type { RunningIncentive } from './types.ts';

/**
 * Sum the campaigns that run at `nowMs` (start included, end excluded) and pay something. `null` = none does;
 * `undefined` when the campaigns were never measured.
 */
export function runningIncentive(
  campaigns: readonly IncentiveCampaign[] | undefined,
  nowMs: number,
): RunningIncentive | null | undefined {
  if (!campaigns) return undefined;
  if (campaigns.length === 0) return null;
  const running = campaigns
    .filter((campaign) => campaign.startsAtMs <= nowMs && nowMs < campaign.endsAtMs && campaign.aprPct.gt(ZERO))
    .sort((a, b) => b.aprPct.comparedTo(a.aprPct) ?? 0);
  if (running.length === 0) return null;
  return { aprPct: running.reduce((sum, campaign) => sum.plus(campaign.aprPct), ZERO), campaigns: running };
}
