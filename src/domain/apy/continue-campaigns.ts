import type { RateHistory } from '../../shared/rate-history.ts';
import type { CampaignRecord, CampaignSide, IncentiveCampaign } from '../facts.ts';

/** A campaign as it is listed, on its side. */
export interface ListedCampaign
  extends Pick<IncentiveCampaign, 'id' | 'symbol' | 'startsAtMs' | 'endsAtMs' | 'aprPct'> {
  readonly side: CampaignSide;
}

/**
 * Put what a provider records in the place of what was known of the same time; where it says nothing, before its first step or
 * after its last, nothing is taken away.
 */
export function continueSteps(fresh: RateHistory | undefined, known: RateHistory | undefined): RateHistory | undefined {
  if (fresh === undefined || known === undefined) return fresh ?? known;
  if (fresh.length === 0) return known;
  const told = fresh;
  const firstMs = told[0]?.atMs ?? 0;
  const lastMs = told.at(-1)?.atMs ?? 0;
  const before = known.filter(({ atMs }) => atMs < firstMs);
  const after = known.filter(({ atMs }) => atMs > lastMs);
  return [...before, ...told, ...after];
}

/** Add our own observation of a running campaign: a step where its APR is another than the last one known. */
export function observedSteps(known: RateHistory | undefined, { aprPct }: ListedCampaign, atMs: number): RateHistory {
  const points = known === undefined ? [] : known;
  const last = points.at(-1);
  if (last && (last.atMs >= atMs || last.ratePct.eq(aprPct))) return known as RateHistory;
  return [...points, { atMs, ratePct: aprPct }];
}

/** Tell campaigns of a market apart: one id may stand on both sides. */
export function campaignKey({ side, id }: Pick<CampaignRecord, 'side' | 'id'>): string {
  return `${side}:${id}`;
}

/**
 * End what is known to run and is not listed any more: it was cancelled, at the latest when that was seen. What has ended by
 * its own dates stays as it is.
 */
export function endUnlisted(known: CampaignRecord, isListed: boolean, seenAtMs: number): CampaignRecord {
  return isListed || known.endsAtMs <= seenAtMs ? known : { ...known, endsAtMs: Math.max(known.startsAtMs, seenAtMs) };
}

/** Unite two readings of a market's campaigns; of one that is in both the first counts, continued by the second. */
export function uniteCampaigns(
  preferred: readonly CampaignRecord[],
  other: readonly CampaignRecord[],
): readonly CampaignRecord[] {
  const united = new Map(other.map((record) => [campaignKey(record), record] as const));
  for (const record of preferred) {
    const key = campaignKey(record);
    const steps = continueSteps(record.steps, united.get(key)?.steps) ?? record.steps;
    united.set(key, { ...record, steps });
  }
  return [...united.values()].sort((a, b) => a.startsAtMs - b.startsAtMs || (a.id < b.id ? -1 : 1));
}
