import type { RateHistory } from '../../shared/rate-history.ts';
import type { CampaignRecord, CampaignSide, IncentiveCampaign } from '../facts.ts';

/** A campaign in a provider's list, with its side. */
export interface ListedCampaign
  extends Pick<IncentiveCampaign, 'id' | 'symbol' | 'startsAtMs' | 'endsAtMs' | 'aprPct'> {
  readonly side: CampaignSide;
}

/**
 * Merge recorded steps into the known ones. Between the first and the last recorded step the record replaces the known steps;
 * outside of this span the known steps stay.
 */
export function continueSteps(fresh: RateHistory | undefined, known: RateHistory | undefined): RateHistory | undefined {
  if (fresh === undefined || known === undefined) return fresh ?? known;
  const [first, last] = [fresh[0], fresh.at(-1)];
  if (!first || !last) return known;
  const before = known.filter(({ atMs }) => atMs < first.atMs);
  const after = known.filter(({ atMs }) => atMs > last.atMs);
  return [...before, ...fresh, ...after];
}

/** Add an observation of a running campaign: a new step if its APR differs from the last known one. */
export function observedSteps(known: RateHistory | undefined, { aprPct }: ListedCampaign, atMs: number): RateHistory {
  const points = known === undefined ? [] : known;
  const last = points.at(-1);
  if (last && (last.atMs >= atMs || last.ratePct.eq(aprPct))) return known as RateHistory;
  return [...points, { atMs, ratePct: aprPct }];
}

/** Key of a campaign within its market. The same id may occur on both sides. */
export function campaignKey({ side, id }: Pick<CampaignRecord, 'side' | 'id'>): string {
  return `${side}:${id}`;
}

/**
 * End a campaign that should be running but is no longer listed: it was cancelled at `seenAtMs` at the latest. A campaign past
 * its own end date stays as it is.
 */
export function endUnlisted(known: CampaignRecord, isListed: boolean, observedAtMs: number): CampaignRecord {
  return isListed || known.endsAtMs <= observedAtMs
    ? known
    : { ...known, endsAtMs: Math.max(known.startsAtMs, observedAtMs) };
}

/**
 * Merge two readings of a market's campaigns. A campaign that is in both keeps the first one's values; its steps are continued
 * by the second one's.
 */
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
